//! The runtime of 32-bit protected mode: as in long mode, with edi, esi and ebx in place of the wide registers.
//!
//! Data segments are those of ring 3 in both rings: ring 0 may load them, and IRET to ring 3 leaves them loaded.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::runtime::Routines;
use crate::arch::code::{Code, code32};
use crate::layout::{self, mailbox};

/// The routines of 32-bit protected mode.
pub(crate) const ROUTINES: Routines = Routines {
    start: START,
    finish: FINISH,
    fault: FAULT,
    enter_user: ENTER_USER,
    user_return: USER_RETURN,
    sysenter_stub: Some(SYSENTER_STUB),
};

const START: Code = code32!(
    [
        "mov esp, {stack}",
        // Interrupts off, direction up, no trap.
        "push 2",
        "popfd",
        "mov ebx, {mailbox}",
        "mov eax, [ebx + {prepare}]",
        "test eax, eax",
        "jz 2f",
        "call eax",
        "mov ebx, {mailbox}",
        "2:",
        "mov edi, [ebx + {iterations}]",
        "mov esi, {arena}",
        "mov ebp, [ebx + {entry}]",
        "lfence",
        "rdtsc",
        "lfence",
        "mov [ebx + {begin}], eax",
        "mov [ebx + {begin} + 4], edx",
        "call ebp",
        "lfence",
        "rdtsc",
        "lfence",
        "mov ebx, {mailbox}",
        "mov [ebx + {end}], eax",
        "mov [ebx + {end} + 4], edx",
        "cli",
        "mov dword ptr [ebx + {status}], {done}",
        "mov eax, {finish}",
        "call eax",
        "mov eax, {start}",
        "jmp eax",
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

const FINISH: Code = code32!(
    [
        "mov ebx, {mailbox}",
        "cmp dword ptr [ebx + {dump}], 0",
        "je 2f",
        "mov esi, ebx",
        "mov ecx, {bytes}",
        "mov edx, {console}",
        "cld",
        "rep outsb",
        "2:",
        "mov eax, [ebx + {status}]",
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

const FAULT: Code = code32!(
    [
        "mov eax, {user_ds}",
        "mov ds, eax",
        "mov es, eax",
        "mov ebx, {mailbox}",
        "cmp dword ptr [esp + 8], {user_return}",
        "je 3f",
        "pop dword ptr [ebx + {vector}]",
        "pop dword ptr [ebx + {error}]",
        "pop dword ptr [ebx + {address}]",
        "pop dword ptr [ebx + {cs}]",
        "pop dword ptr [ebx + {flags}]",
        "mov eax, cr2",
        "mov [ebx + {cr2}], eax",
        "mov dword ptr [ebx + {status}], {faulted}",
        "mov esp, {stack}",
        "mov eax, {finish}",
        "call eax",
        "2:",
        "hlt",
        "jmp 2b",
        // HLT in ring 3: back to who entered it.
        "3:",
        "mov esp, [ebx + {kernel_stack}]",
        "ret",
    ],
    user_return = layout::USER_RETURN,
    kernel_stack = mailbox::KERNEL_STACK,
    user_ds = layout::USER_DS,
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

const ENTER_USER: Code = code32!(
    [
        "mov [ebx + {kernel_stack}], esp",
        "mov eax, {user_stack} - 4",
        "mov dword ptr [eax], {user_return}",
        "push {user_ds}",
        "push eax",
        "push 2",
        "push {user_cs}",
        "push dword ptr [ebx + {target}]",
        "iretd",
    ],
    kernel_stack = mailbox::KERNEL_STACK,
    user_stack = layout::USER_STACK_TOP,
    user_return = layout::USER_RETURN,
    user_ds = layout::USER_DS32,
    user_cs = layout::USER_CS32,
    target = mailbox::TARGET,
);

const USER_RETURN: Code = code32!(["hlt"]);

/// A system call by SYSENTER as Linux's vsyscall page of 2006 made it: SYSENTER saves nothing, so the stub does, and SYSEXIT returns
/// to a fixed address behind it.
const SYSENTER_STUB: Code = code32!([
    "push ecx",
    "push edx",
    "push ebp",
    "mov ebp, esp",
    "sysenter",
    "pop ebp",
    "pop edx",
    "pop ecx",
    "ret",
]);
