//! The compiled code length of operations written in Rust.

use crate::arch::program_counter;

/// Bytes that a second copy of the operation adds to the first: its straight path, without called functions and cold
/// code. `None` if the compiler has placed other code in between.
///
/// Runs the operation.
pub fn code_bytes(operation: impl Fn() + Copy) -> Option<u32> {
    let bytes = twice(operation).checked_sub(once(operation)?)?;
    u32::try_from(bytes).ok().filter(|&bytes| bytes > 0)
}

#[inline(never)]
fn once(operation: impl Fn()) -> Option<usize> {
    let from = program_counter();
    operation();
    program_counter().checked_sub(from)
}

#[inline(never)]
fn twice(operation: impl Fn()) -> usize {
    let from = program_counter();
    operation();
    operation();
    program_counter().saturating_sub(from)
}
