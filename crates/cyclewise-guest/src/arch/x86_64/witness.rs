//! What the guest sees of the CPU that runs it: privilege, interrupt flag, CPUID.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use crate::arch::code::{Code, code64};
use crate::arch::payload::{Mode, Payload, Ring};
use crate::layout::mailbox;

/// Result: CS.
pub const CS: usize = 0;
/// Result: the flags after CLI.
pub const AFTER_CLI: usize = 1;
/// Result: the flags after STI.
pub const AFTER_STI: usize = 2;
/// Result: the flags after POPF with IF clear.
pub const AFTER_POPF_CLEAR: usize = 3;
/// Result: the flags after POPF with IF set.
pub const AFTER_POPF_SET: usize = 4;
/// Result: CPUID 1, ECX.
pub const LEAF1_ECX: usize = 5;
/// Result: CPUID 1, EDX.
pub const LEAF1_EDX: usize = 6;
/// Result: CPUID 7, EBX.
pub const LEAF7_EBX: usize = 7;
/// Result: CPUID 8000_0001h, EDX.
pub const EXTENDED_EDX: usize = 8;
/// Results: the hypervisor's signature, CPUID 4000_0000h's EBX and ECX in one word, EDX in the next.
pub const HYPERVISOR: usize = 9;
/// Results: the vendor, CPUID 0's EBX and EDX in one word, ECX in the next.
pub const VENDOR: usize = 11;

/// Stores the results above.
pub static WITNESS: Payload = Payload::new(
    "witness",
    Mode::Long,
    1,
    Code::NOTHING,
    code64!(
        [
            "mov r15, rbx",
            "mov eax, cs",
            "mov [r15 + {r}], rax",
            "cli",
            "pushfq",
            "pop qword ptr [r15 + {r} + 8]",
            "sti",
            "pushfq",
            "pop qword ptr [r15 + {r} + 16]",
            "pushfq",
            "and qword ptr [rsp], -0x201",
            "popfq",
            "pushfq",
            "pop qword ptr [r15 + {r} + 24]",
            "pushfq",
            "or qword ptr [rsp], 0x200",
            "popfq",
            "pushfq",
            "pop qword ptr [r15 + {r} + 32]",
            "cli",
            "mov eax, 1",
            "cpuid",
            "mov [r15 + {r} + 40], ecx",
            "mov [r15 + {r} + 48], edx",
            "mov eax, 7",
            "xor ecx, ecx",
            "cpuid",
            "mov [r15 + {r} + 56], ebx",
            "mov eax, 0x80000001",
            "cpuid",
            "mov [r15 + {r} + 64], edx",
            "mov eax, 0x40000000",
            "cpuid",
            "mov [r15 + {r} + 72], ebx",
            "mov [r15 + {r} + 76], ecx",
            "mov [r15 + {r} + 80], edx",
            "xor eax, eax",
            "cpuid",
            "mov [r15 + {r} + 88], ebx",
            "mov [r15 + {r} + 92], edx",
            "mov [r15 + {r} + 96], ecx",
        ],
        r = mailbox::RESULTS,
    ),
);

/// Ring 3 stores its flags: result 0.
pub static USER: Payload = Payload {
    ring: Ring::User,
    ..Payload::new(
        "witness-ring-3",
        Mode::Long,
        1,
        Code::NOTHING,
        code64!(["pushfq", "pop qword ptr [rbx + {r}]"], r = mailbox::RESULTS),
    )
};
