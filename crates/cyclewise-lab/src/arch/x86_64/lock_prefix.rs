//! Read-modify-writes of one word with a LOCK prefix (F0), a DS prefix (3E), a NOP (90) in its place, and none.
//!
//! XADD's register is not reloaded, as in the test of 2008 that this follows. CMPXCHG always succeeds: it finds the
//! value it expects and writes the same one back. The prefixes are bytes, because assemblers drop a DS that is the default.
//!
//! # References
//! M. Desnoyers, "x86: alternatives: fix LOCK_PREFIX race", 2008; Intel SDM vol. 2, 2.1.1 (prefixes), LOCK.
//!
//! # Safety
//! Each body writes the arena's first word only.
use crate::arch::Body;
use cyclewise_bench::body;

/// The loop alone: DEC and a taken branch.
pub const EMPTY: Body = body!("empty", 0, [], []);

/// The variant that the lab checks itself with.
pub const LOCK_INC64: Body = body!("lock-inc64", 32, [], ["lock inc qword ptr [rsi]"]);

/// The variants in the order of the table.
pub const BODIES: [Body; 13] = [
    EMPTY,
    body!(
        "nop-xadd32",
        32,
        ["mov eax, 1"],
        [".byte 0x90", "xadd dword ptr [rsi], eax"]
    ),
    body!(
        "ds-xadd32",
        32,
        ["mov eax, 1"],
        [".byte 0x3e", "xadd dword ptr [rsi], eax"]
    ),
    body!("lock-xadd32", 32, ["mov eax, 1"], ["lock xadd dword ptr [rsi], eax"]),
    body!(
        "nop-xadd64",
        32,
        ["mov eax, 1"],
        [".byte 0x90", "xadd qword ptr [rsi], rax"]
    ),
    body!(
        "ds-xadd64",
        32,
        ["mov eax, 1"],
        [".byte 0x3e", "xadd qword ptr [rsi], rax"]
    ),
    body!("lock-xadd64", 32, ["mov eax, 1"], ["lock xadd qword ptr [rsi], rax"]),
    body!("plain-inc64", 64, [], ["inc qword ptr [rsi]"]),
    body!("ds-inc64", 64, [], [".byte 0x3e", "inc qword ptr [rsi]"]),
    LOCK_INC64,
    body!(
        "ds-cmpxchg64",
        32,
        ["mov rax, [rsi]", "mov rcx, rax"],
        [".byte 0x3e", "cmpxchg qword ptr [rsi], rcx"]
    ),
    body!(
        "lock-cmpxchg64",
        32,
        ["mov rax, [rsi]", "mov rcx, rax"],
        ["lock cmpxchg qword ptr [rsi], rcx"]
    ),
    body!("xchg64", 32, ["mov eax, 1"], ["xchg qword ptr [rsi], rax"]),
];
