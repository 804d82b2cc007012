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
//! 1. `words` maps both words in every slot, for as long as the counter lives.
#![expect(unsafe_code, reason = "words by address")]

#[cfg(all(test, feature = "std"))]
mod tests;

use super::here::Here;
use super::registration;
use super::remote::NEVER;
use super::slots::{Slot, total};
use super::variable::PerCpu;
use super::word::Bits;
use crate::arch::{Cpu, Outcome, SHIFT, rseq_list};
use core::cmp;
use core::hint::cold_path;
use core::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// A sum that is cheap to add to from every CPU.
#[derive(Debug)]
#[doc(alias = "percpu_counter")]
pub struct Counter {
    words: PerCpu<[i64; 2]>,
    /// The batch less one: how far apart they may be.
    within: i64,
    first: i64,
    /// `first`, and what slots have told.
    shared: AtomicI64,
    /// How often this process had been forked when it was made: in a child the shared sum may lack something.
    forks: u32,
}

impl Counter {
    /// A counter that starts with `value`, and whose batch is the kernel's: 32, or twice the CPUs where that is more.
    #[doc(alias = "percpu_counter_init")]
    pub fn new(value: i64) -> Self {
        // 32 and 2: lib/percpu_counter.c, compute_batch_value.
        Self::with_batch(value, cmp::max(32, 2 * cpus() as u64))
    }

    /// A counter with a batch of its own: larger is quicker and less exact when it is read at once. At least 1, with
    /// which every addition is told.
    pub fn with_batch(value: i64, batch: u64) -> Self {
        Self {
            words: PerCpu::new(),
            within: (batch.clamp(1, i64::MAX as u64) - 1) as i64,
            first: value,
            shared: AtomicI64::new(value),
            forks: registration::forks(),
        }
    }

    /// How far a slot may be from what it has told.
    pub fn batch(&self) -> u64 {
        self.within as u64 + 1
    }

    /// Adds, and wraps around.
    #[inline(always)]
    #[doc(alias = "percpu_counter_add")]
    pub fn add(&self, amount: i64) {
        let Some(area) = registration::fast::<Cpu>() else {
            return self.add_slow(amount);
        };
        let at = self.words.as_ptr().cast::<u64>();
        // SAFETY: the area is the thread's; the total of every slot, which nobody changes from outside (Invariant 1), and
        // beside it an atomic for everybody.
        let (untold, copy) = unsafe { rseq_list::add_and_compare::<Cpu>(area, at, amount as u64) };
        // Both ends by one comparison: from 1 - batch to batch - 1 is as far from 0.
        if untold.wrapping_add(self.within as u64) > 2 * self.within as u64 {
            cold_path();
            self.tell(Slot((copy >> SHIFT) as u32));
        }
    }

    /// Where the C library has not registered.
    #[cold]
    #[inline(never)]
    fn add_slow(&self, amount: i64) {
        loop {
            let here = Here::now();
            let at = self.words.of(here.slot()).cast::<u64>();
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
        Slot::all().fold(self.first, |sum, slot| sum.wrapping_add(self.total(slot)))
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
        if self.forks != registration::forks() {
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
        (self.within as u64).saturating_mul(total() as u64)
    }

    /// All that was added in a slot.
    #[inline(always)]
    fn total(&self, slot: Slot) -> i64 {
        // SAFETY: a word that sequences change (Safety 1).
        (unsafe { u64::load(self.words.of(slot).cast()) }) as i64
    }

    /// What the shared sum knows of it.
    #[inline(always)]
    fn told(&self, slot: Slot) -> &AtomicI64 {
        let at = self.words.of(slot).cast::<i64>().wrapping_add(1);
        // SAFETY: the second word of the slot, an atomic for everybody (Safety 1).
        unsafe { AtomicI64::from_ptr(at) }
    }

    /// Tells the shared sum, from whichever CPU the thread is on by now.
    #[cold]
    #[inline(never)]
    fn tell(&self, slot: Slot) {
        tell(&(self, slot), self.batch());
    }
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
        self.0.total(self.1)
    }

    fn told(&self) -> i64 {
        self.0.told(self.1).load(Ordering::Acquire)
    }

    fn exchange(&self, from: i64, to: i64) -> Result<(), i64> {
        let told = self.0.told(self.1);
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
