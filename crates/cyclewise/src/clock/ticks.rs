//! A raw reading of the counter: the cheapest time stamp, to be converted later if at all.

use super::now::Clock;
use super::order::{LoadOrdered, Order};
use core::fmt;
use core::marker::PhantomData;

/// Ticks of the counter, read in the order `O`. [`Clock::between`](super::Clock::between) converts two of them to a
/// duration.
///
/// Unlike an [`Instant`](super::Instant) it is not checked: it may go back if the counter does, after a suspend or on a
/// machine whose counter the kernel does not trust.
pub struct Ticks<O: Order = LoadOrdered> {
    raw: u64,
    order: PhantomData<fn() -> O>,
}

impl Ticks {
    /// The machine's counter, load-ordered.
    #[inline(always)]
    pub fn now() -> Self {
        Self::read()
    }
}

impl<O: Order> Ticks<O> {
    /// The machine's counter, in the order `O`.
    #[inline(always)]
    pub fn read() -> Self {
        Clock::process().ticks()
    }

    #[inline(always)]
    pub(super) fn from_raw(raw: u64) -> Self {
        Self {
            raw,
            order: PhantomData,
        }
    }

    /// The count.
    #[inline(always)]
    pub fn raw(self) -> u64 {
        self.raw
    }
}

impl<O: Order> Clone for Ticks<O> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<O: Order> Copy for Ticks<O> {}

impl<O: Order> PartialEq for Ticks<O> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<O: Order> Eq for Ticks<O> {}

impl<O: Order> PartialOrd for Ticks<O> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<O: Order> Ord for Ticks<O> {
    #[inline]
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.raw.cmp(&other.raw)
    }
}

impl<O: Order> fmt::Debug for Ticks<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ticks").field(&self.raw).finish()
    }
}
