//! [`Counter`]: a sum to which each CPU adds in its own words. One load reads it approximately, a walk over all slots exactly.
//!
//! # States
//! A slot has two words: *total*, the sum of the additions there, and a *window* of two numbers, between which the total may move.
//! The middle of the window is the part of the total that was added to the shared sum. An addition that would leave the
//! window first moves the window and adds the difference to the shared sum. A window of zeroes is closed: the slot was never used.
//! An amount of a [`batch`](Counter::batch) or more that leaves the window goes to the shared sum and to *direct*, a word for such amounts.
//! Without the C library's registration each amount of a batch or more does.
//!
//! # Invariants
//! 1. Each addition is made by one instruction, either to a total or to `direct`. So the sum of these words is exact in spite of
//!    interruptions, migrations and forks. The kernel's counter takes a lock here.
//! 2. The shared sum, the differences about to be added to it, and nothing else make up `direct` and the middles of all windows.
//! 3. A total is in its window. Only sequences of the slot's CPU, or the holder of a portable slot's lock, change a total or a
//!    window, one of them at a time, after a comparison of both in the same sequence.
//! 4. If `area` is known, the words are allocated. Once it is known, it always is.
//!
//! # Memory ordering
//! None for the caller: the counts order nothing. A total and its window are used by one CPU, or under a lock.
//!
//! # Forks
//! In a child of a fork sums and comparisons stay exact. The difference that a thread of the parent was about to add to the
//! shared sum is missing from [`read`](Counter::read) for ever.
//!
//! # Cost
//! An addition is a sequence that also compares the total with one end of its window, and once per `batch` another sequence and a
//! locked instruction. An amount of a batch or more that leaves the window is two locked instructions. A sum is one load for each slot.
//!
//! # References
//! Linux lib/percpu_counter.c.
//!
//! # Safety
//! 1. `words` maps both words in every slot, from the first addition until the counter is dropped.
#![expect(unsafe_code, reason = "words by address")]

#[cfg(all(test, feature = "std"))]
mod tests;
mod window;

use super::current_slot::CurrentSlot;
use super::guard::NEVER;
use super::lazy::Lazy;
use super::registration::LibcArea;
use super::slots::{Slot, copy_in, slot_count};
use super::thread;
use super::word::Bits;
use crate::arch::rseq::free_list;
use crate::arch::{Cpu, Outcome};
use crate::error::Refusal;
use crate::sys::affinity::CpuSet;
use crate::sys::errno;
use core::cmp;
use core::hint;
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};
use window::{LARGEST_BATCH, Window};

/// A sum that every CPU can add to cheaply. Its words are allocated at the first addition, so it can be a static:
///
/// ```
/// use cyclewise::percpu::Counter;
///
/// static USED: Counter = Counter::new(7);
/// USED.add(-3);
/// assert_eq!(USED.sum(), 4);
/// ```
///
/// If there is no memory at the first addition, standard error says why, and the handler of allocation errors is called, as by
/// `Box::new`. [`try_allocate`](Counter::try_allocate) returns an error.
#[derive(Debug)]
#[doc(alias = "percpu_counter")]
pub struct Counter {
    /// Known once the words are allocated, so that one comparison checks both.
    area: LibcArea,
    words: Lazy<[i64; 2], Cpu>,
    /// The largest difference that is not in the shared sum. Chosen before the words are allocated.
    batch_less_one: AtomicI64,
    /// The fork generation in which the words were allocated. In another one, a difference may be missing from the shared sum.
    generation: AtomicU32,
    sums: Sums,
}

/// What additions write, apart from what every addition reads.
#[derive(Debug)]
#[repr(align(128))] // two cache lines, which Intel's CPUs prefetch together
struct Sums {
    /// The first value, and all amounts of a batch or more that left a window.
    direct: AtomicI64,
    /// The same, and what was added in the slots, except for their last differences.
    shared: AtomicI64,
}

const UNDECIDED: i64 = -1; // `batch_less_one` of an unused counter with the kernel's batch
const UNUSED: u32 = 0; // `generation` of a counter without words

impl Counter {
    /// A counter that starts at `value`, with the kernel's batch: 32, or twice the number of CPUs if that is more. The CPUs are
    /// those that the thread that first needs the number may run on.
    #[doc(alias = "percpu_counter_init")]
    pub const fn new(value: i64) -> Self {
        Self::with_batch_less_one(value, UNDECIDED)
    }

    /// A counter with this batch. A larger one makes additions faster and [`read`](Self::read) less exact. Choose one above the
    /// usual amounts: an amount of a batch or more goes to the shared sum at once, unless the CPU's difference from it stays below a
    /// batch. The smallest is 1, with which every addition goes there; the largest is 2^30.
    pub const fn with_batch(value: i64, batch: u64) -> Self {
        let batch_less_one = match batch {
            0 => 0,
            1..LARGEST_BATCH => batch - 1,
            LARGEST_BATCH.. => LARGEST_BATCH - 1,
        };
        Self::with_batch_less_one(value, batch_less_one as i64)
    }

    const fn with_batch_less_one(value: i64, batch_less_one: i64) -> Self {
        Self {
            area: LibcArea::unknown(),
            words: Lazy::new(),
            batch_less_one: AtomicI64::new(batch_less_one),
            generation: AtomicU32::new(UNUSED),
            sums: Sums {
                direct: AtomicI64::new(value),
                shared: AtomicI64::new(value),
            },
        }
    }

    /// Allocates the words now, so that no addition has to.
    ///
    /// # Errors
    /// As of [`PerCpu::try_new`](super::PerCpu::try_new).
    pub fn try_allocate(&self) -> Result<(), Refusal> {
        self.prepare();
        self.words.try_allocate()
    }

    /// The difference at which a slot's additions are added to the shared sum.
    pub fn batch(&self) -> u64 {
        self.batch_less_one() + 1
    }

    /// The batch less one. The first call chooses it.
    fn batch_less_one(&self) -> u64 {
        // Relaxed, here and below: a number that changes once, before the words are allocated.
        let found = self.batch_less_one.load(Ordering::Relaxed);
        if found != UNDECIDED {
            return found as u64;
        }
        // 32 and 2: lib/percpu_counter.c, compute_batch_value.
        let new = cmp::max(32, 2 * cpus() as i64) - 1;
        let batch_less_one = &self.batch_less_one;
        match batch_less_one.compare_exchange(UNDECIDED, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => new as u64,
            Err(theirs) => theirs as u64,
        }
    }

    /// The words. The first call allocates them, after it chose the batch and the generation.
    fn words(&self) -> *mut [i64; 2] {
        if let Some(at) = self.words.allocated() {
            return at.as_ptr();
        }
        self.prepare();
        self.words.as_ptr()
    }

    /// Chooses what is chosen before the words are allocated.
    fn prepare(&self) {
        self.batch_less_one();
        // Relaxed: published with the words. Nothing was added before, so nothing is missing yet. A second thread, perhaps
        // in a child by now, changes nothing.
        let (generation, now) = (&self.generation, thread::fork_generation());
        let _ = generation.compare_exchange(UNUSED, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Adds, and wraps around.
    #[inline(always)]
    #[doc(alias = "percpu_counter_add")]
    pub fn add(&self, amount: i64) {
        let Some(area) = self.area.get() else {
            return self.add_slow(amount);
        };
        let Some(words) = self.words.allocated() else {
            // SAFETY: they were allocated before the area was known (Invariant 4).
            unsafe { hint::unreachable_unchecked() }
        };
        let words = words.as_ptr().cast();
        // An amount that the compiler knows leaves one of these.
        let outcome = match amount {
            // SAFETY: the area is the thread's; the slots' totals and windows (Invariant 3), and an amount in range.
            0..=LARGEST_AMOUNT => unsafe { free_list::add_below::<Cpu>(area, words, amount as u64) },
            // SAFETY: the area is the thread's; the slots' totals and windows (Invariant 3), and an amount in range.
            SMALLEST_AMOUNT..0 => unsafe { free_list::add_above::<Cpu>(area, words, amount as u64) },
            _ => Outcome::Ne,
        };
        if outcome != Outcome::Done {
            self.add_slow(amount);
        }
    }

    /// For the first addition, for threads that the C library has not registered, and for additions that leave the window.
    #[cold]
    #[inline(never)]
    fn add_slow(&self, amount: i64) {
        let words = self.words();
        self.area.learn::<Cpu>();
        let batch_less_one = self.batch_less_one();
        let Sums { direct, shared } = &self.sums;
        if amount.unsigned_abs() > batch_less_one {
            // Relaxed, here and below: counts, which order nothing. `direct` first, so that in a child of a fork sums are exact.
            direct.fetch_add(amount, Ordering::Relaxed);
            shared.fetch_add(amount, Ordering::Relaxed);
            return;
        }
        loop {
            let here = CurrentSlot::now();
            let at = copy_in(words.cast::<u64>(), here.slot());
            let window_at = at.wrapping_add(1);
            // SAFETY: a total, which sequences change (Safety 1).
            let total = unsafe { u64::load(at) };
            // SAFETY: a window, which sequences change (Safety 1).
            let window = Window(unsafe { u64::load(window_at) });
            let sum = total.wrapping_add(amount as u64);
            let next = window.for_total(sum, batch_less_one);
            if next == window {
                // SAFETY: this slot's total and window (Invariant 3).
                let outcome = unsafe { here.load_cbne_load_cbne_store(&NEVER, at, total, window_at, window.0, sum) };
                if outcome == Outcome::Done {
                    return;
                }
                continue;
            }
            // SAFETY: this slot's window and total (Invariant 3).
            let outcome = unsafe { here.load_cbne_load_cbne_store(&NEVER, window_at, window.0, at, total, next.0) };
            // A window of a slot that was never used opens in place.
            let moved = next.middle(batch_less_one).wrapping_sub(window.middle(batch_less_one)) as i32;
            if outcome == Outcome::Done && moved != 0 {
                shared.fetch_add(i64::from(moved), Ordering::Relaxed);
            }
        }
    }

    /// Adds one.
    #[inline(always)]
    #[doc(alias = "percpu_counter_inc")]
    pub fn inc(&self) {
        self.add(1);
    }

    /// Subtracts one.
    #[inline(always)]
    #[doc(alias = "percpu_counter_dec")]
    pub fn dec(&self) {
        self.add(-1);
    }

    /// The approximate sum, by one load. It differs from the sum by at most [`error`](Self::error), plus the additions in
    /// progress, including those that a fork left unfinished.
    #[inline]
    #[doc(alias = "percpu_counter_read")]
    pub fn read(&self) -> i64 {
        // Relaxed: a count, which orders nothing.
        self.sums.shared.load(Ordering::Relaxed)
    }

    /// The approximate sum, or 0 if that is negative: for sums that are never negative but may look so.
    #[inline]
    #[doc(alias = "percpu_counter_read_positive")]
    pub fn read_positive(&self) -> i64 {
        self.read().max(0)
    }

    /// The sum: exact for all additions that happened before; a concurrent one may be included or not.
    #[doc(alias = "percpu_counter_sum")]
    pub fn sum(&self) -> i64 {
        // Relaxed: a count, which orders nothing.
        let direct = self.sums.direct.load(Ordering::Relaxed);
        let Some(words) = self.words.allocated() else {
            return direct;
        };
        Slot::all().fold(direct, |sum, slot| sum.wrapping_add(total_of(words.as_ptr(), slot)))
    }

    /// The sum, or 0 if that is negative: the slots are read one after the other.
    #[doc(alias = "percpu_counter_sum_positive")]
    pub fn sum_positive(&self) -> i64 {
        self.sum().max(0)
    }

    /// The sum compared with `value`: by [`read`](Self::read) if that is more than [`error`](Self::error) away, else by [`sum`](Self::sum).
    #[doc(alias = "percpu_counter_compare")]
    pub fn compare(&self, value: i64) -> cmp::Ordering {
        let about = self.read();
        // Relaxed: stored before the words were allocated.
        if self.generation.load(Ordering::Relaxed) != thread::fork_generation() {
            return self.sum().cmp(&value);
        }
        // In 128 bits: the difference of two counts may not fit a count.
        if (i128::from(about) - i128::from(value)).unsigned_abs() > u128::from(self.error()) {
            return about.cmp(&value);
        }
        self.sum().cmp(&value)
    }

    /// Whether a slot has ever been added to.
    #[cfg(all(test, feature = "std", target_arch = "x86_64", not(loom)))]
    pub(super) fn is_used(&self, slot: Slot) -> bool {
        let Some(words) = self.words.allocated() else {
            return false;
        };
        let window = copy_in(words.as_ptr().cast::<u64>(), slot).wrapping_add(1);
        // SAFETY: a window, which sequences change (Safety 1).
        (unsafe { u64::load(window) }) != 0
    }

    /// The largest difference between [`read`](Self::read) and the sum while no thread adds.
    pub fn error(&self) -> u64 {
        self.batch_less_one().saturating_mul(slot_count() as u64)
    }
}

/// The amounts that the fast path takes. A larger one fits no window.
const LARGEST_AMOUNT: i64 = LARGEST_BATCH as i64 - 1;
const SMALLEST_AMOUNT: i64 = -LARGEST_AMOUNT;

#[inline(always)]
fn total_of(words: *mut [i64; 2], slot: Slot) -> i64 {
    // SAFETY: a word of a counter's slot, which sequences change (Safety 1); the counter is borrowed.
    (unsafe { u64::load(copy_in(words, slot).cast()) }) as i64
}

impl Default for Counter {
    fn default() -> Self {
        Self::new(0)
    }
}

/// The number of CPUs, or 1 if it is not known. A signal handler may be the first to ask: std's `available_parallelism` would open
/// files and allocate.
fn cpus() -> usize {
    static CPUS: AtomicUsize = AtomicUsize::new(0);
    // Relaxed, here and below: a number, the same for every thread.
    match CPUS.load(Ordering::Relaxed) {
        0 => {
            let found = errno::preserve(|| CpuSet::current().map_or(1, |cpus| cpus.count().max(1)));
            CPUS.store(found, Ordering::Relaxed);
            found
        }
        found => found,
    }
}
