//! Interrupts that are pending when IF comes back, and what wakes HLT. The local APIC sends them to its own CPU.
//!
//! # References
//! Intel SDM vol. 3, 12.6.1 (ICR: the shorthand "self" is 40000h), 7.8.3 (STI delays interrupts by one instruction), 12.5.4 (timer).
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::super::popf_if::{UD, UD_HANDLER};
use super::case;
use crate::arch::case::{Case, Expect};
use crate::arch::code::{Code, code64};
use crate::arch::payload::{Mode, Payload, payload};
use crate::layout::{self, INTERRUPT_VECTOR, mailbox};

const APIC_ON: Code = code64!(
    ["mov eax, {apic}; mov dword ptr [rax + 0xf0], 0x1ff"],
    apic = layout::LAPIC
);

/// Counts in the last word of the results, ends the interrupt, returns.
const COUNTS: Code = code64!(
    ["push rax; mov eax, {count}; inc qword ptr [rax]; mov eax, {eoi}; mov dword ptr [rax], 0; pop rax; iretq"],
    count = layout::MAILBOX + COUNT,
    eoi = layout::LAPIC + 0xb0,
);

/// Where the handler counts.
const COUNT: u64 = mailbox::RESULTS + 8 * (mailbox::RESULT_WORDS as u64 - 1);

/// The local APIC is on, and its interrupts are counted.
macro_rules! pending {
    ($name:literal, $claim:literal, $code:expr, $expect:expr) => {
        pending! { $name, $claim, $code, $expect, gates: &[(INTERRUPT_VECTOR, COUNTS)] }
    };
    ($name:literal, $claim:literal, $code:expr, $expect:expr, gates: $gates:expr) => {
        case! { Long $name, $claim, $code, $expect, apic: true, prepare: Some(APIC_ON), gates: $gates }
    };
}

/// The interrupt is sent, then `$held`, which keeps it out, and the count; then `$restored`, which lets it in, and the count.
macro_rules! sent {
    ($name:literal, $claim:literal, $held:expr, $restored:expr $(, gates: $gates:expr)?) => {
        pending! { $name, $claim,
            code64!([
                "mov r10d, {apic}; mov dword ptr [r10 + 0x300], 0x44000 + {vector}",
                $held,
                "mov rax, [rbx + {count}]; mov [rbx + {r}], rax",
                $restored,
                "cli; mov rax, [rbx + {count}]; mov [rbx + {r} + 8], rax",
            ], apic = layout::LAPIC, vector = INTERRUPT_VECTOR, count = COUNT, r = mailbox::RESULTS),
            Expect::Words(&[0, 1]) $(, gates: $gates)?
        }
    };
}

/// The instructions, and a loop that gives a slow hypervisor time to deliver the interrupt.
macro_rules! slowly {
    ($code:literal) => {
        concat!($code, "; mov ecx, 4000; 8: dec ecx; jnz 8b")
    };
}

pub(crate) static INTERRUPTS: [Case; 7] = [
    sent! { "pending-sti", "An interrupt that is pending while IF is clear comes after STI, and not before", "nop", slowly!("sti") },
    sent! { "sti-delays", "STI lets it in one instruction later: CLI right behind STI keeps it out", "sti; cli", slowly!("sti") },
    sent! { "pending-popf", "POPF that sets IF lets it in, and not before", "nop", slowly!("push 0x202; popfq") },
    sent! { "popf-does-not-delay", "POPF lets it in at once: CLI right behind it is too late", "nop", "push 0x202; popfq" },
    sent! { "pending-popf-clear", "POPF that leaves IF clear keeps it out", "push 2; popfq; nop", slowly!("sti") },
    sent! { "pending-popf-if", "POPF_IF that sets IF lets it in, and one that clears IF keeps it out",
        "push 2; ud2; nop", slowly!("push 0x202; ud2"), gates: &[(INTERRUPT_VECTOR, COUNTS), (UD, UD_HANDLER)]
    },
    pending! { "hlt-wakes-by-timer", "HLT ends when the local APIC's timer fires, after its handler has run",
        code64!([
            "mov r10d, {apic}; mov dword ptr [r10 + 0x3e0], 0xb; mov dword ptr [r10 + 0x320], {vector}",
            "mov dword ptr [r10 + 0x380], 20000; sti; hlt; cli; mov rax, [rbx + {count}]; mov [rbx + {r}], rax",
        ], apic = layout::LAPIC, vector = INTERRUPT_VECTOR, count = COUNT, r = mailbox::RESULTS), Expect::Words(&[1])
    },
];
