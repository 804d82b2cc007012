//! The counterpart without std, where a thread keeps nothing.

use crate::percpu::slot_locks::PORTABLE;

/// A slot chosen by the thread's stack: without std nothing else tells threads apart.
pub(in crate::percpu) fn preferred() -> usize {
    let local = 0u8;
    let stack = (&raw const local).addr() >> 16; // smaller than the smallest stack
    // Fibonacci hashing, so that neighbouring stacks differ.
    (stack as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(16) as usize % PORTABLE
}

pub(in crate::percpu) fn prefer(_: usize) {}

/// Not 0. No code here needs to tell threads apart, since no atfork handler runs.
pub(in crate::percpu) fn number() -> u64 {
    1
}
