//! Which words of one cache line threads use soon after each other: a hint at false sharing.
//!
//! Threads write the table without a lock. One that overwrites another's use loses a tick of a count that nothing but a hint rests on.

use crate::layout::{LINE, SOON_NS, Word};
use crate::memory::bump;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// The last use of a line that falls into the entry.
struct LastUse {
    address: AtomicU64,
    thread: AtomicU32,
    at_ns: AtomicU64,
}

static LAST: [LastUse; 4096] = [const {
    LastUse {
        address: AtomicU64::new(0),
        thread: AtomicU32::new(0),
        at_ns: AtomicU64::new(0),
    }
}; 4096];
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A thread used the word at the address: counts it where another one used its line just before.
pub fn used(word: &Word, thread: u32, address: u64) {
    let line = address / LINE;
    let last = &LAST[entry(line)];
    let now = u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let before = last.address.load(Ordering::Relaxed);
    let other = last.thread.load(Ordering::Relaxed);
    let is_soon = now.saturating_sub(last.at_ns.load(Ordering::Relaxed)) < SOON_NS;
    last.address.store(address, Ordering::Relaxed);
    last.thread.store(thread, Ordering::Relaxed);
    last.at_ns.store(now, Ordering::Relaxed);
    if before / LINE == line && other != thread && is_soon {
        let soon = if before == address {
            &word.soon_same
        } else {
            &word.soon_beside
        };
        bump(soon, 1);
    }
}

/// The line's entry: not that of a neighbour, which is often used beside it.
fn entry(line: u64) -> usize {
    (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize // Fibonacci hashing: Knuth, volume 3, 6.4.
}

#[cfg(test)]
mod tests {
    use super::entry;
    use std::collections::HashSet;

    #[test]
    fn neighbours_have_entries_of_their_own() {
        for first in [0, 0x7f12_3456_7890_u64] {
            let entries: HashSet<usize> = (first..first + 64).map(entry).collect();
            assert_eq!(entries.len(), 64);
        }
    }
}
