//! [`Counter`]: a sum to which every CPU adds in its own words, and that is read approximately at once or exactly by a walk.
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
//! A slot has two words: *total*, all that was added there, and *told*, the part of it that the shared sum knows. Where
//! they are [`batch`](Counter::batch) apart, the thread that made them so tells the shared sum the difference.
//!
//! # Invariants
//! 1. A total is changed by additions alone, each one instruction of a sequence. So no addition is ever in none or in two
//!    places, and the totals' sum is exact whatever is interrupted, moved or forked. The kernel's counter takes a lock here.
//! 2. The shared sum and what is on its way to it are the sum of all *told*: each change of *told*, by compare and
//!    exchange from `p` to `t`, is followed by one addition of `t - p`.
//! 3. Where `quick` is not null it is the words' address, and [`registration::libc_area`] has an area for every thread, as it has
//!    for good once it had one.
//!
//! # Memory ordering
//! None towards the caller: the counts order nothing. Who finds *told* as somebody left it finds the total no older than
//! that one did, or it would tell the shared sum what it has known for long.
//!
//! # Forks
//! In a child of a fork sums and comparisons are exact as before. What a thread that it does not have was about to tell is
//! missing for ever from what [`read`](Counter::read) returns.
//!
//! # Cost
//! An addition is a sequence that says how far apart the words are, a comparison of that, and every `batch`-th time two locked instructions.
//! A sum is a load for each slot that the kernel can have.
//!
//! # References
//! Linux lib/percpu_counter.c.
//!
//! # Safety
//! 1. `words` maps both words in every slot, from the first addition on and for as long as the counter lives.
#![expect(unsafe_code, reason = "words by address")]

#[cfg(all(test, feature = "std"))]
mod tests;

use super::current_slot::CurrentSlot;
use super::guard::NEVER;
use super::lazy::Lazy;
use super::slots::{Slot, copy_in, slot_count};
use super::word::Bits;
use super::{registration, thread};
use crate::arch::{Cpu, Outcome, SHIFT, rseq_list};
use core::cmp;
use core::hint::{self, cold_path};
use core::ptr;
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// A sum that is cheap to add to from every CPU. Its words appear at its first addition, so it can be a static:
///
/// ```
/// use cyclewise::percpu::Counter;
///
/// static USED: Counter = Counter::new(7);
/// USED.add(-3);
/// assert_eq!(USED.sum(), 4);
/// ```
///
/// Where there is no address space left at the first addition, that ends as `Box::new` does.
#[derive(Debug)]
#[doc(alias = "percpu_counter")]
pub struct Counter {
    /// The words again, where they were made and the C library has registered: one comparison says both.
    quick: AtomicPtr<[i64; 2]>,
    words: Lazy<[i64; 2], Cpu>,
    /// The batch less one: how far apart they may be. Decided before there are words.
    within: AtomicI64,
    first: i64,
    /// `first`, and what slots have told.
    shared: AtomicI64,
    /// How often this process had been forked when the words were made: in a child the shared sum may lack something.
    forks: AtomicU32,
}

const UNDECIDED: i64 = -1; // `within` of a counter with the kernel's batch that nobody has used yet
const UNUSED: u32 = 0; // `forks` of a counter without words

impl Counter {
    /// A counter that starts with `value`, and whose batch is the kernel's: 32, or twice the CPUs where that is more.
    #[doc(alias = "percpu_counter_init")]
    pub const fn new(value: i64) -> Self {
        Self::within(value, UNDECIDED)
    }

    /// A counter with a batch of its own: larger is quicker and less exact when it is read at once. At least 1, with
    /// which every addition is told.
    pub const fn with_batch(value: i64, batch: u64) -> Self {
        let within = match batch {
            0 => 0,
            1..LARGEST_BATCH => batch - 1,
            LARGEST_BATCH.. => LARGEST_BATCH - 1,
        };
        Self::within(value, within as i64)
    }

    const fn within(value: i64, within: i64) -> Self {
        Self {
            quick: AtomicPtr::new(ptr::null_mut()),
            words: Lazy::new(),
            within: AtomicI64::new(within),
            first: value,
            shared: AtomicI64::new(value),
            forks: AtomicU32::new(UNUSED),
        }
    }

    /// How far a slot may be from what it has told.
    pub fn batch(&self) -> u64 {
        self.decided() + 1
    }

    /// The batch less one, which is decided where it was not.
    fn decided(&self) -> u64 {
        // Relaxed, here and below: a number that changes once, before there are words.
        let found = self.within.load(Ordering::Relaxed);
        if found != UNDECIDED {
            return found as u64;
        }
        // 32 and 2: lib/percpu_counter.c, compute_batch_value.
        let new = cmp::max(32, 2 * cpus() as i64) - 1;
        let within = &self.within;
        match within.compare_exchange(UNDECIDED, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => new as u64,
            Err(theirs) => theirs as u64,
        }
    }

    /// The words, which are made where they were not, after all that is decided with them.
    fn words(&self) -> *mut [i64; 2] {
        if let Some(at) = self.words.made() {
            return at.as_ptr();
        }
        self.decided();
        // Relaxed: before the Release that shows the words. Nothing was added before, so nothing is missing yet. Who comes
        // second, perhaps in a child by now, changes nothing.
        let (forks, now) = (&self.forks, thread::fork_generation());
        let _ = forks.compare_exchange(UNUSED, now, Ordering::Relaxed, Ordering::Relaxed);
        self.words.as_ptr()
    }

    /// Adds, and wraps around.
    #[inline(always)]
    #[doc(alias = "percpu_counter_add")]
    pub fn add(&self, amount: i64) {
        // Acquire: pairs with the Release of `add_slow`.
        let words = self.quick.load(Ordering::Acquire);
        if words.is_null() {
            return self.add_slow(amount);
        }
        let Some(area) = registration::libc_area::<Cpu>() else {
            // SAFETY: it was there before `quick` was stored, and is there for good once it is (Invariant 3).
            unsafe { hint::unreachable_unchecked() }
        };
        // SAFETY: the area is the thread's; the total of every slot, which nobody changes from outside (Invariant 1), and
        // beside it an atomic for everybody.
        let (untold, copy) = unsafe { rseq_list::add_and_compare::<Cpu>(area, words.cast(), amount as u64) };
        // Relaxed: decided before the words, which were acquired.
        let within = self.within.load(Ordering::Relaxed) as u64;
        // Both ends by one comparison: from 1 - batch to batch - 1 is as far from 0.
        if untold.wrapping_add(within) > 2 * within {
            cold_path();
            self.tell(Slot((copy >> SHIFT) as u32));
        }
    }

    /// Where the C library has not registered, or this is the first addition.
    #[cold]
    #[inline(never)]
    fn add_slow(&self, amount: i64) {
        let words = self.words();
        if registration::libc_area::<Cpu>().is_some() {
            // Release: pairs with the Acquire of `add`, for the words, and for the area's being there.
            self.quick.store(words, Ordering::Release);
        }
        loop {
            let here = CurrentSlot::now();
            let at = copy_in(words.cast::<u64>(), here.slot());
            // SAFETY: this slot's total, which nobody changes from outside (Invariant 1).
            if unsafe { here.load_add_store(&NEVER, at, amount as u64) } == Outcome::Done {
                return self.tell(here.slot());
            }
        }
    }

    /// Adds one.
    #[inline(always)]
    #[doc(alias = "percpu_counter_inc")]
    pub fn inc(&self) {
        self.add(1);
    }

    /// Takes one away.
    #[inline(always)]
    #[doc(alias = "percpu_counter_dec")]
    pub fn dec(&self) {
        self.add(-1);
    }

    /// About the sum, by one load: at most [`error`](Self::error) from it, but for what threads in the middle of an
    /// addition add, those too that a fork has left behind in the middle.
    #[inline]
    #[doc(alias = "percpu_counter_read")]
    pub fn read(&self) -> i64 {
        // Relaxed: a count, which orders nothing.
        self.shared.load(Ordering::Relaxed)
    }

    /// About the sum, or 0 where that is negative: for sums that cannot be, but may look so between two CPUs.
    #[inline]
    #[doc(alias = "percpu_counter_read_positive")]
    pub fn read_positive(&self) -> i64 {
        self.read().max(0)
    }

    /// The sum: exact for all additions that happened before; one that is made meanwhile is in it or not.
    #[doc(alias = "percpu_counter_sum")]
    pub fn sum(&self) -> i64 {
        let Some(words) = self.words.made() else {
            return self.first;
        };
        Slot::all().fold(self.first, |sum, slot| sum.wrapping_add(total_of(words.as_ptr(), slot)))
    }

    /// The sum, or 0 where that is negative: two CPUs are looked at one after the other.
    #[doc(alias = "percpu_counter_sum_positive")]
    pub fn sum_positive(&self) -> i64 {
        self.sum().max(0)
    }

    /// The sum compared with `value`. By one load where that decides, as exact as that is; else by [`sum`](Self::sum).
    #[doc(alias = "percpu_counter_compare")]
    pub fn compare(&self, value: i64) -> cmp::Ordering {
        let about = self.read();
        // Relaxed: stored before there were words, and what was added since the fork was added to these.
        if self.forks.load(Ordering::Relaxed) != thread::fork_generation() {
            return self.sum().cmp(&value);
        }
        // As numbers without end: two counts may be further apart than a count can say.
        if (i128::from(about) - i128::from(value)).unsigned_abs() > u128::from(self.error()) {
            return about.cmp(&value);
        }
        self.sum().cmp(&value)
    }

    /// How far [`read`](Self::read) may be from the sum while nobody adds.
    pub fn error(&self) -> u64 {
        self.decided().saturating_mul(slot_count() as u64)
    }

    /// Tells the shared sum, from whichever CPU the thread is on by now.
    #[cold]
    #[inline(never)]
    fn tell(&self, slot: Slot) {
        tell(&(self, slot), self.batch());
    }
}

/// More is as good as this.
const LARGEST_BATCH: u64 = i64::MAX as u64;

/// All that was added in a slot.
#[inline(always)]
fn total_of(words: *mut [i64; 2], slot: Slot) -> i64 {
    // SAFETY: a word of a counter's slot, which sequences change (Safety 1); the counter is borrowed.
    (unsafe { u64::load(copy_in(words, slot).cast()) }) as i64
}

/// What the shared sum knows of it.
#[inline(always)]
fn told_of<'a>(words: *mut [i64; 2], slot: Slot) -> &'a AtomicI64 {
    let at = copy_in(words, slot).cast::<i64>().wrapping_add(1);
    // SAFETY: the second word of a counter's slot, an atomic for everybody (Safety 1); the counter is borrowed.
    unsafe { AtomicI64::from_ptr(at) }
}

/// What telling is made of; in the models, stand-ins.
trait Telling {
    /// All that was added in the slot.
    fn total(&self) -> i64;
    /// What the shared sum knows of it. Acquire: pairs with the exchange.
    fn told(&self) -> i64;
    /// Exchanges that, `Err` with what it was. `AcqRel`: pairs with itself, so that a total that is loaded afterwards is not
    /// older than what was told.
    fn exchange(&self, from: i64, to: i64) -> Result<(), i64>;
    /// Adds to the shared sum.
    fn share(&self, difference: i64);
}

impl Telling for (&Counter, Slot) {
    fn total(&self) -> i64 {
        total_of(self.0.words(), self.1)
    }

    fn told(&self) -> i64 {
        told_of(self.0.words(), self.1).load(Ordering::Acquire)
    }

    fn exchange(&self, from: i64, to: i64) -> Result<(), i64> {
        let told = told_of(self.0.words(), self.1);
        told.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .map(|_| ())
    }

    fn share(&self, difference: i64) {
        // Relaxed: a count, which orders nothing (Invariant 2).
        self.0.shared.fetch_add(difference, Ordering::Relaxed);
    }
}

/// Tells the difference, where that is a batch.
fn tell(slot: &impl Telling, batch: u64) {
    let mut before = slot.told();
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

/// How many CPUs there are, or 1 where that is not known.
fn cpus() -> usize {
    static CPUS: AtomicUsize = AtomicUsize::new(0);
    // Relaxed, here and below: a number, the same whoever asks.
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
