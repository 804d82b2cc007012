//! POPF, CLI, STI and IRET: which flags they change, in which ring.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::{GP, case, fault};
use crate::arch::case::{Case, Expect};
use crate::arch::code::{Code, code64};
use crate::arch::payload::{Mode, Payload, Ring, payload};
use crate::layout::{INTERRUPT_VECTOR, mailbox};

/// The instructions, where `{r}` is the first result.
macro_rules! code {
    ($($line:expr),+ $(,)?) => {
        code64!([$($line),+], r = mailbox::RESULTS)
    };
}

/// Stores the flags in the first result, or in the second.
macro_rules! flags {
    (1) => {
        "pushfq; pop qword ptr [rbx + {r}]"
    };
    (2) => {
        "pushfq; pop qword ptr [rbx + {r} + 8]"
    };
}

/// Pops `$first`, then 2, by `$popf`; the flags after each.
macro_rules! pops {
    ($first:literal, $popf:literal) => {
        code!(
            concat!("push ", $first, "; ", $popf, "; pushfq; push 2; ", $popf),
            "pop qword ptr [rbx + {r}]",
            flags!(2)
        )
    };
}

/// Stores IF, as it is in rcx and rdx.
macro_rules! store_if {
    () => {
        "and ecx, 0x200; and edx, 0x200; mov [rbx + {r}], rcx; mov [rbx + {r} + 8], rdx"
    };
}

/// Stores the flags as they are within the handler, and returns.
const SEES_FLAGS: Code = code!(flags!(1), "iretq");

pub(crate) static FLAGS: [Case; 13] = [
    case! { Long "popf-follows-if", "POPF in ring 0 sets and clears IF",
        code!("push 0x202; popfq", flags!(1), "push 2; popfq", flags!(2)), Expect::Words(&[0x202, 2])
    },
    case! { Long "popf-follows-all", "POPF sets and clears CF, PF, AF, ZF, SF, DF, OF, IOPL, NT, AC and ID",
        pops!("0x247cd7", "popfq"), Expect::Words(&[0x24_7cd7, 2])
    },
    case! { Long "rep-popf-is-popf", "F3 9D is executed as POPF: it changes IF and the other flags",
        pops!("0xad7", ".byte 0xf3, 0x9d"), Expect::Words(&[0xad7, 2])
    },
    case! { Long "cli-sti", "CLI clears IF and STI sets it, and nothing else",
        code!("push 0x8d7; popfq; sti", flags!(1), "cli", flags!(2)), Expect::Words(&[0xad7, 0x8d7])
    },
    case! { Long "save-cli-popf", "A section that saves, clears and restores by POPF has IF clear inside and as before outside",
        code!("sti; pushfq; pop r8; cli; pushfq; pop rcx; push r8; popfq; pushfq; pop rdx; cli", store_if!()),
        Expect::Words(&[0, 0x200])
    },
    case! { Long "save-cli-test-sti", "A section that restores by a test and STI does the same",
        code!("sti; pushfq; pop r8; cli; pushfq; pop rcx; test r8d, 0x200; jz 7f; sti; 7:; pushfq; pop rdx; cli", store_if!()),
        Expect::Words(&[0, 0x200])
    },
    case! { Long "nested-sections", "Inside a section with IF clear, neither way sets it",
        code!(
            "pushfq; pop r8; cli; push r8; popfq; pushfq; pop rcx",
            "pushfq; pop r8; cli; test r8d, 0x200; jz 7f; sti; 7: pushfq; pop rdx",
            store_if!(),
        ), Expect::Words(&[0, 0])
    },
    case! { Long "iret-restores-flags", "IRET restores IF and the arithmetic flags from its frame",
        code!(
            "mov eax, ss; mov ecx, cs; mov rdx, rsp; push rax; push rdx; push 0xad7; push rcx",
            "lea rax, [rip + 7f]; push rax; iretq; 7: pushfq; cli; pop qword ptr [rbx + {r}]",
        ), Expect::Words(&[0xad7])
    },
    case! { Long "int-iret", "INT enters its handler with IF clear, and IRET sets it again",
        code64!([
            "sti; int {vector}; pushfq; cli; pop rax; and eax, 0x200; mov [rbx + {r} + 8], rax; and qword ptr [rbx + {r}], 0x200",
        ], vector = INTERRUPT_VECTOR, r = mailbox::RESULTS), Expect::Words(&[0, 0x200]), gates: &[(INTERRUPT_VECTOR, SEES_FLAGS)]
    },
    case! { Long "popf-in-ring-3", "POPF in ring 3 with IOPL 0 leaves IF and IOPL as they are, changes the others, and does not fault",
        pops!("0x3ad7", "popfq"), Expect::Words(&[0x8d7, 2]), ring: Ring::User
    },
    case! { Long "rep-popf-in-ring-3", "F3 9D in ring 3 does the same",
        code!("push 0x3ad7; .byte 0xf3, 0x9d; pushfq; push 2; popfq; pop qword ptr [rbx + {r}]"), Expect::Words(&[0x8d7]),
        ring: Ring::User
    },
    case! { Long "cli-in-ring-3", "CLI in ring 3 with IOPL 0 faults", code64!(["cli"]), fault(GP, 0, 3), ring: Ring::User },
    case! { Long "sti-in-ring-3", "STI in ring 3 with IOPL 0 faults", code64!(["sti"]), fault(GP, 0, 3), ring: Ring::User },
];
