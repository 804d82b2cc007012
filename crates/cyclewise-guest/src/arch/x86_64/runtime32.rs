//! The runtime of 32-bit protected mode: as in long mode, with edi, esi and ebx in place of the wide registers.
//!
//! Data segments are those of ring 3 in both rings: ring 0 may load them, and IRET to ring 3 leaves them loaded.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::runtime::{Routines, fault, finish, start};
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

const START: Code = start!(code32, "eax", "ebx", "dword", "popfd", "edi", "ebp");
const FINISH: Code = finish!(code32, "ebx");
const FAULT: Code = fault!(
    code32,
    "mov eax, {user_ds}; mov ds, eax; mov es, eax",
    "eax",
    "ebx",
    "esp",
    "dword",
    "8",
    user_ds = layout::USER_DS
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
