//! Entering the kernel and a function, the dependent-add chain, and pairs of bodies that differ by exactly one percent.
//!
//! The chain adds a register, not an immediate: since Golden Cove, adds of small immediates are folded at rename and
//! take no cycle. A dependent register add takes one cycle on every x86-64 CPU, so the chain counts core cycles.
//!
//! # References
//! L. McVoy, C. Staelin, "lmbench", 1996 (null syscall); T. Downs, uarch-bench (calibration by an add chain).
//!
//! # Safety
//! getppid (110) takes no argument and writes rax, rcx and r11; calls are balanced by returns.
#![expect(unsafe_code, reason = "naked functions")]

use crate::arch::Body;

/// The cheapest system call that does something: getppid.
pub const GETPPID: Body = body!("getppid", 4, [], ["mov eax, 110", "syscall"]);

/// A call of a function that only returns.
pub const FUNCTION_CALL: Body = body!("function-call", 32, [], ["call 6f"], after [".p2align 4", "6:", "ret"]);

/// One core cycle each.
pub const ADD_CHAIN: Body = body!("add-chain", 128, ["mov r9d, 1"], ["add r8, r9"]);

/// One hundred dependent adds.
pub const ADDS_100: Body = body!("adds-100", 4, ["mov r9d, 1"], [".rept 100", "add r8, r9", ".endr"]);

/// One hundred and one: exactly one percent slower.
pub const ADDS_101: Body = body!("adds-101", 4, ["mov r9d, 1"], [".rept 101", "add r8, r9", ".endr"]);

/// Two chains of a hundred adds, independent of each other: one hundred cycles, or more where only one runs at once.
pub const CHAINS_100: Body = body!(
    "chains-100",
    1,
    ["mov r9d, 1"],
    [".rept 100", "add r8, r9", "add r10, r9", ".endr"]
);

/// Two of a hundred and one: exactly one percent more of the same work.
pub const CHAINS_101: Body = body!(
    "chains-101",
    1,
    ["mov r9d, 1"],
    [".rept 101", "add r8, r9", "add r10, r9", ".endr"]
);

/// One hundred calls of a function with a locked read-modify-write.
pub const RMW_CALLS_100: Body = body!(
    "rmw-calls-100",
    1,
    [],
    [".rept 100", "call 6f", ".endr"],
    after [".p2align 4", "6:", "lock inc qword ptr [rsi]", "ret"]
);

/// One hundred and one: exactly one percent more of the same work.
pub const RMW_CALLS_101: Body = body!(
    "rmw-calls-101",
    1,
    [],
    [".rept 101", "call 6f", ".endr"],
    after [".p2align 4", "6:", "lock inc qword ptr [rsi]", "ret"]
);
