//! LOCK prefixes in ring 0: the same bodies as in user mode, of which nothing should differ.
//!
//! # References
//! M. Desnoyers, "x86: alternatives: fix LOCK_PREFIX race", 2008.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use crate::arch::code::{Code, code64};
use crate::arch::payload::{Mode, Payload, payload};

const ONE: Code = code64!(["mov eax, 1"]);
const NOTHING: Code = Code::NOTHING;
const EXPECTED: Code = code64!(["mov rax, [rsi]", "mov rcx, rax"]);

/// The payloads, in the order of the table.
pub static PAYLOADS: [Payload; 12] = [
    payload! { Long "nop-xadd32", 32, ONE, code64!([".byte 0x90; xadd dword ptr [rsi], eax"]) },
    payload! { Long "ds-xadd32", 32, ONE, code64!([".byte 0x3e; xadd dword ptr [rsi], eax"]) },
    payload! { Long "lock-xadd32", 32, ONE, code64!(["lock xadd dword ptr [rsi], eax"]) },
    payload! { Long "nop-xadd64", 32, ONE, code64!([".byte 0x90; xadd qword ptr [rsi], rax"]) },
    payload! { Long "ds-xadd64", 32, ONE, code64!([".byte 0x3e; xadd qword ptr [rsi], rax"]) },
    payload! { Long "lock-xadd64", 32, ONE, code64!(["lock xadd qword ptr [rsi], rax"]) },
    payload! { Long "plain-inc64", 64, NOTHING, code64!(["inc qword ptr [rsi]"]) },
    payload! { Long "ds-inc64", 64, NOTHING, code64!([".byte 0x3e; inc qword ptr [rsi]"]) },
    payload! { Long "lock-inc64", 32, NOTHING, code64!(["lock inc qword ptr [rsi]"]) },
    payload! { Long "ds-cmpxchg64", 32, EXPECTED, code64!([".byte 0x3e; cmpxchg qword ptr [rsi], rcx"]) },
    payload! { Long "lock-cmpxchg64", 32, EXPECTED, code64!(["lock cmpxchg qword ptr [rsi], rcx"]) },
    payload! { Long "xchg64", 32, ONE, code64!(["xchg qword ptr [rsi], rax"]) },
];
