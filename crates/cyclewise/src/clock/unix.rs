//! Wall-clock times from instants: nanoseconds since 1970 by CLOCK_REALTIME.
//!
//! The kernel steers CLOCK_MONOTONIC and CLOCK_REALTIME by one rate, so their distance is constant until somebody sets the wall
//! clock, a leap second is inserted, or the machine was suspended. An [`UnixAnchor`] is that distance at one moment, a
//! [`WallClock`] looks for a new one every 100 ms. Neither drifts: the clock follows CLOCK_MONOTONIC. (A clock that is calibrated
//! once does: metrics-rs/quanta#99.)
//!
//! # Memory ordering
//! Relaxed: the words of a [`WallClock`] publish nothing else. Two threads may use the distances from before and after a step at
//! once.

use super::instant::Instant;
use super::order::Order;
use crate::sys::clock_gettime::{monotonic_ns, realtime_ns};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;

/// How far CLOCK_REALTIME was ahead of CLOCK_MONOTONIC at a moment.
///
/// It converts any instant, from before it was taken too. A step of the wall clock since is not in it: take a new one, or use a
/// [`WallClock`].
///
/// ```
/// use cyclewise::clock::{Instant, UnixAnchor};
///
/// let anchor = UnixAnchor::new();
/// let first = Instant::now();
/// let second = Instant::now();
/// assert!(first.as_unix_nanos(&anchor) <= second.as_unix_nanos(&anchor));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnixAnchor {
    /// Modulo 2^64: a wall clock may be set to before the machine's start.
    ahead_ns: u64,
    error_ns: u64,
}

/// Readings of which the narrowest is taken: one may be interrupted.
const TRIES: usize = 4;

impl UnixAnchor {
    /// Reads both clocks of the kernel.
    ///
    /// Cost: a dozen calls of the vDSO. Where the kernel's clocks are refused, instants are times since the machine's start.
    #[expect(clippy::new_without_default, reason = "it is a reading of clocks")]
    #[must_use]
    pub fn new() -> Self {
        let reading = |_| Self::between(monotonic_ns(), realtime_ns(), monotonic_ns());
        let narrowest = (0..TRIES).map(reading).min_by_key(|anchor| anchor.error_ns);
        narrowest.unwrap_or(Self {
            ahead_ns: 0,
            error_ns: 0,
        })
    }

    /// The anchor of a reading of the wall clock between two of the other.
    pub(super) fn between(before_ns: u64, realtime_ns: u64, after_ns: u64) -> Self {
        let width = after_ns.saturating_sub(before_ns);
        Self {
            ahead_ns: realtime_ns.wrapping_sub(before_ns + width / 2),
            error_ns: width.div_ceil(2),
        }
    }

    /// The largest error of the distance: half the time between the readings, tens of nanoseconds. An instant's own error
    /// ([`Reading`](super::Reading)) comes on top.
    #[must_use]
    pub fn error(&self) -> Duration {
        Duration::from_nanos(self.error_ns)
    }

    /// Whether the other is further away than both errors allow: the wall clock was set in between.
    #[must_use]
    pub fn is_stepped(&self, other: &Self) -> bool {
        let distance = self.ahead_ns.wrapping_sub(other.ahead_ns).cast_signed().unsigned_abs();
        distance > self.error_ns + other.error_ns
    }
}

impl<O: Order> Instant<O> {
    /// Nanoseconds since 1970 by CLOCK_REALTIME, as it was at the anchor. 0 for a time before that, until the year 2554.
    #[inline]
    #[must_use]
    pub fn as_unix_nanos(&self, anchor: &UnixAnchor) -> u64 {
        let ns = self.as_nanos().wrapping_add(anchor.ahead_ns);
        // More than half of all: less than nothing.
        if ns.cast_signed() < 0 && anchor.ahead_ns.cast_signed() < 0 {
            0
        } else {
            ns
        }
    }
}

/// How often a [`WallClock`] looks whether the wall clock was set.
const INTERVAL_NS: u64 = 100_000_000;

/// The wall clock, by the process's clock: CLOCK_REALTIME at the price of [`Instant::now`].
///
/// Where the wall clock is set, or the machine was suspended, it follows 100 ms later at most. It keeps its distance to
/// CLOCK_MONOTONIC otherwise, so that times of one thread do not step back by an error of measurement.
///
/// ```
/// use cyclewise::clock::WallClock;
///
/// static CLOCK: WallClock = WallClock::new();
/// let seconds = CLOCK.now() / 1_000_000_000;
/// println!("{seconds} s since 1970");
/// ```
#[derive(Debug)]
pub struct WallClock {
    ahead_ns: AtomicU64,
    error_ns: AtomicU64,
    /// When to look next, by CLOCK_MONOTONIC; 0 before the first reading.
    due_ns: AtomicU64,
}

impl WallClock {
    /// A clock that has not been read yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            ahead_ns: AtomicU64::new(0),
            error_ns: AtomicU64::new(0),
            due_ns: AtomicU64::new(0),
        }
    }

    /// Nanoseconds since 1970, now.
    ///
    /// Cost: that of [`Instant::now`] and three loads; once in 100 ms, that of an [`UnixAnchor`].
    #[inline]
    pub fn now(&self) -> u64 {
        let now = Instant::now();
        now.as_unix_nanos(&self.anchor(now))
    }

    /// The distance in use.
    #[inline]
    fn anchor(&self, now: Instant) -> UnixAnchor {
        if now.as_nanos() >= self.due_ns.load(Relaxed) {
            self.look_slow(now);
        }
        UnixAnchor {
            ahead_ns: self.ahead_ns.load(Relaxed),
            error_ns: self.error_ns.load(Relaxed),
        }
    }

    #[cold]
    fn look_slow(&self, now: Instant) {
        self.take(UnixAnchor::new());
        self.due_ns.store(now.as_nanos().saturating_add(INTERVAL_NS), Relaxed);
    }

    /// Uses the new distance, if it is another one.
    fn take(&self, new: UnixAnchor) {
        let old = UnixAnchor {
            ahead_ns: self.ahead_ns.load(Relaxed),
            error_ns: self.error_ns.load(Relaxed),
        };
        if self.due_ns.load(Relaxed) == 0 || new.is_stepped(&old) {
            self.ahead_ns.store(new.ahead_ns, Relaxed);
            self.error_ns.store(new.error_ns, Relaxed);
        }
    }
}

impl Default for WallClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests;
