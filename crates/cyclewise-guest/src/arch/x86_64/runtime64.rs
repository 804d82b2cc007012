//! The runtime of long mode: it stamps a batch, reports an exception, enters ring 3 and comes back.
//!
//! A payload is called with rdi the iterations, rsi the arena and rbx the mailbox; it may change any register but rsp. The
//! stamps are LFENCE, RDTSC, LFENCE, as in user mode.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::runtime::Routines;
use crate::arch::code::{Code, code64};
use crate::layout::{self, mailbox};

/// The routines of long mode.
pub(crate) const ROUTINES: Routines = Routines {
    start: START,
    finish: FINISH,
    fault: FAULT,
    enter_user: ENTER_USER,
    user_return: USER_RETURN,
    sysenter_stub: None,
};

/// Runs one batch, over and over: the host changes the mailbox in between.
const START: Code = code64!(
    [
        "mov esp, {stack}",
        // Interrupts off, direction up, no trap.
        "push 2",
        "popfq",
        "mov ebx, {mailbox}",
        "mov rax, [rbx + {prepare}]",
        "test rax, rax",
        "jz 2f",
        "call rax",
        "mov ebx, {mailbox}",
        "2:",
        "mov rdi, [rbx + {iterations}]",
        "mov esi, {arena}",
        "mov r14, [rbx + {entry}]",
        "lfence",
        "rdtsc",
        "lfence",
        "mov [rbx + {begin}], eax",
        "mov [rbx + {begin} + 4], edx",
        "call r14",
        "lfence",
        "rdtsc",
        "lfence",
        "mov ebx, {mailbox}",
        "mov [rbx + {end}], eax",
        "mov [rbx + {end} + 4], edx",
        "cli",
        "mov qword ptr [rbx + {status}], {done}",
        "mov eax, {finish}",
        "call rax",
        "mov eax, {start}",
        "jmp rax",
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
);

/// Writes the mailbox to the debug console if asked, and leaves the guest.
const FINISH: Code = code64!(
    [
        "mov ebx, {mailbox}",
        "cmp dword ptr [rbx + {dump}], 0",
        "je 2f",
        "mov esi, ebx",
        "mov ecx, {bytes}",
        "mov edx, {console}",
        "cld",
        "rep outsb",
        "2:",
        "mov eax, [rbx + {status}]",
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
);

/// Reports an exception: the stub has pushed an error code, where the CPU did not, and the vector. Does not come back, but for the
/// fault by which ring 3 ends.
const FAULT: Code = code64!(
    [
        "mov ebx, {mailbox}",
        "cmp qword ptr [rsp + 16], {user_return}",
        "je 3f",
        "pop qword ptr [rbx + {vector}]",
        "pop qword ptr [rbx + {error}]",
        "pop qword ptr [rbx + {address}]",
        "pop qword ptr [rbx + {cs}]",
        "pop qword ptr [rbx + {flags}]",
        "mov rax, cr2",
        "mov [rbx + {cr2}], rax",
        "mov qword ptr [rbx + {status}], {faulted}",
        "mov esp, {stack}",
        "mov eax, {finish}",
        "call rax",
        "2:",
        "hlt",
        "jmp 2b",
        // HLT in ring 3: back to who entered it.
        "3:",
        "mov rsp, [rbx + {kernel_stack}]",
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
);

/// Enters ring 3 at the target, with interrupts off and the address of the way back on its stack.
const ENTER_USER: Code = code64!(
    [
        "mov [rbx + {kernel_stack}], rsp",
        "mov eax, {user_stack} - 8",
        "mov ecx, {user_return}",
        "mov [rax], rcx",
        "push {user_ds}",
        "push rax",
        "push 2",
        "push {user_cs}",
        "push qword ptr [rbx + {target}]",
        "iretq",
    ],
    kernel_stack = mailbox::KERNEL_STACK,
    user_stack = layout::USER_STACK_TOP,
    user_return = layout::USER_RETURN,
    user_ds = layout::USER_DS,
    user_cs = layout::USER_CS,
    target = mailbox::TARGET,
);

/// What the loop in ring 3 returns to: HLT, which faults there on any CPU and under any emulator.
const USER_RETURN: Code = code64!(["hlt"]);
