//! The state of a clock and the reason for it.

use super::reason::{ClocksourceName, Reason};
use core::sync::atomic::{AtomicU8, Ordering};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The source of the readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// The kernel's clock, while the counter's rate is being learnt or after nobody has read the clock for some time.
    Starting,
    /// The counter.
    Counter,
    /// The kernel's clock, permanently. [`Status::reason`] says why.
    Kernel,
}

/// A clock's state.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Status {
    /// The source of the readings.
    pub mode: Mode,
    /// The last fault, if there was one.
    pub reason: Option<Reason>,
    /// The number of faults.
    pub faults: u64,
    /// The number of anchors taken.
    pub anchors: u64,
    /// The present estimate of the counter's ticks per second.
    pub hz: Option<f64>,
}

/// The status, as atomics. The holder of the clock's lock writes them.
pub(super) struct StatusCells {
    demoted: AtomicU8,
    reason: AtomicU8,
    name: [AtomicU64; 4],
    pub(super) faults: AtomicU64,
    pub(super) anchors: AtomicU64,
    /// Nanoseconds per tick in units of 2^-32; 0 unknown.
    pub(super) rate: AtomicU64,
}

const NONE: u8 = 0; // nothing was noticed
const CLOCKSOURCE: u8 = 4; // the one with a name

/// The reason with number n is at n - 1.
const REASONS: [Reason; 11] = [
    Reason::NoCounter,
    Reason::NotInvariant,
    Reason::UnknownClocksource,
    Reason::Clocksource(ClocksourceName([0; 32])),
    Reason::CounterWentBack,
    Reason::CounterJumped,
    Reason::RateStep,
    Reason::Suspended,
    Reason::Disrupted,
    Reason::Unsteady,
    Reason::NotExamined,
];

impl StatusCells {
    pub(super) const fn new() -> Self {
        Self {
            demoted: AtomicU8::new(0),
            reason: AtomicU8::new(NONE),
            name: [const { AtomicU64::new(0) }; 4],
            faults: AtomicU64::new(0),
            anchors: AtomicU64::new(0),
            rate: AtomicU64::new(0),
        }
    }

    /// Whether the clock is the kernel's permanently.
    #[inline]
    pub(super) fn is_demoted(&self) -> bool {
        // Acquire: pairs with the Release in `demote`. No segment begins afterwards.
        self.demoted.load(Ordering::Acquire) != 0
    }

    /// Makes the clock the kernel's permanently.
    pub(super) fn demote(&self, reason: Reason) {
        self.record(reason);
        // Release: pairs with the Acquire in `is_demoted`.
        self.demoted.store(1, Ordering::Release);
    }

    pub(super) fn record(&self, reason: Reason) {
        if let Reason::Clocksource(ClocksourceName(name)) = reason {
            for (word, bytes) in self.name.iter().zip(name.chunks_exact(8)) {
                let bytes = bytes.try_into().unwrap_or([0; 8]);
                // Relaxed: the Release below publishes it.
                word.store(u64::from_ne_bytes(bytes), Relaxed);
            }
        }
        let same = |r: &Reason| core::mem::discriminant(r) == core::mem::discriminant(&reason);
        let number = REASONS.iter().position(same).map_or(NONE, |i| i as u8 + 1);
        self.faults.fetch_add(1, Relaxed);
        // Release: pairs with the Acquire in `reason`.
        self.reason.store(number, Ordering::Release);
    }

    /// The last fault.
    pub(super) fn reason(&self) -> Option<Reason> {
        // Acquire: pairs with the Release in `note`.
        match self.reason.load(Ordering::Acquire) {
            NONE => None,
            CLOCKSOURCE => {
                let mut name = [0; 32];
                for (bytes, word) in name.chunks_exact_mut(8).zip(&self.name) {
                    bytes.copy_from_slice(&word.load(Relaxed).to_ne_bytes());
                }
                Some(Reason::Clocksource(ClocksourceName(name)))
            }
            number => REASONS.get(usize::from(number) - 1).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_kept_as_it_was_noted() {
        assert_eq!(
            core::mem::discriminant(&REASONS[3]),
            core::mem::discriminant(&Reason::Clocksource(ClocksourceName::new("")))
        );
        let cells = StatusCells::new();
        assert_eq!(cells.reason(), None);
        for reason in REASONS
            .into_iter()
            .chain([Reason::Clocksource(ClocksourceName::new("acpi_pm"))])
        {
            cells.record(reason);
            assert_eq!(cells.reason(), Some(reason));
        }
        assert!(!cells.is_demoted());
        cells.demote(Reason::Unsteady);
        assert!(cells.is_demoted());
    }
}
