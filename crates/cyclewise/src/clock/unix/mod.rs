//! Wall-clock times from instants: nanoseconds since 1970 by CLOCK_REALTIME.
//!
//! The kernel steers CLOCK_MONOTONIC and CLOCK_REALTIME by one rate, so their distance is constant until somebody sets the wall
//! clock, a leap second is inserted, or the machine was suspended. An [`UnixAnchor`] is that distance at one moment, a
//! [`WallClock`] looks for a new one every 100 ms. Neither drifts: the clock follows CLOCK_MONOTONIC. (A clock that is calibrated
//! once does: metrics-rs/quanta#99.)
//!
mod wall;

use super::instant::Instant;
use super::order::Order;
use crate::sys::clock_gettime::{known_monotonic_ns, known_realtime_ns};
use core::time::Duration;
pub use wall::WallClock;

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
    /// `UNKNOWN_NS` where the kernel's clocks are refused.
    error_ns: u64,
}

const UNKNOWN_NS: u64 = u64::MAX;

/// Readings of which the narrowest is taken: one may be interrupted.
const TRIES: usize = 4;

impl UnixAnchor {
    /// Reads both clocks of the kernel.
    ///
    /// Cost: a dozen calls of the vDSO. Where the kernel's clocks are refused, instants are times since the machine's start, and
    /// [`error`](Self::error) says so.
    #[expect(clippy::new_without_default, reason = "it is a reading of clocks")]
    #[must_use]
    pub fn new() -> Self {
        Self::narrowest(|| {
            let before_ns = known_monotonic_ns()?;
            let realtime_ns = known_realtime_ns()?;
            Some(Self::between(before_ns, realtime_ns, known_monotonic_ns()?))
        })
    }

    /// The narrowest of some readings that are not refused.
    fn narrowest(reading: impl Fn() -> Option<Self>) -> Self {
        let narrowest = (0..TRIES)
            .filter_map(|_| reading())
            .min_by_key(|anchor| anchor.error_ns);
        narrowest.unwrap_or(Self {
            ahead_ns: 0,
            error_ns: UNKNOWN_NS,
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
    /// ([`Reading`](super::Reading)) comes on top. [`Duration::MAX`] where the kernel's clocks were refused.
    #[must_use]
    pub fn error(&self) -> Duration {
        match self.error_ns {
            UNKNOWN_NS => Duration::MAX,
            known => Duration::from_nanos(known),
        }
    }

    /// Whether the other is further away than both errors allow: the wall clock was set in between.
    #[must_use]
    pub fn is_stepped(&self, other: &Self) -> bool {
        let distance = self.ahead_ns.wrapping_sub(other.ahead_ns).cast_signed().unsigned_abs();
        distance > self.error_ns.saturating_add(other.error_ns)
    }
}

impl<O: Order> Instant<O> {
    /// Nanoseconds since 1970 by CLOCK_REALTIME, as it was at the anchor. 0 for a time before that. Right for anchors taken until
    /// April 2262, where the kernel's nanoseconds end too.
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

#[cfg(all(test, feature = "std", not(loom)))]
mod tests;
