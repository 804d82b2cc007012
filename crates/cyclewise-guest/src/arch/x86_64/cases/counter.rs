//! The time stamp counter and locked instructions: what they do in ring 0 and in ring 3.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::{GP, UD, case, fault};
use crate::arch::case::{Case, Expect};
use crate::arch::code::{Code, code64};
use crate::arch::payload::{Mode, Payload, Ring, payload};
use crate::layout::mailbox;

/// CR4.TSD: the counter is ring 0's alone.
const RING0_ONLY: Code = code64!(["mov rax, cr4", "or eax, 4", "mov cr4, rax"]);

/// Reads the counter into rdx.
macro_rules! counter {
    () => {
        "rdtsc; shl rdx, 32; or rdx, rax"
    };
}

pub(crate) static COUNTER: [Case; 5] = [
    case! { Long "rdtsc-goes-on", "A later RDTSC reads no less than an earlier one, across LFENCE, CPUID, a write of CR3 and INVLPG",
        code64!([
            "mov r15, rbx; xor r14d, r14d",
            counter!(),
            "mov r8, rdx; lfence",
            counter!(),
            "cmp rdx, r8; adc r14, 0; mov r8, rdx; xor eax, eax; cpuid",
            counter!(),
            "cmp rdx, r8; adc r14, 0; mov r8, rdx; mov rax, cr3; mov cr3, rax",
            counter!(),
            "cmp rdx, r8; adc r14, 0; mov r8, rdx; invlpg [rsi]",
            counter!(),
            "cmp rdx, r8; adc r14, 0; mov [r15 + {r}], r14",
        ], r = mailbox::RESULTS), Expect::Words(&[0])
    },
    case! { Long "memory-after-cr3", "Memory reads the same after a write of CR3 and after INVLPG",
        code64!([
            "mov qword ptr [rsi], 77; mov rax, cr3; mov cr3, rax; mov rax, [rsi]; mov [rbx + {r}], rax",
            "invlpg [rsi]; mov rax, [rsi]; mov [rbx + {r} + 8], rax; mov qword ptr [rsi], 0",
        ], r = mailbox::RESULTS), Expect::Words(&[77, 77])
    },
    case! { Long "rdtsc-in-ring-3", "RDTSC in ring 3 is allowed where CR4.TSD is clear",
        code64!(["rdtsc; mov qword ptr [rbx + {r}], 1"], r = mailbox::RESULTS), Expect::Words(&[1]), ring: Ring::User
    },
    case! { Long "rdtsc-in-ring-3-with-tsd", "RDTSC in ring 3 faults where CR4.TSD is set",
        code64!(["rdtsc"]), fault(GP, 0, 3), ring: Ring::User, prepare: Some(RING0_ONLY)
    },
    case! { Long "mov-cr3-in-ring-3", "A write of CR3 in ring 3 faults",
        code64!(["mov cr3, rax"]), fault(GP, 0, 3), ring: Ring::User
    },
];

pub(crate) static LOCK: [Case; 4] = [
    case! { Long "prefixes-do-not-change-the-sum", "XADD adds the same with LOCK, with DS and with a NOP in front",
        code64!([
            "mov qword ptr [rsi], 5; mov eax, 3; lock xadd [rsi], rax; mov [rbx + {r}], rax",
            "mov eax, 3; .byte 0x3e; xadd [rsi], rax; mov [rbx + {r} + 8], rax",
            "mov eax, 3; .byte 0x90; xadd [rsi], rax; mov [rbx + {r} + 16], rax",
            "mov rax, [rsi]; mov [rbx + {r} + 24], rax; mov qword ptr [rsi], 0",
        ], r = mailbox::RESULTS), Expect::Words(&[5, 8, 11, 14])
    },
    case! { Long "cmpxchg-compares", "LOCK CMPXCHG stores where it finds what it expects, and reads where it does not",
        code64!([
            "mov qword ptr [rsi], 5; mov eax, 5; mov ecx, 9",
            "lock cmpxchg [rsi], rcx; setz dl; movzx edx, dl; mov [rbx + {r}], rdx",
            "mov eax, 5; lock cmpxchg [rsi], rcx; setz dl; movzx edx, dl; mov [rbx + {r} + 8], rdx",
            "mov [rbx + {r} + 16], rax; mov qword ptr [rsi], 0",
        ], r = mailbox::RESULTS), Expect::Words(&[1, 0, 9])
    },
    case! { Long "lock-on-a-store-faults", "LOCK in front of MOV is an invalid opcode",
        code64!([".byte 0xf0; mov [rsi], eax"]), fault(UD, 0, 0)
    },
    case! { Long "lock-on-a-register-faults", "LOCK in front of an increment of a register is an invalid opcode",
        code64!([".byte 0xf0; inc eax"]), fault(UD, 0, 0)
    },
];
