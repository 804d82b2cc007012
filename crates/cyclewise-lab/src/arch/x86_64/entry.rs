//! Entering the kernel and a function, the dependent-add chain, and the two bodies that differ by exactly one percent.
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

use super::body::body;
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
