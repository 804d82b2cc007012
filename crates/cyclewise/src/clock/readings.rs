//! What is read of the process's clock without naming it.

use super::instant::Instant;
use super::now::Clock;
use super::order::Order;
use super::ticks::Ticks;
use core::time::Duration;

impl Instant {
    /// The time on the process's clock, load-ordered.
    ///
    /// Never below an earlier reading on any thread, if that reading happened before this one.
    ///
    /// Cost: reading the counter, seven loads and a multiplication. Once in 3 ms one reader also reads the kernel's
    /// clock.
    #[inline(always)]
    pub fn now() -> Self {
        Self::read()
    }

    /// A time of the process's clock that may be old, by one load: [`Clock::recent`].
    #[inline(always)]
    pub fn recent() -> Self {
        Clock::process().recent()
    }
}

impl<O: Order> Instant<O> {
    /// The time on the process's clock, in the order `O`.
    #[inline(always)]
    pub fn read() -> Self {
        Clock::process().now_as()
    }

    /// The time since this instant, on the process's clock.
    #[inline]
    pub fn elapsed(&self) -> Duration {
        Self::read().duration_since(*self)
    }
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
}
