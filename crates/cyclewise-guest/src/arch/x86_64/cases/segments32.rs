//! Segment registers of 32-bit mode: loads, limits, saves, and system calls that keep a user's %gs.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::super::percpu32::{SYSENTER_ON, SYSENTER_RETURN};
use super::{GP, case, fault};
use crate::arch::case::{Case, Expect};
use crate::arch::code::{Code, code32};
use crate::arch::payload::{Mode, Needs, Payload, Ring, payload};
use crate::layout::{self, SYSTEM_CALL_VECTOR, mailbox};

/// The word that the CPU's data and a user's data have at offset 4.
const PERCPU_WORD: u64 = 0x1234_5678;
const TLS_WORD: u64 = 0x0bad_cafe;

/// A system call that saves %gs, loads the kernel's, stores CS, %gs's word and the flags of the entry, and restores it.
const CALL_BY_INT: Code = code32!(
    [
        "push gs",
        "push edx",
        "mov edx, {s}",
        "mov gs, edx",
        "mov edx, cs",
        "mov [ebx + {r}], edx",
        "mov edx, gs:[4]",
        "mov [ebx + {r} + 8], edx",
        "pushfd",
        "pop edx",
        "and edx, 0x200",
        "mov [ebx + {r} + 16], edx",
        "pop edx",
        "pop gs",
        "iretd",
    ],
    s = layout::PERCPU_SELECTOR,
    r = mailbox::RESULTS
);

const CALL_BY_SYSENTER: Code = code32!(
    [
        "push gs",
        "mov edx, {s}",
        "mov gs, edx",
        "mov edx, cs",
        "mov [ebx + {r}], edx",
        "mov edx, gs:[4]",
        "mov [ebx + {r} + 8], edx",
        "pushfd",
        "pop edx",
        "and edx, 0x200",
        "mov [ebx + {r} + 16], edx",
        "pop gs",
        "mov edx, {back}",
        "mov ecx, ebp",
        "sysexit",
    ],
    s = layout::PERCPU_SELECTOR,
    back = SYSENTER_RETURN,
    r = mailbox::RESULTS
);

/// Kernel's CS; the CPU's word; IF clear inside; back in ring 3; %gs's word and selector as before; registers as before.
const KEPT: Expect = Expect::Words(&[
    layout::KERNEL_CS32 as u64,
    PERCPU_WORD,
    0,
    layout::USER_CS32 as u64,
    TLS_WORD,
    layout::TLS_SELECTOR as u64,
    0x111 + 0x222 + 0x333,
]);

/// Calls by `$call` from a user's %gs, and stores what is there afterwards.
macro_rules! calls {
    ($($call:literal),+) => {
        code32!(
            [
                "mov eax, {tls}", "mov gs, eax",
                "mov ecx, 0x111", "mov edx, 0x222", "mov ebp, 0x333", "mov eax, {stub}",
                $($call,)+
                "add ecx, edx", "add ecx, ebp", "mov [ebx + {r} + 48], ecx",
                "mov eax, cs", "mov [ebx + {r} + 24], eax",
                "mov eax, gs:[4]", "mov [ebx + {r} + 32], eax",
                "mov eax, gs", "mov [ebx + {r} + 40], eax",
            ],
            tls = layout::TLS_SELECTOR, stub = layout::SYSENTER_STUB, r = mailbox::RESULTS
        )
    };
}

pub(crate) static SEGMENTS32: [Case; 10] = [
    case! { Protected "percpu-by-segment", "%gs, %fs and the table by the CPU's number reach the same word",
        code32!([
            "mov eax, {s}; mov gs, eax; mov fs, eax; mov eax, gs:[4]; mov [ebx + {r}], eax; mov eax, fs:[4]",
            "mov [ebx + {r} + 8], eax; mov eax, esp; and eax, -8192; mov eax, [eax]",
            "mov eax, [eax * 4 + {table}]; mov eax, [eax + 4]; mov [ebx + {r} + 16], eax",
        ], s = layout::PERCPU_SELECTOR, table = layout::PERCPU_TABLE, r = mailbox::RESULTS),
        Expect::Words(&[PERCPU_WORD, PERCPU_WORD, PERCPU_WORD])
    },
    case! { Protected "save-load-restore", "Saving a user's %gs, loading the kernel's and restoring it switches the data there and back",
        code32!([
            "mov eax, {tls}; mov gs, eax; mov edx, {s}; push gs; mov gs, edx; mov eax, gs:[4]",
            "mov [ebx + {r}], eax; pop gs; mov eax, gs:[4]; mov [ebx + {r} + 8], eax; mov eax, gs",
            "mov [ebx + {r} + 16], eax",
        ], tls = layout::TLS_SELECTOR, s = layout::PERCPU_SELECTOR, r = mailbox::RESULTS),
        Expect::Words(&[PERCPU_WORD, TLS_WORD, layout::TLS_SELECTOR as u64])
    },
    case! { Protected "null-selector-loads", "A null selector can be saved and restored",
        code32!([
            "xor eax, eax; mov gs, eax; mov edx, {s}; push gs; mov gs, edx; mov eax, gs:[4]",
            "mov [ebx + {r}], eax; pop gs; mov eax, gs; mov [ebx + {r} + 8], eax",
        ], s = layout::PERCPU_SELECTOR, r = mailbox::RESULTS), Expect::Words(&[PERCPU_WORD, 0])
    },
    case! { Protected "null-selector-faults", "An access by a null selector faults",
        code32!(["xor eax, eax; mov gs, eax; mov eax, gs:[4]"]), fault(GP, 0, 0)
    },
    case! { Protected "limit-faults", "An access behind the segment's limit faults",
        code32!(["mov eax, {s}; mov gs, eax; mov eax, gs:[0x1000]"], s = layout::PERCPU_SELECTOR), fault(GP, 0, 0)
    },
    case! { Protected "kernel-selector-in-ring-3", "Ring 3 cannot load the kernel's selector: the fault names it",
        code32!(["mov eax, {s}; mov gs, eax"], s = layout::PERCPU_SELECTOR), fault(GP, layout::PERCPU_SELECTOR as u32, 3),
        ring: Ring::User
    },
    case! { Protected "iret-nulls-kernel-selectors", "A return to ring 3 with the kernel's selector in %gs makes it null",
        code32!(["int {vector}; mov eax, gs; mov [ebx + {r}], eax"], vector = SYSTEM_CALL_VECTOR, r = mailbox::RESULTS),
        Expect::Words(&[0]), ring: Ring::User, gates: &[(SYSTEM_CALL_VECTOR, LEAVES_KERNEL_GS)]
    },
    case! { Protected "int80-keeps-gs",
        "A system call by INT 0x80 that saves, loads and restores %gs enters ring 0 with IF clear and keeps a user's %gs",
        calls!("int 0x80"), KEPT, ring: Ring::User, gates: &[(SYSTEM_CALL_VECTOR, CALL_BY_INT)]
    },
    case! { Protected "sysenter-keeps-gs", "A system call by SYSENTER and SYSEXIT does the same",
        calls!("call eax"), KEPT, ring: Ring::User, prepare: Some(SYSENTER_ON), handler: Some(CALL_BY_SYSENTER),
        needs: Some(Needs::Sysenter)
    },
    case! { Protected "int-without-a-gate-for-ring-3", "INT from ring 3 to a gate of ring 0 faults, and the fault names the vector",
        code32!(["int 0x40"]), fault(GP, 0x40 << 3 | 2, 3), ring: Ring::User
    },
];

/// Leaves the kernel's selector in %gs.
const LEAVES_KERNEL_GS: Code = code32!(["mov eax, {s}", "mov gs, eax", "iretd"], s = layout::PERCPU_SELECTOR);
