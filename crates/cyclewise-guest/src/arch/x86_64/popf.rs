//! Flags in ring 0: POPF where IF changes and where it does not, CLI, STI, and what a kernel would do in place of POPF.
//!
//! User mode shows POPF with IF unchanged only, and neither CLI nor STI at all.
//!
//! # References
//! D. Vlasenko, "RFC: Petition Intel/AMD to add POPF_IF insn", 2016; Intel SDM vol. 2, POPF, CLI, STI, IRET.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use crate::arch::code::{Code, code64};
use crate::arch::payload::{Exits, Mode, Payload, payload};
use crate::layout::{self, INTERRUPT_VECTOR};

/// r8: the flags as they are, with IF clear.
const IF_CLEAR: Code = code64!(["pushfq", "pop r8"]);
/// r8: the flags with IF set, and IF is set.
const IF_SET: Code = code64!(["sti", "pushfq", "pop r8"]);
/// r8: the flags with IF clear; r9: with IF set.
const BOTH: Code = code64!(["pushfq", "pop r8", "mov r9, r8", "or r9, 0x200"]);
const NOTHING: Code = Code::NOTHING;
/// IF is set.
const ENABLED: Code = code64!(["sti"]);

/// Ends an interrupt, where the local APIC raised it, and returns.
pub(super) const END_INTERRUPT: Code = code64!(
    [
        "push rax",
        "mov eax, {eoi}",
        "mov dword ptr [rax], 0",
        "pop rax",
        "iretq"
    ],
    eoi = layout::LAPIC + 0xb0,
);
const RETURN: Code = code64!(["iretq"]);

/// Turns the local APIC on; r10 is its address. Vectors: INTERRUPT_VECTOR, and 255 for spurious ones.
const APIC_ON: Code = code64!(
    ["mov eax, {spurious}", "mov dword ptr [rax], 0x1ff"],
    spurious = layout::LAPIC + 0xf0,
);
/// r10: the local APIC.
const APIC: Code = code64!(["mov r10d, {apic}"], apic = layout::LAPIC);

const PENDING: Payload = payload! { Long "", 8, APIC,
    NOTHING, apic: true, prepare: Some(APIC_ON), gates: &[(INTERRUPT_VECTOR, END_INTERRUPT)],
    exits: Exits::Maybe(
        "the interrupt is raised by a write to the local APIC and delivered by the hypervisor: both exit, unless the CPU virtualizes the APIC",
    ),
};

/// The payloads, in the order of the table.
pub static PAYLOADS: [Payload; 22] = [
    payload! { Long "push-pop", 32, code64!(["mov r8d, 1"]), code64!(["push r8; pop r9"]) },
    payload! { Long "popf-clear", 32, IF_CLEAR, code64!(["push r8; popfq"]) },
    payload! { Long "popf-set", 32, IF_SET, code64!(["push r8; popfq"]) },
    payload! { Long "popf-toggle", 32, BOTH, code64!(["push r9; popfq; push r8; popfq"]) },
    payload! { Long "rep-popf-clear", 32, IF_CLEAR, code64!(["push r8; .byte 0xf3, 0x9d"]) },
    payload! { Long "rep-popf-set", 32, IF_SET, code64!(["push r8; .byte 0xf3, 0x9d"]) },
    payload! { Long "pushf-pop", 32, NOTHING, code64!(["pushfq; pop r9"]) },
    payload! { Long "cli-clear", 32, NOTHING, code64!(["cli"]) },
    payload! { Long "sti-set", 32, ENABLED, code64!(["sti"]) },
    payload! { Long "cli-sti", 32, ENABLED, code64!(["cli; sti"]) },
    // What a kernel's lock does around its section, restored in each of the ways of the mail. IF is set before.
    payload! { Long "save-cli-popf", 32, ENABLED, code64!(["pushfq; pop r8; cli; push r8; popfq"]) },
    payload! { Long "save-cli-rep-popf", 32, ENABLED, code64!(["pushfq; pop r8; cli; push r8; .byte 0xf3, 0x9d"]) },
    payload! { Long "save-cli-test-sti", 32, ENABLED, code64!(["pushfq; pop r8; cli; test r8d, 0x200; jz 7f; sti; 7:"]) },
    // The same inside a section that has interrupts off already.
    payload! { Long "nested-save-cli-popf", 32, NOTHING, code64!(["pushfq; pop r8; cli; push r8; popfq"]) },
    payload! { Long "nested-save-cli-test", 32, NOTHING, code64!(["pushfq; pop r8; cli; test r8d, 0x200; jz 7f; sti; 7:"]) },
    // Delivery and return, without and with an interrupt's cause.
    payload! { Long "int-iret", 16, NOTHING,
        code64!(["int {vector}"], vector = INTERRUPT_VECTOR), gates: &[(INTERRUPT_VECTOR, RETURN)]
    },
    payload! { Long "iret", 16, code64!(["mov r8d, ss; mov r9d, cs"]),
        code64!(["mov rax, rsp; push r8; push rax; pushfq; push r9; lea rax, [rip + 7f]; push rax; iretq; 7:"])
    },
    payload! { Long "iret-frame", 16, code64!(["mov r8d, ss; mov r9d, cs"]),
        code64!(["mov rax, rsp; push r8; push rax; pushfq; push r9; lea rax, [rip + 7f]; push rax; add rsp, 40; 7:"])
    },
    // An interrupt that this CPU sends itself while IF is clear, and what lets it in.
    Payload {
        name: "apic-write",
        operation: code64!(["mov dword ptr [r10 + 0x80], 0"]),
        exits: Exits::Maybe("a write to the local APIC exits, unless the CPU virtualizes the APIC"),
        ..PENDING
    },
    Payload {
        name: "pending-sti",
        operation: code64!(
            ["mov dword ptr [r10 + 0x300], 0x44000 + {vector}", "sti", "nop", "cli"],
            vector = INTERRUPT_VECTOR
        ),
        ..PENDING
    },
    Payload {
        name: "pending-popf",
        setup: code64!(
            ["mov r10d, {apic}", "pushfq", "pop r9", "or r9, 0x200"],
            apic = layout::LAPIC
        ),
        operation: code64!(
            [
                "mov dword ptr [r10 + 0x300], 0x44000 + {vector}",
                "push r9",
                "popfq",
                "nop",
                "cli"
            ],
            vector = INTERRUPT_VECTOR
        ),
        ..PENDING
    },
    // Beside the instructions above: one that does nothing, of which a witness takes the ratio.
    payload! { Long "nop", 64, NOTHING, code64!(["nop"]) },
];
