//! %gs of long mode: bases, SWAPGS, and system calls by instruction.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::super::percpu64::{BASES, SYSCALL_ON};
use super::{GP, case, fault};
use crate::arch::case::{Case, Expect};
use crate::arch::code::{Code, code64};
use crate::arch::payload::{Mode, Needs, Payload, Ring, payload};
use crate::layout::{self, mailbox};

/// The word that the CPU's data and a user's data have at offset 4.
const PERCPU_WORD: u64 = 0x1234_5678;
const TLS_WORD: u64 = 0x0bad_cafe;

pub(crate) static SEGMENTS64: [Case; 6] = [
    case! { Long "swapgs-exchanges", "SWAPGS exchanges %gs's base for the other one, and back",
        code64!([
            "mov eax, gs:[4]; mov [rbx + {r}], rax; swapgs; mov eax, gs:[4]; mov [rbx + {r} + 8], rax; swapgs",
            "mov eax, gs:[4]; mov [rbx + {r} + 16], rax",
        ], r = mailbox::RESULTS), Expect::Words(&[PERCPU_WORD, TLS_WORD, PERCPU_WORD]), prepare: Some(BASES)
    },
    case! { Long "wrgsbase-is-wrmsr", "WRGSBASE and WRMSR set the same base, and RDGSBASE reads it",
        code64!([
            "mov r8d, {user}; wrgsbase r8; mov eax, gs:[4]; mov [rbx + {r}], rax; mov ecx, 0xc0000101",
            "mov eax, {percpu}; xor edx, edx; wrmsr; mov eax, gs:[4]; mov [rbx + {r} + 8], rax; rdgsbase r8",
            "mov [rbx + {r} + 16], r8",
        ], user = layout::USER_TLS, percpu = layout::PERCPU, r = mailbox::RESULTS),
        Expect::Words(&[TLS_WORD, PERCPU_WORD, layout::PERCPU]), prepare: Some(BASES), needs: Some(Needs::FsGsBase)
    },
    case! { Long "syscall-sysret", "SYSCALL enters ring 0 with IF clear, and SYSRET returns to ring 3 behind it",
        code64!(["syscall; mov eax, cs; mov [rbx + {r} + 16], rax; mov eax, ss; mov [rbx + {r} + 24], rax"], r = mailbox::RESULTS),
        Expect::Words(&[layout::KERNEL_CS as u64, 0, layout::USER_CS as u64, layout::USER_DS as u64]), ring: Ring::User,
        prepare: Some(SYSCALL_ON),
        handler: Some(code64!([
            "mov eax, cs; mov [rbx + {r}], rax; lea rsp, [rbx + 0xf00]; pushfq; pop rax; and eax, 0x200",
            "mov [rbx + {r} + 8], rax; mov esp, {stack} - 8; sysretq",
        ], r = mailbox::RESULTS, stack = layout::USER_STACK_TOP))
    },
    case! { Long "syscall-swapgs-sysret", "SWAPGS at entry and exit gives the kernel its data and the user its own",
        code64!([
            "mov eax, gs:[4]; mov [rbx + {r}], rax; syscall; mov eax, gs:[4]; mov [rbx + {r} + 16], rax",
        ], r = mailbox::RESULTS), Expect::Words(&[TLS_WORD, PERCPU_WORD, TLS_WORD]), ring: Ring::User,
        prepare: Some(SYSCALL_ON),
        handler: Some(code64!(["swapgs; mov eax, gs:[4]; mov [rbx + {r} + 8], rax; swapgs; sysretq"], r = mailbox::RESULTS))
    },
    case! { Long "swapgs-in-ring-3", "SWAPGS in ring 3 faults", code64!(["swapgs"]), fault(GP, 0, 3), ring: Ring::User },
    case! { Long "wrmsr-in-ring-3", "WRMSR in ring 3 faults",
        code64!(["mov ecx, 0xc0000101; xor eax, eax; xor edx, edx; wrmsr"]), fault(GP, 0, 3), ring: Ring::User
    },
];
