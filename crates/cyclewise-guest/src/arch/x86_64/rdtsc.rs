//! The time stamp counter in ring 0, ordered as in user mode, and by what user mode does not have: serializing instructions of
//! the kernel.
//!
//! # References
//! A. Lutomirski and I. Molnar, "x86-64: Optimize vread_tsc's barriers", 2011; Intel SDM vol. 3, 9.3 (serializing instructions).
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::popf::END_INTERRUPT;
use crate::arch::code::{Code, code64};
use crate::arch::payload::{Exits, Mode, Needs, Payload, payload};
use crate::layout::{self, INTERRUPT_VECTOR};

/// Turns the local APIC on and into the mode of MSRs: IA32_APIC_BASE bit 10, then the spurious vector.
const X2APIC_ON: Code = code64!([
    "mov ecx, 0x1b",
    "rdmsr",
    "or eax, 0xc00",
    "wrmsr",
    "mov ecx, 0x80f",
    "mov eax, 0x1ff",
    "xor edx, edx",
    "wrmsr",
]);

/// Turns the local APIC on, with its timer as a single shot, undivided.
const TIMER_ON: Code = code64!(
    [
        "mov eax, {apic}",
        "mov dword ptr [rax + 0xf0], 0x1ff",
        "mov dword ptr [rax + 0x3e0], 0xb",
        "mov dword ptr [rax + 0x320], {vector}",
    ],
    apic = layout::LAPIC,
    vector = INTERRUPT_VECTOR,
);

/// The payloads, in the order of the table.
pub static PAYLOADS: [Payload; 14] = [
    payload! { Long "rdtsc", 16, Code::NOTHING, code64!(["rdtsc"]) },
    payload! { Long "lfence-rdtsc", 16, Code::NOTHING, code64!(["lfence; rdtsc"]) },
    payload! { Long "mfence-rdtsc", 16, Code::NOTHING, code64!(["mfence; rdtsc"]) },
    payload! { Long "rdtscp", 16, Code::NOTHING, code64!(["rdtscp"]), needs: Some(Needs::Rdtscp) },
    payload! { Long "lfence-rdtsc-lfence", 16, Code::NOTHING, code64!(["lfence; rdtsc; lfence"]) },
    payload! { Long "lfence-rdtsc-dependent-load", 16, Code::NOTHING,
        code64!(["lfence; rdtsc; shl rdx, 32; or rax, rdx; shl rdx, 32; mov rcx, [rsi + rdx]; cmp rax, rcx", "cmovb rax, rcx"])
    },
    payload! { Long "cpuid-rdtsc", 4, Code::NOTHING,
        code64!(["xor eax, eax; cpuid; rdtsc"]), exits: Exits::Each("CPUID exits on every CPU")
    },
    payload! { Long "mov-cr3-rdtsc", 16, code64!(["mov r8, cr3"]),
        code64!(["mov cr3, r8; rdtsc"]), exits: Exits::Maybe("none with nested page tables (EPT, NPT); each copy exits without")
    },
    payload! { Long "invlpg-rdtsc", 16, Code::NOTHING,
        code64!(["invlpg [rsi]; rdtsc"]), exits: Exits::Maybe("none with nested page tables (EPT, NPT); each copy exits without")
    },
    payload! { Long "wrmsr-apic", 8, code64!(["mov ecx, 0x80b; xor eax, eax; xor edx, edx"]),
        code64!(["wrmsr"]), apic: true, prepare: Some(X2APIC_ON), needs: Some(Needs::X2Apic),
        exits: Exits::Maybe("none where the CPU virtualizes the end of an interrupt (APICv, x2AVIC); each copy exits without")
    },
    payload! { Long "iret-rdtsc", 16, Code::NOTHING,
        code64!([
            "mov r8d, ss; mov r9d, cs; mov rax, rsp; push r8; push rax; pushfq; push r9; lea rax, [rip + 7f]",
            "push rax; iretq; 7:; rdtsc",
        ])
    },
    payload! { Long "hlt-timer", 1, code64!(["mov r10d, {apic}"], apic = layout::LAPIC),
        code64!(["mov dword ptr [r10 + 0x380], 1000; sti; hlt; cli"]), apic: true, prepare: Some(TIMER_ON),
        gates: &[(INTERRUPT_VECTOR, END_INTERRUPT)],
        exits: Exits::Each("HLT exits unless it is told not to, and the timer's interrupt comes from the hypervisor")
    },
    payload! { Long "lfence", 32, Code::NOTHING, code64!(["lfence"]) },
    payload! { Long "mfence", 32, Code::NOTHING, code64!(["mfence"]) },
];
