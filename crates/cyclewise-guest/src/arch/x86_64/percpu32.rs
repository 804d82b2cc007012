//! Per-CPU data of an i386 kernel: by %gs, as proposed in 2006, and by the CPU's number and a table, as before; and what an entry
//! to the kernel pays for a segment register of its own.
//!
//! The number is in the first word of the stack's block of 8 KiB, where Linux had it then.
//!
//! # References
//! J. Fitzhardinge, "[PATCH 0/8] Implement per-processor data areas for i386", 2006; Intel SDM vol. 2, MOV, POP, INT, SYSENTER,
//! SYSEXIT.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use crate::arch::code::{Code, code32};
use crate::arch::payload::{Mode, Needs, Payload, Ring, payload};
use crate::layout::{self, SYSTEM_CALL_VECTOR, mailbox};

/// Where SYSEXIT returns in the stub: behind three pushes, a move and SYSENTER.
pub(super) const SYSENTER_RETURN: u64 = layout::SYSENTER_STUB + 7;

const NOTHING: Code = Code::NOTHING;
/// %gs: the CPU's data.
const GS_PERCPU: Code = code32!(
    ["mov eax, {s}", "mov gs, eax", "mov edx, eax"],
    s = layout::PERCPU_SELECTOR
);
/// %fs: the CPU's data.
const FS_PERCPU: Code = code32!(
    ["mov eax, {s}", "mov fs, eax", "mov edx, eax"],
    s = layout::PERCPU_SELECTOR
);
/// %gs and %fs: null, as of a program without thread-local storage. edx: the kernel's selector.
const NULL: Code = code32!(
    ["xor eax, eax", "mov gs, eax", "mov fs, eax", "mov edx, {s}"],
    s = layout::PERCPU_SELECTOR
);
/// %gs and %fs: a user's thread-local storage. edx: the kernel's selector.
const TLS: Code = code32!(
    ["mov eax, {tls}", "mov gs, eax", "mov fs, eax", "mov edx, {s}"],
    tls = layout::TLS_SELECTOR,
    s = layout::PERCPU_SELECTOR
);

const GS_AROUND: Code = code32!(["push gs", "mov gs, edx", "pop gs"]);
const FS_AROUND: Code = code32!(["push fs", "mov fs, edx", "pop fs"]);

/// Saves the registers that Linux saves, and loads the kernel's data segments; `gs` saves and loads %gs too.
macro_rules! save {
    () => {
        "push es; push ds; push eax; push ebp; push edi; push esi; push edx; push ecx; push ebx; mov edx, {ds}; mov ds, edx; mov es, edx"
    };
    (gs) => {
        concat!("push gs; ", save!(), "; mov edx, {gs}; mov gs, edx")
    };
}
macro_rules! restore {
    () => {
        "pop ebx; pop ecx; pop edx; pop esi; pop edi; pop ebp; pop eax; pop ds; pop es"
    };
    (gs) => {
        concat!(restore!(), "; pop gs")
    };
}

/// A system call that does nothing.
const ENTRY: Code = code32!([save!(), restore!(), "iretd"], ds = layout::USER_DS);
/// The same with %gs saved, loaded and restored.
const ENTRY_GS: Code = code32!(
    [save!(gs), restore!(gs), "iretd"],
    ds = layout::USER_DS,
    gs = layout::PERCPU_SELECTOR,
);

/// SYSENTER's entry: the frame that INT would have pushed, then the same registers. SYSEXIT takes its target from edx and its stack
/// from ecx.
macro_rules! sysenter_entry {
    ([$save:expr, $restore:expr] $($gs:tt)*) => {
        code32!(
            [
                "push {ss}; push ebp; pushfd; push {cs}; push {back}",
                $save,
                $restore,
                "pop edx; mov ecx, ebp; sysexit",
            ],
            ss = layout::USER_DS32,
            cs = layout::USER_CS32,
            back = SYSENTER_RETURN,
            ds = layout::USER_DS
            $($gs)*
        )
    };
}
const SYSENTER_ENTRY: Code = sysenter_entry!([save!(), restore!()]);
/// The same with %gs saved, loaded and restored.
const SYSENTER_ENTRY_GS: Code = sysenter_entry!([save!(gs), restore!(gs)], gs = layout::PERCPU_SELECTOR);

/// SYSENTER's code segment, stack and entry: MSRs 174h to 176h.
pub(super) const SYSENTER_ON: Code = code32!(
    [
        "xor edx, edx",
        "mov ecx, 0x174",
        "mov eax, {cs}",
        "wrmsr",
        "inc ecx",
        "mov eax, {stack}",
        "wrmsr",
        "inc ecx",
        "mov eax, [ebx + {handler}]",
        "wrmsr",
    ],
    cs = layout::KERNEL_CS32,
    stack = layout::ENTRY_STACK_TOP,
    handler = mailbox::HANDLER,
);

const INT80: Payload = payload! { Protected "int80", 8, TLS_ONLY,
    code32!(["int {vector}"], vector = SYSTEM_CALL_VECTOR), ring: Ring::User, gates: &[(SYSTEM_CALL_VECTOR, ENTRY)]
};
/// In ring 3 the kernel's selector is out of reach.
const TLS_ONLY: Code = code32!(["mov eax, {tls}", "mov gs, eax"], tls = layout::TLS_SELECTOR);
const NULL_ONLY: Code = code32!(["xor eax, eax", "mov gs, eax"]);

const SYSENTER: Payload = payload! { Protected "sysenter", 8, TLS_ONLY,
    code32!(["mov eax, {stub}; call eax"], stub = layout::SYSENTER_STUB), ring: Ring::User, prepare: Some(SYSENTER_ON),
    handler: Some(SYSENTER_ENTRY), needs: Some(Needs::Sysenter)
};

/// The payloads, in the order of the table.
pub static PAYLOADS: [Payload; 20] = [
    payload! { Protected "absolute-load", 64, NOTHING, code32!(["mov eax, [{at}]"], at = layout::PERCPU + 4) },
    payload! { Protected "gs-load", 64, GS_PERCPU, code32!(["mov eax, gs:[4]"]) },
    payload! { Protected "fs-load", 64, FS_PERCPU, code32!(["mov eax, fs:[4]"]) },
    payload! { Protected "table-load", 32, NOTHING,
        code32!([
            "mov eax, esp; and eax, -8192; mov eax, [eax]; mov eax, [eax * 4 + {table}]; mov eax, [eax + 4]",
        ], table = layout::PERCPU_TABLE)
    },
    payload! { Protected "gs-inc", 32, GS_PERCPU, code32!(["inc dword ptr gs:[8]"]) },
    payload! { Protected "table-inc", 32, NOTHING,
        code32!([
            "mov eax, esp; and eax, -8192; mov eax, [eax]; mov eax, [eax * 4 + {table}]",
            "inc dword ptr [eax + 8]",
        ], table = layout::PERCPU_TABLE)
    },
    payload! { Protected "mov-gs-null", 32, code32!(["xor eax, eax"]), code32!(["mov gs, eax"]) },
    payload! { Protected "mov-gs-data", 32, GS_PERCPU, code32!(["mov gs, eax"]) },
    payload! { Protected "mov-fs-data", 32, FS_PERCPU, code32!(["mov fs, eax"]) },
    payload! { Protected "push-pop-gs-null", 32, NULL, code32!(["push gs; pop gs"]) },
    payload! { Protected "gs-around-null", 32, NULL, GS_AROUND },
    payload! { Protected "gs-around-tls", 32, TLS, GS_AROUND },
    payload! { Protected "gs-around-same", 32, GS_PERCPU, GS_AROUND },
    payload! { Protected "fs-around-null", 32, NULL, FS_AROUND },
    payload! { Protected "fs-around-tls", 32, TLS, FS_AROUND },
    INT80,
    Payload {
        name: "int80-gs",
        gates: &[(SYSTEM_CALL_VECTOR, ENTRY_GS)],
        ..INT80
    },
    Payload {
        name: "int80-gs-null",
        gates: &[(SYSTEM_CALL_VECTOR, ENTRY_GS)],
        setup: NULL_ONLY,
        ..INT80
    },
    SYSENTER,
    Payload {
        name: "sysenter-gs",
        handler: Some(SYSENTER_ENTRY_GS),
        ..SYSENTER
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::runtime32;

    #[test]
    fn sysexit_returns_right_behind_sysenter() {
        let stub = runtime32::ROUTINES.sysenter_stub.unwrap().bytes();
        let behind = (SYSENTER_RETURN - layout::SYSENTER_STUB) as usize;
        assert_eq!(stub[behind - 2..behind], [0x0f, 0x34]);
    }

    #[test]
    fn the_forms_of_a_load_have_the_lengths_of_their_encodings() {
        let bytes = |name| PAYLOADS.iter().find(|p| p.name == name).unwrap().code_bytes();
        assert_eq!(bytes("gs-load"), 6, "the prefix, the opcode, four bytes of offset");
        assert_eq!(bytes("fs-load"), bytes("gs-load"));
        assert!(bytes("table-load") > 2 * bytes("gs-load"));
    }
}
