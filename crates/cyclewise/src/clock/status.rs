//! What a clock is doing and why, readable while it is read.

use super::reason::{ClocksourceName, Reason};
use core::sync::atomic::{AtomicU8, Ordering};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Where readings come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// From the kernel's clock, while the counter's rate is being learnt or nobody has read the clock for some time.
    Starting,
    /// From the counter.
    Counter,
    /// From the kernel's clock, for good. [`Status::reason`] says why.
    Kernel,
}

/// A clock's state.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Status {
    /// Where readings come from.
    pub mode: Mode,
    /// What was noticed last, if anything was.
    pub reason: Option<Reason>,
    /// How often something was.
    pub faults: u64,
    /// How often the clock was held against the kernel's.
    pub anchors: u64,
    /// Ticks per second as they are known now.
    pub hz: Option<f64>,
}

/// What is noticed, as atomics. Written by the holder of the clock's lock.
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

/// In the order of their numbers, from 1 on.
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

    /// Whether the kernel's clock is read for good.
    #[inline]
    pub(super) fn is_demoted(&self) -> bool {
        // Acquire: pairs with the Release in `demote`. No segment begins afterwards.
        self.demoted.load(Ordering::Acquire) != 0
    }

    /// From now on the kernel's clock is read.
    pub(super) fn demote(&self, reason: Reason) {
        self.record(reason);
        // Release: pairs with the Acquire in `is_demoted`.
        self.demoted.store(1, Ordering::Release);
    }

    /// Keeps `reason`.
    pub(super) fn record(&self, reason: Reason) {
        if let Reason::Clocksource(ClocksourceName(name)) = reason {
            for (word, bytes) in self.name.iter().zip(name.chunks_exact(8)) {
                let bytes = bytes.try_into().unwrap_or([0; 8]);
                // Relaxed: the Release below is behind it.
                word.store(u64::from_ne_bytes(bytes), Relaxed);
            }
        }
        let same = |r: &Reason| core::mem::discriminant(r) == core::mem::discriminant(&reason);
        let number = REASONS.iter().position(same).map_or(NONE, |i| i as u8 + 1);
        self.faults.fetch_add(1, Relaxed);
        // Release: pairs with the Acquire in `reason`.
        self.reason.store(number, Ordering::Release);
    }

    /// What was noticed last.
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
