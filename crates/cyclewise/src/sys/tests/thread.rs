//! Tokens of threads.

use crate::sys::thread::*;
use std::collections::HashSet;

/// Threads at every power of two from each other, as pools and arenas lay out stacks; 32 bits cut from the address repeat.
#[test]
fn threads_that_are_gibibytes_apart_have_tokens_of_their_own() {
    const FIRST: u64 = 0x7000_0000_06c0;
    for apart in 12..44 {
        let threads = || (0..1_u64 << (46 - apart).min(12)).map(|n| FIRST + (n << apart));
        let tokens: HashSet<_> = threads().map(mixed).collect();
        assert_eq!(tokens.len(), threads().count(), "2^{apart} bytes apart");
    }
    // The twin.
    let cut = |thread: u64| (thread >> 4) as u32;
    assert_eq!(cut(FIRST), cut(FIRST + (64 << 30)));
    assert_ne!(mixed(FIRST), mixed(FIRST + (64 << 30)));
}
