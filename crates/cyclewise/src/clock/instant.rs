//! A time of the clock, with the interface of `std::time::Instant`.

use super::order::{LoadOrdered, Order, comparable};
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Add, AddAssign, Sub, SubAssign};
use core::time::Duration;

/// Nanoseconds of CLOCK_MONOTONIC as the clock tracks it, read in the order `O`.
///
/// 8 bytes. Only instants of the same order can be compared: what two threads may conclude from a comparison is part of
/// the type. Negative differences are zero, as in std.
pub struct Instant<O: Order = LoadOrdered> {
    ns: u64,
    order: PhantomData<fn() -> O>,
}

/// A time and its error bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading<O: Order = LoadOrdered> {
    /// The time.
    pub instant: Instant<O>,
    /// The largest distance from CLOCK_MONOTONIC, in either direction.
    pub error: Duration,
}

impl<O: Order> Instant<O> {
    #[inline(always)]
    pub(super) fn from_ns(ns: u64) -> Self {
        Self { ns, order: PhantomData }
    }

    /// Nanoseconds of CLOCK_MONOTONIC.
    #[inline]
    pub fn as_nanos(self) -> u64 {
        self.ns
    }

    /// The time from `earlier` to this; zero if `earlier` is later.
    #[inline]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// The time from `earlier` to this; `None` if `earlier` is later.
    #[inline]
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.ns.checked_sub(earlier.ns).map(Duration::from_nanos)
    }

    /// The time from `earlier` to this; zero if `earlier` is later.
    #[inline]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        Duration::from_nanos(self.ns.saturating_sub(earlier.ns))
    }

    /// This plus `duration`; `None` if that is more than 584 years after the machine's start.
    #[inline]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        let ns = u64::try_from(duration.as_nanos()).ok()?;
        self.ns.checked_add(ns).map(Self::from_ns)
    }

    /// This minus `duration`; `None` if that is before the machine's start.
    #[inline]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        let ns = u64::try_from(duration.as_nanos()).ok()?;
        self.ns.checked_sub(ns).map(Self::from_ns)
    }
}

comparable!(Instant, ns);

impl<O: Order> core::hash::Hash for Instant<O> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.ns.hash(state);
    }
}

impl<O: Order> fmt::Debug for Instant<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instant").field(&Duration::from_nanos(self.ns)).finish()
    }
}

impl<O: Order> Sub for Instant<O> {
    type Output = Duration;

    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}

impl<O: Order> Add<Duration> for Instant<O> {
    type Output = Self;

    /// # Panics
    /// If the sum is more than 584 years after the machine's start; std panics at its own limit.
    #[inline]
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration)
            .expect("overflow when adding duration to instant")
    }
}

impl<O: Order> Sub<Duration> for Instant<O> {
    type Output = Self;

    /// # Panics
    /// If the difference is before the machine's start; std panics at its own limit.
    #[inline]
    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration)
            .expect("overflow when subtracting duration from instant")
    }
}

impl<O: Order> AddAssign<Duration> for Instant<O> {
    #[inline]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl<O: Order> SubAssign<Duration> for Instant<O> {
    #[inline]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}
