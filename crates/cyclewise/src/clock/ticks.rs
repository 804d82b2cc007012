//! A raw reading of the counter: the cheapest time stamp, to be converted later if at all.

use super::order::{LoadOrdered, Order, comparable};
use core::fmt;
use core::marker::PhantomData;

/// Ticks of the counter, read in the order `O`. [`Clock::between`](super::Clock::between) converts two of them to a
/// duration, [`Clock::conversion`](super::Clock::conversion) any number of them to times.
///
/// Unlike an [`Instant`](super::Instant) it is not checked: it may go back if the counter does, after a suspend or on a
/// machine whose counter the kernel does not trust.
///
/// # Examples
/// ```
/// use cyclewise::clock::{Clock, Ticks};
///
/// let (start, end) = (Ticks::now(), Ticks::now());
/// // `None` while the rate of the counter is not known.
/// if let Some(elapsed) = Clock::process().between(start, end) {
///     println!("{elapsed:?}");
/// }
/// ```
pub struct Ticks<O: Order = LoadOrdered> {
    raw: u64,
    order: PhantomData<fn() -> O>,
}

impl<O: Order> Ticks<O> {
    /// A count that was read before, in the order `O`: [`raw`](Self::raw) of another program's part, or one that was stored. A
    /// number that was never read makes a time without meaning, and nothing worse.
    #[inline(always)]
    pub fn from_raw(raw: u64) -> Self {
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

comparable!(Ticks, raw);

impl<O: Order> fmt::Debug for Ticks<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ticks").field(&self.raw).finish()
    }
}
