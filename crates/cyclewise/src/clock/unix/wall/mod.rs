//! The wall clock at the price of an instant: a distance to CLOCK_MONOTONIC that is looked at again every 100 ms.
//!
//! # Invariants
//! 1. A reading never uses a distance that was not measured: a word without one says so itself.
//! 2. Of the threads that find the look due at once, one looks. The others use the distance in use, or at first one of their own.
//! 3. Who was delayed in a look for longer than the interval, while another looked, drops what it has measured.
//!
//! A look holds nothing: where its thread is stopped, or is not in a forked child, the next one is due all the same. A thread that is
//! stopped between the last test and the store of a look may store an older distance; the next look replaces it.
//!
//! # Memory ordering
//! Relaxed: a reading uses one word, the distance, which publishes nothing else. Two threads may use the distances from before
//! and after a step at once. The error is for those who look; one that belongs to another distance delays or adds a correction of
//! its own size.

use super::super::instant::Instant;
use super::UnixAnchor;
use crate::primitive::{AtomicU64, const_fn};
use core::sync::atomic::Ordering::Relaxed;

/// How often a [`WallClock`] looks whether the wall clock was set.
const INTERVAL_NS: u64 = 100_000_000;

/// No distance: 292 years behind, where the kernel lets nobody set the clock. Were it measured, every reading would measure.
const NONE: u64 = 1 << 63;

/// The wall clock, by the process's clock: CLOCK_REALTIME at the price of [`Instant::now`].
///
/// Where the wall clock is set, or the machine was suspended, it follows at the first reading 100 ms later. It keeps its distance to
/// CLOCK_MONOTONIC otherwise, so that times of one thread do not step back by an error of measurement. The exception is a
/// distance whose [error](UnixAnchor::error) was more than twice that of a later one, because the thread was interrupted: that
/// is corrected once.
///
/// A reading is off by the distance's error, tens of nanoseconds, and by that of the instant ([`Reading`](super::super::Reading)). Where the
/// kernel refuses CLOCK_REALTIME, readings are times since the machine's start, and each 100 ms another attempt is made.
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
    /// `NONE` before the first look has ended.
    ahead_ns: AtomicU64,
    error_ns: AtomicU64,
    /// When to look next, by CLOCK_MONOTONIC. Who moves it on, looks.
    due_ns: AtomicU64,
}

impl WallClock {
    const_fn! {
        /// A clock that has not been read yet.
        #[must_use]
        pub fn new() -> Self {
            Self {
                ahead_ns: AtomicU64::new(NONE),
                error_ns: AtomicU64::new(0),
                due_ns: AtomicU64::new(0),
            }
        }
    }

    /// Nanoseconds since 1970, now.
    ///
    /// Cost: that of [`Instant::now`] and two loads; at first and once in 100 ms, that of an [`UnixAnchor`] more. Threads that read
    /// it first at the same time pay that each.
    #[inline]
    pub fn now(&self) -> u64 {
        let now = Instant::now();
        let ahead_ns = self.ahead_ns(now.as_nanos(), UnixAnchor::new);
        now.as_unix_nanos(&UnixAnchor { ahead_ns, error_ns: 0 })
    }

    /// The distance in use.
    #[inline]
    fn ahead_ns(&self, now_ns: u64, read: impl FnOnce() -> UnixAnchor) -> u64 {
        let ahead_ns = self.ahead_ns.load(Relaxed);
        if !is_due(self.due_ns.load(Relaxed), now_ns) && ahead_ns != NONE {
            return ahead_ns;
        }
        self.ahead_ns_slow(now_ns, read)
    }

    #[cold]
    fn ahead_ns_slow(&self, now_ns: u64, read: impl FnOnce() -> UnixAnchor) -> u64 {
        let due_ns = self.due_ns.load(Relaxed);
        let next_ns = now_ns.saturating_add(INTERVAL_NS);
        if is_due(due_ns, now_ns) && self.due_ns.exchange_if(due_ns, next_ns, Relaxed, Relaxed) {
            return self.look(next_ns, read);
        }
        match self.ahead_ns.load(Relaxed) {
            NONE => read().ahead_ns,
            measured => measured,
        }
    }

    /// Measures the distance, and uses it if it is better than the one in use.
    fn look(&self, next_ns: u64, read: impl FnOnce() -> UnixAnchor) -> u64 {
        let old = UnixAnchor {
            ahead_ns: self.ahead_ns.load(Relaxed),
            error_ns: self.error_ns.load(Relaxed),
        };
        let new = read();
        let is_better = old.ahead_ns == NONE || new.is_stepped(&old) || new.error_ns < old.error_ns / 2;
        let is_last = self.due_ns.load(Relaxed) == next_ns;
        if is_better && is_last && self.ahead_ns.exchange_if(old.ahead_ns, new.ahead_ns, Relaxed, Relaxed) {
            self.error_ns.store(new.error_ns, Relaxed);
        }
        match self.ahead_ns.load(Relaxed) {
            NONE => new.ahead_ns,
            measured => measured,
        }
    }
}

/// Whether to look. Also where the look is further away than the last reader can have set it: the kernel's clock was set
/// back since.
#[inline]
fn is_due(due_ns: u64, now_ns: u64) -> bool {
    due_ns.wrapping_sub(now_ns).wrapping_sub(1) >= 2 * INTERVAL_NS
}

impl Default for WallClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, feature = "std"))]
mod tests;
