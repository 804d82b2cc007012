//! Tests that need what users cannot reach: the word, the slots, and the atomics that loom schedules.

#[cfg(not(loom))]
mod word;
