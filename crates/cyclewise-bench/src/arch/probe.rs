//! The probe: a loop of DEC or SUBS and a taken branch, which every x86-64 CPU, and an AArch64 core, can run in one cycle.
//!
//! It touches no memory, so it does not depend on what was measured before. Where the core has a second hardware thread,
//! a busy sibling thread takes slots of the front end and of the branch unit from it.
//!
//! # Safety
//! The loop writes registers only.
#![expect(unsafe_code, reason = "a naked function and its call")]

looped!(count_down, 0, [], []);

/// Runs `iterations` of the loop; at least one.
#[inline(always)]
pub fn run(iterations: u64) {
    // SAFETY: the loop has no copies, so it does not use the arena.
    unsafe { count_down(iterations.max(1), core::ptr::null_mut()) };
}
