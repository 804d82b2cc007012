//! [`Histogram`]: how often values fell in each of exponentially growing cells, counted by one addition on the current CPU.
//!
//! ```
//! use cyclewise::percpu::Histogram;
//!
//! static LATENCY: Histogram = Histogram::new();
//!
//! for us in 1..=1000 {
//!     LATENCY.record(f64::from(us) * 1e-6);
//! }
//! let taken = LATENCY.snapshot();
//! assert_eq!(taken.count(), 1000);
//! let p99 = taken.quantile(0.99).unwrap();
//! assert!(p99.lower < 990e-6 && 990e-6 <= p99.upper && p99.upper / p99.lower < 1.032);
//! ```
//!
//! # Cells
//! The values between two powers of two are divided into 32 cells of one width, so a cell's upper bound is at most 1/32 above its lower one,
//! and its middle at most 1.6 % from any value in it. That is the exponent and the first five bits of the mantissa: one shift finds
//! the cell. A cell has its upper bound and not its lower one, as those of OpenTelemetry and Prometheus have. Cells cover the values above 2^-32 up to
//! 2^64; what is outside is counted as *below* (zero and negative ones too) or *above* (infinity and what is not a number too).
//!
//! A reader merges cells into the buckets of a base-2 exponential histogram: [`Snapshot::exponential`].
//!
//! # Invariants
//! 1. A record adds one to one word. There is no word for the count or the sum: a reader computes both.
//! 2. `limit` is 0 until the words are allocated and `area` is known, and then the number of cells, for good. So one comparison checks
//!    all three.
//!
//! # Memory ordering
//! None: the counts order nothing.
//!
//! # Signals, forks, threads
//! A signal handler may record, if it is not the first to record. A child of a fork goes on from the counts as they were.
//!
//! # Cost
//! A record is a subtraction, a shift, a comparison and an addition to the CPU's word. A snapshot reads 24 KiB for each CPU that this kernel
//! can have. Memory: 24 KiB in each slot, of which pages are allocated when a value first falls in them.
//!
//! # References
//! OpenTelemetry, "Metrics Data Model", ExponentialHistogram; Prometheus, "Native histograms"; G. Tene's HdrHistogram, for cells of one width
//! between powers of two.
//!
//! # Safety
//! 1. `words` maps `WORDS` words in every slot, from the first record until the histogram is dropped.
#![expect(unsafe_code, reason = "words by address")]

mod cells;
mod open_metrics;
mod snapshot;
#[cfg(all(test, feature = "std"))]
mod tests;

pub use open_metrics::OpenMetrics;
pub use snapshot::{Bucket, Range, Snapshot};

use super::lazy::Lazy;
use super::registration::LibcArea;
use super::slots::{Slot, copy_in};
use super::this_cpu;
use super::word::Bits;
use crate::arch::Cpu;
use crate::arch::rseq::array;
use crate::error::Refusal;
use cells::{CELLS, WORDS};
use core::hint;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Counts of values by their size. Its words are allocated at the first record, so it can be a static; see the
/// [module](self) for an example.
///
/// If there is no memory at the first record, standard error says why, and the handler of allocation errors is called, as by `Box::new`.
/// [`try_allocate`](Self::try_allocate) returns an error.
#[derive(Debug)]
pub struct Histogram {
    limit: AtomicUsize,
    area: LibcArea,
    words: Lazy<[u64; WORDS], Cpu>,
}

/// What the protocol needs of the words, which the models replace.
trait Parts {
    /// Adds one to the current slot's word of a cell below the limit; else returns false. Acquires the limit.
    fn inc(&self, cell: usize) -> bool;
    /// Adds one to this word of the current slot, after it has allocated the words if nobody has.
    fn inc_slow(&self, word: usize);
    /// Stores the area that `inc` uses; false where there is none.
    fn learn_area(&self) -> bool;
    /// Sets the limit. Release: pairs with the Acquire of `inc`, for the words and the area.
    fn set_limit(&self);
}

/// For the first record, for threads that the C library has not registered, and for values outside of the cells.
fn record_slow(parts: &impl Parts, word: usize) {
    parts.inc_slow(word);
    if parts.learn_area() {
        parts.set_limit();
    }
}

impl Parts for Histogram {
    #[inline(always)]
    fn inc(&self, cell: usize) -> bool {
        // Acquire: pairs with the Release of `set_limit`.
        if cell >= self.limit.load(Ordering::Acquire) {
            return false;
        }
        let Some(area) = self.area.known() else {
            // SAFETY: a limit above 0 was stored after the area (Invariant 2).
            unsafe { hint::unreachable_unchecked() }
        };
        // SAFETY: the area is the thread's. The words are allocated (Invariant 2); one of the current slot, which only such sequences change.
        unsafe { array::inc_at_index::<Cpu>(area, self.words.place().cast(), cell) };
        true
    }

    fn inc_slow(&self, word: usize) {
        let words = self.words.as_ptr();
        // SAFETY: a word of slot 0 (Safety 1), by `Cpu`, which sequences change.
        unsafe { this_cpu::add::<Cpu, u64>(words.cast::<u64>().wrapping_add(word), 1) };
    }

    fn learn_area(&self) -> bool {
        self.area.learn::<Cpu>();
        self.area.known().is_some()
    }

    fn set_limit(&self) {
        // Once: every value outside of the cells comes here, and others read the line.
        if self.limit.load(Ordering::Relaxed) == 0 {
            self.limit.store(CELLS, Ordering::Release);
        }
    }
}

impl Histogram {
    /// A histogram of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            limit: AtomicUsize::new(0),
            area: LibcArea::unknown(),
            words: Lazy::new(),
        }
    }

    #[cfg(feature = "metrics")]
    pub(super) fn has_cell(value: f64) -> bool {
        cells::word(value) < CELLS
    }

    /// Allocates the words now, so that no record has to.
    ///
    /// # Errors
    /// As of [`PerCpu::try_new`](super::PerCpu::try_new).
    pub fn try_allocate(&self) -> Result<(), Refusal> {
        self.words.try_allocate()
    }

    /// Counts a value.
    #[inline(always)]
    pub fn record(&self, value: f64) {
        let bits = value.to_bits();
        if !self.inc(cells::cell(bits)) {
            self.record_slow(bits);
        }
    }

    /// Counts a whole number. From 2^53 on, the nearest double-precision number is counted.
    #[inline(always)]
    pub fn record_u64(&self, value: u64) {
        // As a signed number, whose conversion is one instruction. From 2^63 on it is negative, and in no cell.
        let bits = (value.cast_signed() as f64).to_bits();
        if !self.inc(cells::cell(bits)) {
            self.record_u64_slow(value);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_u64_slow(&self, value: u64) {
        self.record_slow((value as f64).to_bits());
    }

    #[cold]
    #[inline(never)]
    fn record_slow(&self, bits: u64) {
        record_slow(self, cells::word(f64::from_bits(bits)));
    }

    /// The counts, each at some moment of the call. Exact for the records that happened before; a concurrent one may be included or not.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::empty();
        if let Some(words) = self.words.allocated() {
            for slot in Slot::all() {
                let first = copy_in(words.as_ptr(), slot).cast::<u64>();
                snapshot.add(|n| {
                    // SAFETY: a word of the slot (Safety 1), while the histogram is borrowed.
                    unsafe { u64::load(first.wrapping_add(n)) }
                });
            }
        }
        snapshot
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}
