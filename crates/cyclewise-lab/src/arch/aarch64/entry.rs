//! Entering the kernel and a function, the dependent-add chain, and the two bodies that differ by exactly one percent.
//!
//! # References
//! L. McVoy, C. Staelin, "lmbench", 1996 (null syscall); T. Downs, uarch-bench (calibration by an add chain).
//!
//! # Safety
//! getppid (173) takes no argument and writes x0; calls are balanced by returns.
#![expect(unsafe_code, reason = "naked functions")]

use super::body::body;
use crate::arch::Body;

/// The cheapest system call that does something: getppid.
pub const GETPPID: Body = body!("getppid", 4, [], ["mov x8, #173", "svc #0"]);

/// A call of a function that only returns.
pub const FUNCTION_CALL: Body = body!("function-call", 32, [], ["bl 6f"], after [".p2align 4", "6:", "ret"]);

/// One core cycle each.
pub const ADD_CHAIN: Body = body!("add-chain", 128, ["mov x9, #1"], ["add x8, x8, x9"]);

/// One hundred dependent adds.
pub const ADDS_100: Body = body!("adds-100", 4, ["mov x9, #1"], [".rept 100", "add x8, x8, x9", ".endr"]);

/// One hundred and one: exactly one percent slower.
pub const ADDS_101: Body = body!("adds-101", 4, ["mov x9, #1"], [".rept 101", "add x8, x8, x9", ".endr"]);
