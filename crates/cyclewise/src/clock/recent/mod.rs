//! The time that an upkeep thread keeps, for readers that need no newer one.
//!
//! # States
//! One word: a time, and in its lowest bit whether a thread keeps it up to date. If none does, readers read the clock and
//! raise the word to what they read.
//!
//! # Invariants
//! 1. The time in the word never decreases, unless the kernel's clock was set back. (A child of fork starts with 0: its one thread reads
//!    the clock next.) The clock is read after the word that it is compared with first. A word that others have raised meanwhile is not
//!    compared with that reading to find out whether the kernel's clock was set back: who was preempted in between may be far behind it.
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
//! share. The clock is read once. The read-modify-write fails where another thread has changed the word meanwhile, and is tried again only
//! while the word is below what was read: once at most for each reader that had read the clock before, and each upkeep thread that begins
//! or ends.

use super::segment::floor;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// Set while a thread keeps the word up to date.
const KEPT: u64 = 1;

/// What the protocol needs of its word: core's, or loom's in models.
pub(super) trait Word {
    fn load(&self) -> u64;
    /// Stores `new` if the word is `old`; else gives what was found.
    fn replace(&self, old: u64, new: u64) -> Result<(), u64>;
    fn set(&self, bits: u64);
    fn clear(&self, bits: u64);
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn load(&self) -> u64 {
        self.load(Relaxed)
    }

    fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange(old, new, Relaxed, Relaxed).map(drop)
    }

    fn set(&self, bits: u64) {
        self.fetch_or(bits, Relaxed);
    }

    fn clear(&self, bits: u64) {
        self.fetch_and(!bits, Relaxed);
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
            _ => self.raise(now),
        }
    }

    /// Raises the word to a reading of the clock, and gives the time that it has then.
    #[cold]
    fn raise(&self, now: impl Fn() -> u64) -> u64 {
        let mut word = self.0.load();
        let read = raised(word, now());
        while let Err(found) = self.0.replace(word, read << 1 | word & KEPT) {
            // Raised past it by a later reading.
            if found >> 1 >= read {
                return found >> 1;
            }
            word = found;
        }
        read
    }

    /// Raises the word to a reading of the clock. From now on a thread keeps it.
    pub(super) fn publish(&self, now: impl Fn() -> u64) {
        self.raise(now);
        self.0.set(KEPT);
    }

    /// The thread that called `publish` does not any more. Where another does, readers read the clock until it has.
    pub(super) fn abandon(&self) {
        self.0.clear(KEPT);
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
