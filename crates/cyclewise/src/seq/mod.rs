//! Sequence locks: readers store nothing. They copy, and see by a number whether the data changed meanwhile.
//!
//! | type | writers | a reader beside a writer that was preempted |
//! |---|---|---|
//! | [`SeqLock`] | one at a time, by the lock itself | waits, or gives up ([`SeqLock::try_read`]) |
//! | [`SeqCount`] | one at a time, by a lock of the caller's; the data are the caller's atomics | gives up, and takes that lock |
//! | [`SeqLatch`] | one at a time, by the latch itself | reads the copy that the writer does not change |
//!
//! ```
//! use cyclewise::seq::SeqLock;
//!
//! #[derive(Clone, Copy)]
//! struct Rate { numerator: u64, denominator: u64 }
//!
//! static RATE: SeqLock<Rate> = SeqLock::new(Rate { numerator: 1, denominator: 1 });
//!
//! RATE.write(Rate { numerator: 5, denominator: 2 });
//! let rate = RATE.read(); // Never 5 / 1.
//! # assert_eq!((rate.numerator, rate.denominator), (5, 2));
//! ```
//!
//! # Invariants
//! 1. A value is in words that are accessed atomically, one by one, by readers and writers alike. A copy of words of two values is not
//!    called a value before the number has shown that there was no writer.
//! 2. A word in memory has a value in each of its bytes, in those of a type's padding too.
//! 3. Numbers do not repeat: 64 bits are not used up.
//!
//! # Memory ordering
//! A reader sees what the writer of the value that it returns did before it wrote. A writer stores a number that no reader accepts, a
//! release fence, the words, and with Release the next number. A reader loads the number with Acquire, the words, and after an acquire fence
//! the number again.
//!
//! # Signal handlers, forks
//! A handler that interrupts a writer on its own thread would wait for it in [`SeqLock::read`] and in every write for ever: it calls
//! [`SeqLock::try_read`], or reads a [`SeqLatch`], where readers never wait. A child of fork that was made during another thread's write finds a
//! `SeqLock` as if its writer were preempted for ever; a `SeqLatch` can still be read.
//!
//! # Cost
//! A reading is two loads, two predictable branches and the copy. It writes nothing, so readers on any number of CPUs do not slow
//! each other. A writer takes a read-modify-write, two stores and the copy, for a latch the copy twice.
//!
//! # References
//! Linux include/linux/seqlock.h; H. Boehm, "Can seqlocks get along with programming language memory models?", MSPC 2012.

mod count;
mod latch;
mod lock;
pub(crate) mod sequence;
#[cfg(test)]
mod tests;
mod wait;
mod words;

pub use count::{SeqCount, SeqWriter};
pub use latch::SeqLatch;
pub use lock::SeqLock;
