//! [`Gauge`]: a number that goes up and down by additions on each CPU, and that can be set.
//!
//! [`Counter`](super::Counter) is for sums that are read often; this is for those that are read by a collector now and then, or set.
//!
//! # Invariants
//! 1. The value is `base` and the words of all slots. Additions change the words, [`set`](Gauge::set) only `base`: by the difference of what it reads,
//!    so that no addition can be lost. An addition on a CPU whose word `set` has read is before it, any other is after it.
//!
//! # Memory ordering
//! None for the caller: the number orders nothing. A thread sees its own additions.
//!
//! # Signals, forks, threads
//! A signal handler may use it, if it is not the first to add. A child of a fork goes on from the number as it was.
//!
//! # Cost
//! An addition is that of a [`PerCpu`](super::PerCpu). `get` and `set` read a word for each CPU that this kernel can have.

#[cfg(all(test, feature = "std"))]
mod tests;

use super::lazy::Lazy;
use crate::arch::Cpu;
use crate::error::Refusal;
use core::sync::atomic::{AtomicI64, Ordering};

/// A number that every CPU can change cheaply. Its words are allocated at the first addition, so it can be a static:
///
/// ```
/// use cyclewise::percpu::Gauge;
///
/// static CONNECTIONS: Gauge = Gauge::new(0);
///
/// CONNECTIONS.add(3);
/// CONNECTIONS.dec();
/// assert_eq!(CONNECTIONS.get(), 2);
/// CONNECTIONS.set(10);
/// assert_eq!(CONNECTIONS.get(), 10);
/// ```
#[derive(Debug)]
pub struct Gauge {
    words: Lazy<i64, Cpu>,
    base: AtomicI64,
}

/// What the protocol needs of the words, which the models replace.
trait Parts {
    /// The sum of all slots' words, each at some moment.
    fn sum(&self) -> i64;
    fn base(&self) -> i64;
    fn set_base(&self, base: i64);
}

fn get(parts: &impl Parts) -> i64 {
    parts.base().wrapping_add(parts.sum())
}

fn set(parts: &impl Parts, value: i64) {
    parts.set_base(value.wrapping_sub(parts.sum()));
}

impl Parts for Gauge {
    fn sum(&self) -> i64 {
        match self.words.allocated() {
            Some(_) => self.words.get().sum(),
            None => 0,
        }
    }

    fn base(&self) -> i64 {
        // Relaxed, here and below: a number, which orders nothing.
        self.base.load(Ordering::Relaxed)
    }

    fn set_base(&self, base: i64) {
        self.base.store(base, Ordering::Relaxed);
    }
}

impl Gauge {
    /// A gauge that starts at `value`.
    #[must_use]
    pub const fn new(value: i64) -> Self {
        Self {
            words: Lazy::new(),
            base: AtomicI64::new(value),
        }
    }

    /// Allocates the words now, so that no addition has to.
    ///
    /// # Errors
    /// As of [`PerCpu::try_new`](super::PerCpu::try_new).
    pub fn try_allocate(&self) -> Result<(), Refusal> {
        self.words.try_allocate()
    }

    /// Adds, and wraps around.
    #[inline(always)]
    pub fn add(&self, amount: i64) {
        self.words.get().add(amount);
    }

    /// Adds one.
    #[inline(always)]
    pub fn inc(&self) {
        self.add(1);
    }

    /// Subtracts one.
    #[inline(always)]
    pub fn dec(&self) {
        self.add(-1);
    }

    /// The number: exact for all additions that happened before; a concurrent one may be included or not.
    #[must_use]
    pub fn get(&self) -> i64 {
        get(self)
    }

    /// Sets the number. A concurrent addition is before or after it, and never lost in part; of two concurrent sets one is the last.
    pub fn set(&self, value: i64) {
        set(self, value);
    }
}

impl Default for Gauge {
    fn default() -> Self {
        Self::new(0)
    }
}
