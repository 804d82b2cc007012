//! What the runtimes of both modes have: the same routines at the same addresses, of the same instructions but for the width of
//! registers.
//!
//! `$ax`, `$bx` and `$sp` are the registers of the mode's width, `$word` is the size of an operand in memory.

use crate::arch::code::Code;

/// The routines that every image has.
pub(crate) struct Routines {
    pub(crate) start: Code,
    pub(crate) finish: Code,
    pub(crate) fault: Code,
    pub(crate) enter_user: Code,
    /// Where ring 3 ends.
    pub(crate) user_return: Code,
    /// A system call by SYSENTER, where the mode has one.
    pub(crate) sysenter_stub: Option<Code>,
}

/// Runs one batch, over and over: the host changes the mailbox in between. `$popf` pops the flags, and `$entry` is a register that
/// nothing else uses.
macro_rules! start {
    ($code:ident, $ax:literal, $bx:literal, $word:literal, $popf:literal, $iterations:literal, $entry:literal) => {
        $code!(
            [
                "mov esp, {stack}",
                // Interrupts off, direction up, no trap.
                "push 2",
                $popf,
                "mov ebx, {mailbox}",
                concat!("mov ", $ax, ", [", $bx, " + {prepare}]"),
                concat!("test ", $ax, ", ", $ax),
                "jz 2f",
                concat!("call ", $ax),
                "mov ebx, {mailbox}",
                "2:",
                concat!("mov ", $iterations, ", [", $bx, " + {iterations}]"),
                "mov esi, {arena}",
                concat!("mov ", $entry, ", [", $bx, " + {entry}]"),
                "lfence",
                "rdtsc",
                "lfence",
                concat!("mov [", $bx, " + {begin}], eax"),
                concat!("mov [", $bx, " + {begin} + 4], edx"),
                concat!("call ", $entry),
                "lfence",
                "rdtsc",
                "lfence",
                "mov ebx, {mailbox}",
                concat!("mov [", $bx, " + {end}], eax"),
                concat!("mov [", $bx, " + {end} + 4], edx"),
                "cli",
                concat!("mov ", $word, " ptr [", $bx, " + {status}], {done}"),
                "mov eax, {finish}",
                concat!("call ", $ax),
                "mov eax, {start}",
                concat!("jmp ", $ax),
            ],
            stack = layout::STACK_TOP,
            mailbox = layout::MAILBOX,
            arena = layout::ARENA,
            prepare = mailbox::PREPARE,
            iterations = mailbox::ITERATIONS,
            entry = mailbox::ENTRY,
            begin = mailbox::BEGIN,
            end = mailbox::END,
            status = mailbox::STATUS,
            done = mailbox::DONE,
            finish = layout::FINISH,
            start = layout::START,
        )
    };
}
pub(super) use start;

/// Writes the mailbox to the debug console if asked, and leaves the guest.
macro_rules! finish {
    ($code:ident, $bx:literal) => {
        $code!(
            [
                "mov ebx, {mailbox}",
                concat!("cmp dword ptr [", $bx, " + {dump}], 0"),
                "je 2f",
                "mov esi, ebx",
                "mov ecx, {bytes}",
                "mov edx, {console}",
                "cld",
                "rep outsb",
                "2:",
                concat!("mov eax, [", $bx, " + {status}]"),
                "mov edx, {exit}",
                "out dx, al",
                "ret",
            ],
            mailbox = layout::MAILBOX,
            dump = mailbox::DUMP,
            bytes = mailbox::BYTES,
            console = layout::CONSOLE_PORT,
            status = mailbox::STATUS,
            exit = layout::EXIT_PORT,
        )
    };
}
pub(super) use finish;

/// Reports an exception: the stub has pushed an error code, where the CPU did not, and the vector. Does not come back, but for the
/// fault by which ring 3 ends. `$first` comes first, and the exception's address is `$address` bytes up the stack.
macro_rules! fault {
    ($code:ident, $first:literal, $ax:literal, $bx:literal, $sp:literal, $word:literal, $address:literal $(, $name:ident = $value:expr)*) => {
        $code!(
            [
                $first,
                "mov ebx, {mailbox}",
                concat!("cmp ", $word, " ptr [", $sp, " + ", $address, "], {user_return}"),
                "je 3f",
                concat!("pop ", $word, " ptr [", $bx, " + {vector}]"),
                concat!("pop ", $word, " ptr [", $bx, " + {error}]"),
                concat!("pop ", $word, " ptr [", $bx, " + {address}]"),
                concat!("pop ", $word, " ptr [", $bx, " + {cs}]"),
                concat!("pop ", $word, " ptr [", $bx, " + {flags}]"),
                concat!("mov ", $ax, ", cr2"),
                concat!("mov [", $bx, " + {cr2}], ", $ax),
                concat!("mov ", $word, " ptr [", $bx, " + {status}], {faulted}"),
                "mov esp, {stack}",
                "mov eax, {finish}",
                concat!("call ", $ax),
                "2:",
                "hlt",
                "jmp 2b",
                // HLT in ring 3: back to who entered it.
                "3:",
                concat!("mov ", $sp, ", [", $bx, " + {kernel_stack}]"),
                "ret",
            ],
            user_return = layout::USER_RETURN,
            kernel_stack = mailbox::KERNEL_STACK,
            mailbox = layout::MAILBOX,
            vector = mailbox::VECTOR,
            error = mailbox::ERROR,
            address = mailbox::ADDRESS,
            cs = mailbox::CS,
            flags = mailbox::FLAGS,
            cr2 = mailbox::CR2,
            status = mailbox::STATUS,
            faulted = mailbox::FAULTED,
            stack = layout::FAULT_STACK_TOP,
            finish = layout::FINISH,
            $($name = $value,)*
        )
    };
}
pub(super) use fault;
