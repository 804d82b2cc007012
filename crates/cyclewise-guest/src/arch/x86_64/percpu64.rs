//! Per-CPU data of a 64-bit kernel: %gs by its base, the ways to change that, and system calls with and without SWAPGS.
//!
//! # References
//! Intel SDM vol. 2, SWAPGS, WRGSBASE, SYSCALL, SYSRET; vol. 4, IA32_STAR, IA32_LSTAR, IA32_FMASK, IA32_GS_BASE.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use crate::arch::code::{Code, code64};
use crate::arch::payload::{Exits, Mode, Needs, Payload, Ring, payload};
use crate::layout::{self, mailbox};

const NOTHING: Code = Code::NOTHING;
/// %gs's base and the one that SWAPGS exchanges it with: the CPU's data and a user's.
pub(super) const BASES: Code = code64!(
    [
        "mov ecx, 0xc0000101",
        "mov eax, {percpu}",
        "xor edx, edx",
        "wrmsr",
        "inc ecx",
        "mov eax, {user}",
        "wrmsr",
    ],
    percpu = layout::PERCPU,
    user = layout::USER_TLS,
);
/// Selectors, entry and masked flags of SYSCALL; in user mode %gs's base is the user's.
pub(super) const SYSCALL_ON: Code = code64!(
    [
        "mov ecx, 0xc0000081",
        "xor eax, eax",
        "mov edx, {star}",
        "wrmsr",
        "inc ecx",
        "mov eax, [rbx + {handler}]",
        "xor edx, edx",
        "wrmsr",
        "mov ecx, 0xc0000084",
        "mov eax, 0x47700", // IF, DF, TF, IOPL, NT, AC, as Linux masks them
        "wrmsr",
        "mov ecx, 0xc0000101",
        "mov eax, {user}",
        "wrmsr",
        "inc ecx",
        "mov eax, {percpu}",
        "wrmsr",
    ],
    star = ((layout::SYSRET_BASE | 3) as u32) << 16 | layout::KERNEL_CS as u32,
    handler = mailbox::HANDLER,
    user = layout::USER_TLS,
    percpu = layout::PERCPU,
);
const GS_BASE: Code = code64!(
    ["mov ecx, 0xc0000101", "mov eax, {percpu}", "xor edx, edx"],
    percpu = layout::PERCPU
);
const KERNEL_GS_BASE: Code = code64!(
    ["mov ecx, 0xc0000102", "mov eax, {user}", "xor edx, edx"],
    user = layout::USER_TLS
);

const SYSCALL: Payload = payload! { Long "syscall-sysret", 16, NOTHING,
    code64!(["syscall"]), ring: Ring::User, prepare: Some(SYSCALL_ON), handler: Some(code64!(["sysretq"]))
};

/// The payloads, in the order of the table.
pub static PAYLOADS: [Payload; 12] = [
    payload! { Long "absolute-load-64", 64, code64!(["mov r8d, {at}"], at = layout::PERCPU), code64!(["mov eax, [r8 + 4]"]) },
    payload! { Long "gs-load-64", 64, NOTHING, code64!(["mov eax, gs:[4]"]), prepare: Some(BASES) },
    payload! { Long "gs-inc-64", 32, NOTHING, code64!(["inc qword ptr gs:[8]"]), prepare: Some(BASES) },
    payload! { Long "swapgs-twice", 32, NOTHING, code64!(["swapgs; swapgs"]), prepare: Some(BASES) },
    payload! { Long "wrgsbase", 32, code64!(["mov r8d, {at}"], at = layout::PERCPU),
        code64!(["wrgsbase r8"]), needs: Some(Needs::FsGsBase)
    },
    payload! { Long "rdgsbase", 32, NOTHING, code64!(["rdgsbase r8"]), needs: Some(Needs::FsGsBase), prepare: Some(BASES) },
    payload! { Long "wrmsr-gs-base", 16, GS_BASE,
        code64!(["wrmsr"]), exits: Exits::Maybe("none: KVM lets guests write these MSRs on VMX and SVM alike")
    },
    payload! { Long "wrmsr-kernel-gs-base", 16, KERNEL_GS_BASE,
        code64!(["wrmsr"]), exits: Exits::Maybe("none: KVM lets guests write these MSRs on VMX and SVM alike")
    },
    payload! { Long "mov-gs-null-64", 32, code64!(["xor eax, eax"]), code64!(["mov gs, eax"]) },
    payload! { Long "mov-gs-data-64", 32, code64!(["mov eax, {s}"], s = layout::USER_DS), code64!(["mov gs, eax"]) },
    SYSCALL,
    Payload {
        name: "syscall-swapgs-sysret",
        handler: Some(code64!([
            "swapgs",
            "mov gs:[16], rsp",
            "mov rsp, gs:[16]",
            "swapgs",
            "sysretq"
        ])),
        ..SYSCALL
    },
];
