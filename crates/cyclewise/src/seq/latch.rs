//! A value in two copies, of which the writer changes one at a time.
//!
//! # States
//! The number's lowest bit says which copy is read. The writer makes it odd, and readers take the second copy, which has the earlier
//! value; writes the first; makes it even, and writes the second. A free latch is even.
//!
//! # Safety
//! 1. A copy's words change only under numbers by which readers take the other copy.
#![expect(unsafe_code, reason = "a copy of words is called a value where the number says so")]

use super::sequence::Sequence;
use super::wait::wait;
use super::words::Words;
use core::fmt;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A value that can be read at any moment: in a signal handler that interrupts its writer, and beside a writer that was preempted.
///
/// A reader begins again only if writers have made progress meanwhile.
///
/// # Examples
/// ```
/// use cyclewise::seq::SeqLatch;
///
/// let rate = SeqLatch::new([1_u64, 1]);
/// rate.write([5, 2]);
/// assert_eq!(rate.read(), [5, 2]);
/// ```
#[doc(alias = "seqcount_latch_t")]
pub struct SeqLatch<T> {
    sequence: Sequence,
    is_written: AtomicBool,
    copies: [Words<T>; 2],
}

impl<T: Copy> SeqLatch<T> {
    /// A latch that holds `value`.
    pub fn new(value: T) -> Self {
        let copies = [Words::new(value), Words::new(value)];
        copies.iter().for_each(|copy| copy.store(value));
        Self {
            sequence: Sequence::new(0),
            is_written: AtomicBool::new(false),
            copies,
        }
    }

    /// The value. Waits for nobody.
    #[inline]
    pub fn read(&self) -> T {
        loop {
            let number = self.sequence.load();
            let copied = self.copies[number as usize % 2].load();
            if self.sequence.is_still(number) {
                // SAFETY: it did not change under this number (Safety 1), so all words are of one value.
                return unsafe { copied.value() };
            }
        }
    }

    /// Replaces the value. Waits for another writer: not for a handler that may have interrupted one.
    pub fn write(&self, value: T) {
        let mut attempt = 0;
        while self.try_write(value).is_err() {
            attempt = wait(attempt);
        }
    }

    /// Replaces the value.
    ///
    /// # Errors
    /// The value, if a writer is there: another thread's, or the one that the calling handler interrupted.
    pub fn try_write(&self, value: T) -> Result<(), T> {
        self.write_in_steps(value, || ())
    }

    /// Calls `step` between any two stores of the numbers.
    pub(super) fn write_in_steps(&self, value: T, step: impl Fn()) -> Result<(), T> {
        // Acquire: pairs with the Release below.
        if self.is_written.load(Relaxed) || self.is_written.swap(true, Acquire) {
            return Err(value);
        }
        let number = self.sequence.load();
        for (next, copy) in (number + 1..).zip(&self.copies) {
            step();
            self.sequence.advance(next);
            step();
            copy.store(value);
        }
        step();
        self.is_written.store(false, Release);
        Ok(())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for SeqLatch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SeqLatch").field(&self.read()).finish()
    }
}
