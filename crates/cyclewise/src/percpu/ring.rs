//! [`Ring`]: a bounded queue of words for each CPU, first in, first out.
//!
//! # States
//! A slot has *head*, a guard, *tail*, and `N` cells. Head counts the words that were popped, tail the words that were pushed; the
//! words between them are in the cells of their numbers, modulo `N`.
//!
//! # Invariants
//! 1. `head <= tail <= head + N`, and neither ever decreases. So a thread that finds one of them unchanged knows that no word was
//!    popped, or none was pushed, since; 64 bits do not wrap around.
//! 2. A cell is written before the tail that covers it, in the sequence whose comparison of the tail gave the cell
//!    to the writer. A sequence that does not commit may have written cells past the tail, which hold no words.
//! 3. A word is read before the commit, in its sequence or before that compares the head. No thread overwrites
//!    it until the head has passed it.
//! 4. A slot's words are changed by sequences that check its guard, under a portable slot's lock, or by the thread that has stopped
//!    the slot. A portable slot's guard is never set: its lock protects its ring.
//!
//! # Order
//! The words of one slot come out in the order in which they were pushed, by any operation. A push uses the current CPU's
//! slot; a portable slot while a thread steals from that CPU's, or if the thread has no area.
//! So two words of a thread come out in order if both went to one slot. Otherwise their order is unspecified: the thread may have migrated
//! between the two pushes, or the second word may be in a portable slot. For more order, put a number in each word.
//!
//! Every word is in one of [`Slot::all`]. But [`pop`](Ring::pop) checks only its own CPU's slot, and
//! [`Slot::from_id`] never returns a portable slot. To get all words, use
//! [`pop_or_steal`](Ring::pop_or_steal), [`drain`](Ring::drain), or [`steal`](Ring::steal) of every slot of [`Slot::all`].
//!
//! # Signals, forks, threads
//! A signal handler may push and pop, but not steal or drain: those may wait for the thread that it interrupted. A child of a fork has all
//! words that were in rings, but not those that other threads were about to push. A slot that was being stolen from at
//! the fork stays stopped in the child: its threads use portable slots, and its words stay in it.
//!
//! # Memory ordering
//! A pop of a word sees what happened before its push.
//!
//! # Cost
//! A push and a pop are a sequence each, without LOCK, and so is a batch of words that does not cross the ring's end.
//!
//! # References
//! Google's tcmalloc, "Restartable Sequence Mechanism for TCMalloc", for batches by one commit.
//!
//! # Safety
//! 1. `slots` maps a `Cells<N>` in every slot until the ring is dropped.
#![expect(unsafe_code, reason = "words by address")]

use super::Cpu;
use super::current_slot::CurrentSlot;
use super::guard::Guard;
use super::registration;
use super::slots::{LockedSlot, Slot};
use super::variable::{PerCpu, or_end};
use super::word::{Bits, Integer, Sealed, Zeroed};
use crate::arch::rseq::array;
use crate::arch::{EMPTY, Outcome};
use crate::error::Refusal;
use crate::primitive::cold_path;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};

#[repr(C)]
struct Cells<const N: usize> {
    head: u64,
    guard: u64,
    tail: u64,
    words: [u64; N],
}

// SAFETY: integers, which need no drop.
unsafe impl<const N: usize> Zeroed for Cells<N> {}

/// A queue of at most `N` words of 64 bits for each CPU. `N` is a power of two, at most 4096.
///
/// # Examples
/// ```
/// use cyclewise::percpu::Ring;
///
/// let events = Ring::<u64, 16>::new();
/// events.push(7).expect("there is room for 16 on each CPU");
/// let mut seen = Vec::new();
/// events.drain(&mut seen)?;
/// assert_eq!(seen, [7]);
/// # Ok::<(), cyclewise::error::Refusal>(())
/// ```
#[derive(Debug)]
pub struct Ring<W, const N: usize> {
    slots: PerCpu<Cells<N>>,
    words: PhantomData<fn(W) -> W>,
}

/// A slot's words.
struct RingSlot<const N: usize>(*mut Cells<N>);

impl<const N: usize> RingSlot<N> {
    #[inline(always)]
    fn head(&self) -> *mut u64 {
        self.0.cast()
    }

    #[inline(always)]
    fn tail(&self) -> *mut u64 {
        self.0.cast::<u64>().wrapping_add(2)
    }

    /// The cell of a number.
    #[inline(always)]
    fn cell(&self, number: u64) -> *mut u64 {
        self.0.cast::<u64>().wrapping_add(3 + number as usize % N)
    }

    /// Loads a word of the slot. Acquire: pairs with the release of the last change of head or tail, for the cells.
    #[inline(always)]
    fn load(at: *mut u64) -> u64 {
        // SAFETY: mapped, and accessed only as an atomic (Safety 1 of the module).
        unsafe { AtomicU64::from_ptr(at) }.load(Ordering::Acquire)
    }

    #[inline(always)]
    fn guard<'a>(&self) -> &'a Guard {
        let at = self.0.cast::<Guard>().wrapping_add(1);
        // SAFETY: the second word of the slot, accessed only as a guard (Safety 1 of the module).
        unsafe { &*at }
    }

    /// Tail, and the room for more words at some moment; `None` if other threads changed both meanwhile.
    #[inline(always)]
    fn room(&self) -> Option<(u64, usize)> {
        // In this order: the head is not older than the tail, so a ring that looks full was full.
        let tail = Self::load(self.tail());
        let head = Self::load(self.head());
        let used = tail.wrapping_sub(head);
        (used <= N as u64).then(|| (tail, N - used as usize))
    }

    /// Head, and the number of words from it on at some moment.
    #[inline(always)]
    fn used(&self) -> (u64, usize) {
        // In this order: a ring that looks empty was empty.
        let head = Self::load(self.head());
        let tail = Self::load(self.tail());
        // May be too many if other threads have popped and pushed; then the commit's comparison fails.
        (head, tail.wrapping_sub(head).min(N as u64) as usize)
    }
}

impl<W: Integer + Sealed<Bits = u64>, const N: usize> Ring<W, N> {
    /// Empty rings. Without address space, it calls the handler of allocation errors, as `Box::new` does.
    pub fn new() -> Self {
        or_end(Self::try_new(), Layout::new::<Cells<N>>(), "a ring")
    }

    /// Empty rings.
    ///
    /// # Errors
    /// As of [`PerCpu::try_new`].
    pub fn try_new() -> Result<Self, Refusal> {
        const {
            assert!(
                N.is_power_of_two() && N <= 4096,
                "a ring has 1, 2, 4, ... or 4096 cells"
            )
        };
        Ok(Self {
            slots: PerCpu::try_new()?,
            words: PhantomData,
        })
    }

    /// Pushes a word to this CPU's ring.
    ///
    /// # Errors
    /// The word, if this CPU's ring is full.
    #[inline(always)]
    pub fn push(&self, word: W) -> Result<(), W> {
        if let Some(area) = registration::libc_area::<Cpu>() {
            let rings = self.slots.as_ptr().cast();
            // SAFETY: the area is the thread's; this CPU's ring (Invariants 1, 2 and 4), and `N` was checked by `new`.
            match unsafe { array::ring_push::<Cpu, N>(area, rings, word.bits()) } {
                Outcome::Done => return Ok(()),
                Outcome::Ne => return Err(word),
                Outcome::Moved | Outcome::Stopped => cold_path(),
            }
        }
        self.push_slow(word)
    }

    /// For threads that the C library has not registered, and while another thread has stopped this CPU's ring.
    #[cold]
    #[inline(never)]
    fn push_slow(&self, word: W) -> Result<(), W> {
        if self.push_many(&[word]) == 1 {
            Ok(())
        } else {
            Err(word)
        }
    }

    /// Pushes as many of the words as there is room for, in order; returns how many. Each run that
    /// does not cross the ring's end is one sequence; other threads' words may come between two runs.
    #[inline]
    pub fn push_many(&self, words: &[W]) -> usize {
        let mut left = words;
        while !left.is_empty() {
            let here = CurrentSlot::now();
            let at = RingSlot(self.slots.slot_ptr(here.slot()));
            let Some((tail, room)) = at.room() else { continue };
            let run = left.len().min(room).min(N - tail as usize % N);
            if run == 0 {
                break;
            }
            let (from, next) = (left.as_ptr().cast::<u64>(), tail.wrapping_add(run as u64));
            let (guard, to) = (at.guard(), at.cell(tail));
            // SAFETY: this CPU's ring (Invariants 1, 2 and 4); `run` cells from that one on, which end before the
            // ring does, and as many of the caller's words, which are of 64 bits.
            match unsafe { here.load_cbne_memcpy_store_release(guard, at.tail(), tail, to, from, run, next) } {
                Outcome::Done => left = &left[run..],
                Outcome::Ne | Outcome::Moved => {}
                Outcome::Stopped => {
                    cold_path();
                    left = &left[self.push_portable(left)..];
                    break;
                }
            }
        }
        words.len() - left.len()
    }

    /// Pops the oldest word of this CPU's ring; `None` if it is empty.
    #[inline(always)]
    pub fn pop(&self) -> Option<W> {
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's ring (Invariants 1, 3 and 4), and `N` was checked by `new`.
            let (word, cell) = unsafe { array::ring_pop::<Cpu, N>(area, self.slots.as_ptr().cast()) };
            if cell >= 0 {
                return Some(W::of_bits(word));
            }
            if cell == EMPTY {
                return None;
            }
        }
        self.pop_slow()
    }

    /// For threads that the C library has not registered, and while another thread has stopped this CPU's ring.
    #[cold]
    #[inline(never)]
    fn pop_slow(&self) -> Option<W> {
        let mut word = [W::of_bits(0)];
        (self.pop_many(&mut word) == 1).then_some(word[0])
    }

    /// Pops as many words as there are here and fit, the oldest first, in one sequence; returns how many. The contents of the rest of
    /// `words` are unspecified.
    #[inline]
    pub fn pop_many(&self, words: &mut [W]) -> usize {
        loop {
            let here = CurrentSlot::now();
            let at = RingSlot(self.slots.slot_ptr(here.slot()));
            let (head, used) = at.used();
            let run = used.min(words.len());
            if run == 0 {
                return 0;
            }
            read(&at, head, &mut words[..run]);
            let next = head.wrapping_add(run as u64);
            // SAFETY: this slot's word (Invariant 4).
            match unsafe { here.load_cbne_store_release(at.guard(), at.head(), head, next) } {
                Outcome::Done => return run,
                Outcome::Ne | Outcome::Moved => {}
                Outcome::Stopped => {
                    cold_path();
                    return self.pop_portable(words);
                }
            }
        }
    }

    /// Moves all words of a slot's ring to the end of `out`; returns how many. It takes none while another thread
    /// steals from the slot. Meanwhile threads on that CPU use portable slots. Not for signal handlers.
    ///
    /// Cost: two loads if the ring is empty; else a membarrier(2), or a portable slot's lock.
    ///
    /// # Errors
    /// The kernel has no such barrier or forbids it. Then nothing is taken.
    pub fn steal(&self, slot: Slot, out: &mut Vec<W>) -> Result<usize, Refusal> {
        let at = RingSlot(self.slots.slot_ptr(slot));
        if at.used().1 == 0 {
            return Ok(0);
        }
        // Now, so that no thread waits for an allocation.
        out.reserve(N);
        let taken = slot.exclusively::<Cpu, _>(at.guard(), || take_all(&at, out))?;
        Ok(taken.unwrap_or(0))
    }

    /// Pops the oldest word of this CPU's ring; if that is empty, the oldest word of the first slot that has any, portable
    /// slots first. `None` if no slot has any, except those that another thread steals from. Not for signal handlers.
    ///
    /// Cost: a pop if there is a word here. Otherwise a load of every slot, and one [`steal`](Self::steal).
    ///
    /// # Errors
    /// As [`steal`](Self::steal).
    pub fn pop_or_steal(&self) -> Result<Option<W>, Refusal> {
        if let Some(word) = self.pop() {
            return Ok(Some(word));
        }
        for slot in Slot::portable_first() {
            if let Some(word) = self.steal_one(slot)? {
                return Ok(Some(word));
            }
        }
        Ok(None)
    }

    /// Pops a slot's oldest word.
    fn steal_one(&self, slot: Slot) -> Result<Option<W>, Refusal> {
        let at = RingSlot(self.slots.slot_ptr(slot));
        if at.used().1 == 0 {
            return Ok(None);
        }
        let taken = slot.exclusively::<Cpu, _>(at.guard(), || take_one(&at))?;
        Ok(taken.flatten())
    }

    /// Moves the words of all slots, one after the other, to the end of `out`; returns how many. Complete
    /// if no other thread pushes, pops or steals meanwhile.
    ///
    /// # Errors
    /// As [`steal`](Self::steal); the words taken before are in `out`.
    pub fn drain(&self, out: &mut Vec<W>) -> Result<usize, Refusal> {
        let before = out.len();
        for slot in Slot::all() {
            self.steal(slot, out)?;
        }
        Ok(out.len() - before)
    }

    #[cfg(test)]
    pub(super) fn guard_of(&self, slot: Slot) -> &Guard {
        RingSlot(self.slots.slot_ptr(slot)).guard()
    }

    /// Pushes to a portable slot, while another thread has stopped this CPU's ring.
    #[cold]
    #[inline(never)]
    fn push_portable(&self, words: &[W]) -> usize {
        let locked = LockedSlot::any();
        let at = RingSlot::<N>(self.slots.slot_ptr(locked.slot()));
        let Some((tail, room)) = at.room() else { return 0 };
        let run = words.len().min(room);
        for (number, word) in (tail..).zip(&words[..run]) {
            store(at.cell(number), word.bits());
        }
        store(at.tail(), tail.wrapping_add(run as u64));
        run
    }

    /// The same for a pop.
    #[cold]
    #[inline(never)]
    fn pop_portable(&self, words: &mut [W]) -> usize {
        let locked = LockedSlot::any();
        let at = RingSlot::<N>(self.slots.slot_ptr(locked.slot()));
        let (head, used) = at.used();
        let run = used.min(words.len());
        read(&at, head, &mut words[..run]);
        store(at.head(), head.wrapping_add(run as u64));
        run
    }
}

/// Reads the words from a number on.
#[inline(always)]
fn read<W: Sealed<Bits = u64>, const N: usize>(at: &RingSlot<N>, head: u64, words: &mut [W]) {
    for (number, word) in (head..).zip(words) {
        *word = W::of_bits(RingSlot::<N>::load(at.cell(number)));
    }
}

/// Empties the ring of a slot that is locked or stopped.
fn take_all<W: Sealed<Bits = u64>, const N: usize>(at: &RingSlot<N>, out: &mut Vec<W>) -> usize {
    let (head, used) = at.used();
    out.extend(
        (head..)
            .take(used)
            .map(|number| W::of_bits(RingSlot::<N>::load(at.cell(number)))),
    );
    store(at.head(), head.wrapping_add(used as u64));
    used
}

/// Pops the oldest word of a slot that is locked or stopped.
fn take_one<W: Sealed<Bits = u64>, const N: usize>(at: &RingSlot<N>) -> Option<W> {
    let (head, used) = at.used();
    let mut word = [W::of_bits(0)];
    (used > 0).then(|| {
        read(at, head, &mut word);
        store(at.head(), head.wrapping_add(1));
        word[0]
    })
}

/// Changes a word of a slot that is locked or stopped.
fn store(at: *mut u64, bits: u64) {
    // SAFETY: a word of the slot, which no other thread changes now (Invariant 4).
    unsafe { u64::store(at, bits) };
}

impl<W: Integer + Sealed<Bits = u64>, const N: usize> Default for Ring<W, N> {
    fn default() -> Self {
        Self::new()
    }
}
