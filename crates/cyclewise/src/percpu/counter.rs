//! [`Counter`]: a sum to which each CPU adds in its own words. One load reads it approximately, a walk over all slots exactly.
//!
//! ```
//! use cyclewise::percpu::Counter;
//! use std::cmp::Ordering;
//!
//! let used = Counter::new(0);
//! for _ in 0..1000 {
//!     used.add(3);
//! }
//! assert_eq!(used.sum(), 3000);
//! assert!(used.sum().abs_diff(used.read()) <= used.error());
//! assert_eq!(used.compare(1_000_000), Ordering::Less);
//! ```
//!
//! # States
//! A slot has two words: *total*, the sum of all additions there, and *folded*, the part of it that was folded into the shared sum. When
//! they are [`batch`](Counter::batch) apart, the adding thread folds the difference into the shared sum.
//!
//! # Invariants
//! 1. Only additions change a total, each by one instruction of a sequence. So every addition is in exactly one
//!    total, and the totals' sum is exact in spite of interruptions, migrations and forks. The kernel's counter takes a lock here.
//! 2. The shared sum and the folds in progress add up to the sum of all *folded*: each change of *folded*, by compare-and-exchange
//!    from `p` to `t`, is followed by one addition of `t - p`.
//! 3. If `fast_words` is not null, it is the words' address, and [`registration::libc_area`] has an area for every thread. Once it
//!    has one, it always does.
//!
//! # Memory ordering
//! None for the caller: the counts order nothing. A thread that reads *folded* as another stored it then reads a total no older than
//! the other did. Otherwise it could fold a difference that is already folded.
//!
//! # Forks
//! In a child of a fork sums and comparisons stay exact. The difference that a thread of the parent was about to fold
//! is missing from [`read`](Counter::read) for ever.
//!
//! # Cost
//! An addition is a sequence that also returns the words' difference, a comparison, and once per `batch` two locked instructions.
//! A sum is one load for each slot.
//!
//! # References
//! Linux lib/percpu_counter.c.
//!
//! # Safety
//! 1. `words` maps both words in every slot, from the first addition until the counter is dropped.
#![expect(unsafe_code, reason = "words by address")]

#[cfg(all(test, feature = "std"))]
mod tests;

use super::current_slot::CurrentSlot;
use super::guard::NEVER;
use super::lazy::Lazy;
use super::slots::{Slot, copy_in, slot_count};
use super::word::Bits;
use super::{registration, thread};
use crate::arch::rseq::free_list;
use crate::arch::{Cpu, Outcome, SHIFT};
use core::cmp;
use core::hint::{self, cold_path};
use core::ptr;
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

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
/// If there is no address space left at the first addition, it calls the handler of allocation errors, as `Box::new` does.
#[derive(Debug)]
#[doc(alias = "percpu_counter")]
pub struct Counter {
    /// The words' address if they are allocated and the C library has registered, so that one comparison checks both.
    fast_words: AtomicPtr<[i64; 2]>,
    words: Lazy<[i64; 2], Cpu>,
    /// The largest difference that is not folded. Chosen before the words are allocated.
    batch_less_one: AtomicI64,
    first: i64,
    /// `first`, and what was folded into it.
    shared: AtomicI64,
    /// The fork generation in which the words were allocated. In another one, a fold may be missing from the shared sum.
    generation: AtomicU32,
}

const UNDECIDED: i64 = -1; // `batch_less_one` of an unused counter with the kernel's batch
const UNUSED: u32 = 0; // `generation` of a counter without words

impl Counter {
    /// A counter that starts at `value`, with the kernel's batch: 32, or twice the number of CPUs if that is more.
    #[doc(alias = "percpu_counter_init")]
    pub const fn new(value: i64) -> Self {
        Self::with_batch_less_one(value, UNDECIDED)
    }

    /// A counter with this batch. A larger one makes additions faster and [`read`](Self::read) less exact. The smallest is 1, with
    /// which every addition is folded.
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
            fast_words: AtomicPtr::new(ptr::null_mut()),
            words: Lazy::new(),
            batch_less_one: AtomicI64::new(batch_less_one),
            first: value,
            shared: AtomicI64::new(value),
            generation: AtomicU32::new(UNUSED),
        }
    }

    /// The difference at which a slot is folded into the shared sum.
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
        self.batch_less_one();
        // Relaxed: published with the words. Nothing was added before, so nothing is missing yet. A second thread, perhaps
        // in a child by now, changes nothing.
        let (generation, now) = (&self.generation, thread::fork_generation());
        let _ = generation.compare_exchange(UNUSED, now, Ordering::Relaxed, Ordering::Relaxed);
        self.words.as_ptr()
    }

    /// Adds, and wraps around.
    #[inline(always)]
    #[doc(alias = "percpu_counter_add")]
    pub fn add(&self, amount: i64) {
        // Acquire: pairs with the Release of `add_slow`.
        let words = self.fast_words.load(Ordering::Acquire);
        if words.is_null() {
            return self.add_slow(amount);
        }
        let Some(area) = registration::libc_area::<Cpu>() else {
            // SAFETY: there was an area before `fast_words` was stored, and there always is from then on (Invariant 3).
            unsafe { hint::unreachable_unchecked() }
        };
        // SAFETY: the area is the thread's; the total of every slot, which only additions change (Invariant 1), and
        // beside it a word that is accessed only as an atomic.
        let (unfolded, copy) = unsafe { free_list::add_and_compare::<Cpu>(area, words.cast(), amount as u64) };
        // Relaxed: chosen before the words, which were acquired.
        let batch_less_one = self.batch_less_one.load(Ordering::Relaxed) as u64;
        // One comparison for both ends of the range from 1 - batch to batch - 1.
        if unfolded.wrapping_add(batch_less_one) > 2 * batch_less_one {
            cold_path();
            self.fold(Slot((copy >> SHIFT) as u32));
        }
    }

    /// For threads that the C library has not registered, and for the first addition.
    #[cold]
    #[inline(never)]
    fn add_slow(&self, amount: i64) {
        let words = self.words();
        if registration::libc_area::<Cpu>().is_some() {
            // Release: pairs with the Acquire of `add`, for the words and the area.
            self.fast_words.store(words, Ordering::Release);
        }
        loop {
            let here = CurrentSlot::now();
            let at = copy_in(words.cast::<u64>(), here.slot());
            // SAFETY: this slot's total, which only additions change (Invariant 1).
            if unsafe { here.load_add_store(&NEVER, at, amount as u64) } == Outcome::Done {
                return self.fold(here.slot());
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
        self.shared.load(Ordering::Relaxed)
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
        let Some(words) = self.words.allocated() else {
            return self.first;
        };
        Slot::all().fold(self.first, |sum, slot| sum.wrapping_add(total_of(words.as_ptr(), slot)))
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

    /// The largest difference between [`read`](Self::read) and the sum while no thread adds.
    pub fn error(&self) -> u64 {
        self.batch_less_one().saturating_mul(slot_count() as u64)
    }

    /// Folds a slot into the shared sum, from any CPU.
    #[cold]
    #[inline(never)]
    fn fold(&self, slot: Slot) {
        fold(&(self, slot), self.batch());
    }
}

/// A larger batch behaves like this one.
const LARGEST_BATCH: u64 = i64::MAX as u64;

/// A slot's total.
#[inline(always)]
fn total_of(words: *mut [i64; 2], slot: Slot) -> i64 {
    // SAFETY: a word of a counter's slot, which sequences change (Safety 1); the counter is borrowed.
    (unsafe { u64::load(copy_in(words, slot).cast()) }) as i64
}

/// A slot's folded part.
#[inline(always)]
fn folded_of<'a>(words: *mut [i64; 2], slot: Slot) -> &'a AtomicI64 {
    let at = copy_in(words, slot).cast::<i64>().wrapping_add(1);
    // SAFETY: the second word of a counter's slot, accessed only as an atomic (Safety 1); the counter is borrowed.
    unsafe { AtomicI64::from_ptr(at) }
}

/// The words of a fold. The models implement it too.
trait FoldWords {
    /// The slot's total.
    fn total(&self) -> i64;
    /// The folded part. Acquire: pairs with the exchange.
    fn folded(&self) -> i64;
    /// Exchanges the folded part; `Err` with the value found. `AcqRel`: pairs with itself, so that a total that is loaded afterwards is not
    /// older than the folded part.
    fn exchange(&self, from: i64, to: i64) -> Result<(), i64>;
    /// Adds to the shared sum.
    fn share(&self, difference: i64);
}

impl FoldWords for (&Counter, Slot) {
    fn total(&self) -> i64 {
        total_of(self.0.words(), self.1)
    }

    fn folded(&self) -> i64 {
        folded_of(self.0.words(), self.1).load(Ordering::Acquire)
    }

    fn exchange(&self, from: i64, to: i64) -> Result<(), i64> {
        let folded = folded_of(self.0.words(), self.1);
        folded
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .map(|_| ())
    }

    fn share(&self, difference: i64) {
        // Relaxed: a count, which orders nothing (Invariant 2).
        self.0.shared.fetch_add(difference, Ordering::Relaxed);
    }
}

/// Folds the difference if it is at least a batch.
fn fold(slot: &impl FoldWords, batch: u64) {
    let mut before = slot.folded();
    loop {
        let now = slot.total();
        let difference = now.wrapping_sub(before);
        if difference.unsigned_abs() < batch {
            return;
        }
        match slot.exchange(before, now) {
            Ok(()) => return slot.share(difference),
            Err(found) => before = found,
        }
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::new(0)
    }
}

/// The number of CPUs, or 1 if it is not known.
fn cpus() -> usize {
    static CPUS: AtomicUsize = AtomicUsize::new(0);
    // Relaxed, here and below: a number, the same for every thread.
    match CPUS.load(Ordering::Relaxed) {
        0 => {
            #[cfg(feature = "std")]
            let found = std::thread::available_parallelism().map_or(1, usize::from);
            #[cfg(not(feature = "std"))]
            let found = 1;
            CPUS.store(found, Ordering::Relaxed);
            found
        }
        found => found,
    }
}
