//! The time that an upkeep thread keeps, for readers that need no newer one.
//!
//! # States
//! One word: a time, and in its lowest bit whether a thread keeps it up to date. If none does, readers read the clock and
//! raise the word to what they read.
//!
//! # Invariants
//! 1. The time in the word never decreases, unless the kernel's clock was set back. (A child of fork starts with 0: its one thread reads
//!    the clock next.) The clock is read after the word that it is compared with.
//! 2. A reader that read the clock has raised the word to that time before it returns it.
//! 3. So a thread that read a time finds one that is not below it, whether from the word, whose values a thread sees in
//!    their order, or from the clock, which is never below a time that was read before.
//!
//! Without the second, a thread that reads the clock just before an upkeep thread publishes an older reading steps back.
//!
//! # Memory ordering
//! Relaxed: one word, that publishes nothing else.
//!
//! # Cost
//! While a thread keeps it, one load. Otherwise a reading of the clock and a read-modify-write of a word that all readers
//! share.

use super::segment::floor;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// Set while a thread keeps the word up to date.
const KEPT: u64 = 1;

/// What the protocol needs of its word: core's, or loom's in models.
pub(super) trait Word {
    fn load(&self) -> u64;
    /// Replaces the value by what `change` makes of it; returns the old one.
    fn change(&self, change: impl FnMut(u64) -> u64) -> u64;
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn load(&self) -> u64 {
        self.load(Relaxed)
    }

    fn change(&self, mut change: impl FnMut(u64) -> u64) -> u64 {
        let changed = self.fetch_update(Relaxed, Relaxed, |word| Some(change(word)));
        changed.unwrap_or_else(|word| word)
    }
}

/// A time that may be old.
pub(super) struct Recent<W = AtomicU64>(pub(super) W);

/// The word of the process's clock. It has a page of its own, which the kernel zeroes in children: those of `_Fork` and of clone(2) run no
/// atfork handler that could, and have the word's last time for good.
#[repr(C, align(4096))]
pub(super) struct OwnPage(pub(super) Recent);

pub(super) static OF_PROCESS: OwnPage = OwnPage(Recent(AtomicU64::new(0)));

impl<W: Word> Recent<W> {
    /// The time in the word, or `now` if no thread keeps it.
    #[inline(always)]
    pub(super) fn read(&self, now: impl Fn() -> u64) -> u64 {
        match self.0.load() {
            word if word & KEPT != 0 => word >> 1,
            _ => self.read_slow(now),
        }
    }

    #[cold]
    fn read_slow(&self, now: impl Fn() -> u64) -> u64 {
        let mut read = 0;
        self.0.change(|word| {
            read = raised(word, now());
            read << 1 | word & KEPT
        });
        read
    }

    /// Raises the word to a reading of the clock. From now on a thread keeps it.
    #[cfg(feature = "std")]
    pub(super) fn publish(&self, now: impl Fn() -> u64) {
        self.0.change(|word| raised(word, now()) << 1 | KEPT);
    }

    /// The thread that called `publish` does not any more. Where another does, readers read the clock until it has.
    #[cfg(feature = "std")]
    pub(super) fn abandon(&self) {
        self.0.change(|word| word & !KEPT);
    }

    #[cfg(all(test, feature = "std", not(loom)))]
    pub(super) fn is_kept(&self) -> bool {
        self.0.load() & KEPT != 0
    }
}

/// The word's time, or `now` if that is later, or the word's is from before the kernel's clock was set back. A time of more than 292
/// years is cut.
fn raised(word: u64, now: u64) -> u64 {
    let now = now.min(u64::MAX >> 1);
    now.max(floor(word >> 1, now))
}

#[cfg(all(test, feature = "std"))]
mod tests;
