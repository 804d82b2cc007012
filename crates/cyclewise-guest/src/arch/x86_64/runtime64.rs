//! The runtime of long mode: it stamps a batch, reports an exception, enters ring 3 and comes back.
//!
//! A payload is called with rdi the iterations, rsi the arena and rbx the mailbox; it may change any register but rsp. The
//! stamps are LFENCE, RDTSC, LFENCE, as in user mode.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::runtime::{Routines, fault, finish, start};
use crate::arch::code::{Code, code64};
use crate::layout::{self, mailbox};

pub(crate) const ROUTINES: Routines = Routines {
    start: START,
    finish: FINISH,
    fault: FAULT,
    enter_user: ENTER_USER,
    user_return: USER_RETURN,
    sysenter_stub: None,
};

const START: Code = start!(code64, "rax", "rbx", "qword", "popfq", "rdi", "r14");
const FINISH: Code = finish!(code64, "rbx");
const FAULT: Code = fault!(code64, "", "rax", "rbx", "rsp", "qword", "16");

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
