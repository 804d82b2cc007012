//! [`Stack`]: a bounded stack of words for each CPU, last in, first out.
//!
//! A [`FreeList`](super::FreeList) links any number of objects, which stay in place until the list is dropped; a `Stack`
//! keeps at most `N` values for each CPU, which it owns only while they are in it.
//!
//! # States
//! A slot has a count, a guard, and `N` cells, of which the first `count` hold values.
//!
//! # Invariants
//! 1. The bits in a cell below the count are a value that only the stack owns. The cells from the count on hold no value.
//! 2. A push stores the bits and then the count, in one sequence. If it does not commit, it may have written a cell from the
//!    count on, and the caller still owns the value. A pop loads the bits and then stores the count, in one sequence;
//!    if it does not commit, it has taken nothing.
//! 3. A slot's words are changed by sequences that check its guard, under a portable slot's lock, or by the thread that has stopped
//!    the slot. A portable slot's guard is never set: its lock protects its stack.
//!
//! # Order
//! Of the values in one slot the last one pushed comes out first. A push uses the current CPU's slot;
//! a portable slot while a thread steals from that CPU's, or if the thread has no area. [`pop`](Stack::pop) checks only
//! its own CPU's slot. To get all values, use [`pop_or_steal`](Stack::pop_or_steal), [`drain`](Stack::drain), or
//! [`steal`](Stack::steal) of every slot of [`Slot::all`]; [`Slot::from_id`] never returns a portable slot.
//!
//! # Signals, forks, threads
//! A signal handler may push and pop values that need no drop, but not steal or drain: those may wait for the thread that it interrupted. A child
//! of a fork owns copies of all values that were on stacks, but not of those that other threads were about to push. A slot
//! that was being stolen from at the fork stays stopped in the child: its threads use portable slots, and its values are
//! dropped with the stack.
//!
//! # Memory ordering
//! A pop of a value sees what happened before its push.
//!
//! # Cost
//! A push and a pop are a sequence each, without LOCK, and so is a batch; a steal is an interrupt to the other CPU.
//! Memory: `N + 2` words in each slot that is used.
//!
//! # References
//! Google's tcmalloc, "Restartable Sequence Mechanism for TCMalloc", whose per-CPU slabs have this order.
//!
//! # Safety
//! 1. `slots` maps a `Cells<N>` in every slot until the stack is dropped.
#![expect(unsafe_code, reason = "words by address, and values by their bits")]

use super::Cpu;
use super::guard::Guard;
use super::registration::{self, RseqArea};
use super::slots::{LockedSlot, Slot};
use super::variable::PerCpu;
use super::word::{Bits, Zeroed};
use super::word_sized::WordSized;
use crate::arch::rseq::array;
use crate::arch::{EMPTY, Outcome};
use crate::error::Refusal;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

#[repr(C)]
struct Cells<const N: usize> {
    count: u64,
    guard: u64,
    words: [u64; N],
}

// SAFETY: integers, which need no drop.
unsafe impl<const N: usize> Zeroed for Cells<N> {}

/// A stack of at most `N` values for each CPU; `N` is 1 to 4096. Its drop drops the remaining values.
///
/// # Examples
/// ```
/// use cyclewise::percpu::Stack;
///
/// let spare = Stack::<Box<[u8; 64]>, 16>::new();
/// let buffer = spare.pop().unwrap_or_else(|| Box::new([0; 64]));
/// // Full where this CPU has 16: then it is freed.
/// let _ = spare.push(buffer);
/// ```
pub struct Stack<T: WordSized, const N: usize> {
    slots: PerCpu<Cells<N>>,
    /// Owns values, and is invariant in `T`, like `Cell<T>`.
    values: PhantomData<(T, fn(T))>,
}

// SAFETY: its values are sent with it.
unsafe impl<T: WordSized + Send, const N: usize> Send for Stack<T, N> {}
// SAFETY: by reference it moves values between threads, and shares none.
unsafe impl<T: WordSized + Send, const N: usize> Sync for Stack<T, N> {}

impl<T: WordSized, const N: usize> Stack<T, N> {
    /// Empty stacks.
    pub fn new() -> Self {
        const {
            assert!(N >= 1 && N <= 4096, "a stack has 1 to 4096 cells");
            assert!(
                size_of::<T>() == size_of::<u64>() && align_of::<T>() == align_of::<u64>(),
                "a value of a stack is one word of 64 bits"
            );
        };
        Self {
            slots: PerCpu::new(),
            values: PhantomData,
        }
    }

    /// Pushes a value to this CPU's stack.
    ///
    /// # Errors
    /// The value, if this CPU's stack is full.
    #[inline(always)]
    pub fn push(&self, value: T) -> Result<(), T> {
        let bits = value.into_bits();
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3).
            match unsafe { array::stack_push::<Cpu, N>(area, self.first(), bits) } {
                Outcome::Done => return Ok(()),
                // SAFETY: given up above, and not taken (Invariant 2).
                Outcome::Ne => return Err(unsafe { T::from_bits(bits) }),
                Outcome::Moved | Outcome::Stopped => {}
            }
        }
        self.push_slow(bits)
    }

    /// For threads that the C library has not registered, and while another thread has stopped this CPU's stack.
    #[cold]
    #[inline(never)]
    fn push_slow(&self, bits: u64) -> Result<(), T> {
        let end = (&raw const bits).wrapping_add(1);
        // SAFETY: one word before it.
        match unsafe { self.put_slow(end, 1) } {
            1 => Ok(()),
            // SAFETY: given up by the caller, and not taken (Invariant 2).
            _ => Err(unsafe { T::from_bits(bits) }),
        }
    }

    /// Pops the last value pushed on this CPU; `None` if its stack is empty.
    #[inline(always)]
    pub fn pop(&self) -> Option<T> {
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3).
            let (bits, left) = unsafe { array::stack_pop::<Cpu>(area, self.first()) };
            if left >= 0 {
                // SAFETY: just popped, so no other value has these bits (Invariant 1).
                return Some(unsafe { T::from_bits(bits) });
            }
            if left == EMPTY {
                return None;
            }
        }
        self.pop_slow()
    }

    /// For threads that the C library has not registered, and while another thread has stopped this CPU's stack.
    #[cold]
    #[inline(never)]
    fn pop_slow(&self) -> Option<T> {
        let mut bits = 0;
        // SAFETY: room for one word.
        match unsafe { self.take_slow(&raw mut bits, 1) } {
            0 => None,
            // SAFETY: just popped (Invariant 1).
            _ => Some(unsafe { T::from_bits(bits) }),
        }
    }

    /// Moves values from the end of `values` to this CPU's stack in one sequence, as many as there is room
    /// for, the last one on top; returns how many.
    pub fn push_many(&self, values: &mut Vec<T>) -> usize {
        let len = values.len().min(N);
        let rest = values.len() - len;
        let end = values.as_mut_ptr().wrapping_add(values.len());
        // The vector gives up `len` values, and takes back those that do not fit. The loops below do nothing where a value is its
        // bits, and then the compiler removes them: `stack_batches_have_no_loop_but_the_copy` checks it. Of a loop over an inclusive
        // range it kept the counting, two cycles a value.
        // SAFETY: fewer than before.
        unsafe { values.set_len(rest) };
        let first = end.wrapping_sub(len);
        for at in (0..len).map(|n| first.wrapping_add(n)) {
            // SAFETY: a value that the vector gave up.
            let bits = unsafe { at.read() }.into_bits();
            // SAFETY: the value's memory, which has the size and alignment of its bits (checked by `new`).
            unsafe { at.cast::<u64>().write(bits) };
        }
        // SAFETY: `len` words before it.
        let pushed = unsafe { self.put(end.cast(), len) };
        for n in 0..len - pushed {
            // SAFETY: the bits that were written there above, given up and not pushed (Invariant 2).
            unsafe { restore(first.wrapping_add(n)) };
        }
        // SAFETY: the first `rest + len - pushed` elements are values.
        unsafe { values.set_len(rest + len - pushed) };
        pushed
    }

    /// Moves at most `most` values from this CPU's stack to the end of `values` in one sequence, in the
    /// order in which they were pushed; returns how many.
    pub fn pop_many(&self, values: &mut Vec<T>, most: usize) -> usize {
        let most = most.min(N);
        // Before the values are popped, since it may panic.
        values.reserve(most);
        let before = values.len();
        let at = values.as_mut_ptr().wrapping_add(before);
        // SAFETY: room for `most` words, which have the size and alignment of values (checked by `new`).
        let taken = unsafe { self.take(at.cast(), most) };
        for n in 0..taken {
            // SAFETY: bits that were just popped (Invariant 1).
            unsafe { restore(at.wrapping_add(n)) };
        }
        // SAFETY: `taken` more elements are values.
        unsafe { values.set_len(before + taken) };
        taken
    }

    /// Moves all values of a slot's stack to the end of `out`; returns how many. It takes none while another thread
    /// steals from the slot. Meanwhile threads on that CPU use portable slots. Not for signal handlers.
    ///
    /// Cost: a load if the stack is empty; else a membarrier(2), or a portable slot's lock.
    ///
    /// # Errors
    /// The kernel has no such barrier or forbids it. Then nothing is taken.
    pub fn steal(&self, slot: Slot, out: &mut Vec<T>) -> Result<usize, Refusal> {
        if self.count(slot) == 0 {
            return Ok(0);
        }
        // Now, so that no thread waits for an allocation.
        out.reserve(N);
        let before = out.len();
        slot.exclusively::<Cpu, _>(self.guard(slot), || out.extend(self.values(slot)))?;
        Ok(out.len() - before)
    }

    /// Pops the last value pushed on this CPU; if its stack is empty, the last value of the first slot that has any,
    /// portable slots first. `None` if no slot has any, except those that another thread steals from. Not for signal
    /// handlers.
    ///
    /// Cost: a pop if there is a value here. Otherwise a load of every slot, and one [`steal`](Self::steal).
    ///
    /// # Errors
    /// As [`steal`](Self::steal).
    pub fn pop_or_steal(&self) -> Result<Option<T>, Refusal> {
        if let Some(value) = self.pop() {
            return Ok(Some(value));
        }
        for slot in Slot::portable_first() {
            if let Some(value) = self.steal_one(slot)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Pops the last value of a slot.
    fn steal_one(&self, slot: Slot) -> Result<Option<T>, Refusal> {
        if self.count(slot) == 0 {
            return Ok(None);
        }
        let taken = slot.exclusively::<Cpu, _>(self.guard(slot), || self.last(slot))?;
        Ok(taken.flatten())
    }

    /// Moves the values of all slots, one after the other, to the end of `out`; returns how many. Complete
    /// if no other thread pushes, pops or steals meanwhile.
    ///
    /// # Errors
    /// As [`steal`](Self::steal); the values taken before are in `out`.
    pub fn drain(&self, out: &mut Vec<T>) -> Result<usize, Refusal> {
        let before = out.len();
        for slot in Slot::all() {
            self.steal(slot, out)?;
        }
        Ok(out.len() - before)
    }

    /// Pushes as many of the `len` words before `end` as there is room for, the last ones; returns how many.
    ///
    /// # Safety
    /// They are bits of values. The caller gives up those that are pushed.
    #[inline]
    unsafe fn put(&self, end: *const u64, len: usize) -> usize {
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3); the caller vouches for the words.
            let run = unsafe { array::stack_push_many::<Cpu, N>(area, self.first(), end, len) };
            if run >= 0 {
                return run as usize;
            }
        }
        // SAFETY: the caller vouches for the words.
        unsafe { self.put_slow(end, len) }
    }

    /// For threads that the C library has not registered, and while another thread has stopped this CPU's stack.
    #[cold]
    #[inline(never)]
    unsafe fn put_slow(&self, end: *const u64, len: usize) -> usize {
        if let Some(RseqArea::Cpu(area)) = registration::thread_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3); the caller vouches for the
            // words.
            let run = unsafe { array::stack_push_many::<Cpu, N>(area, self.first(), end, len) };
            if run >= 0 {
                return run as usize;
            }
        }
        let locked = LockedSlot::any();
        let count = self.count(locked.slot());
        let run = len.min(N - count);
        for n in 0..run {
            // SAFETY: `run` of the `len` words.
            let bits = unsafe { u64::load(end.wrapping_sub(run - n).cast_mut()) };
            // SAFETY: no other thread changes the slot while it is locked (Invariant 3).
            unsafe { u64::store(self.cell(locked.slot(), count + n), bits) };
        }
        self.set_count(locked.slot(), count + run);
        run
    }

    /// Pops at most `len` words; returns how many.
    ///
    /// # Safety
    /// `to` has room for `len` words. The caller then owns the values of the popped words.
    #[inline]
    unsafe fn take(&self, to: *mut u64, len: usize) -> usize {
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3); the caller vouches for the room.
            let run = unsafe { array::stack_pop_many::<Cpu>(area, self.first(), to, len) };
            if run >= 0 {
                return run as usize;
            }
        }
        // SAFETY: the caller vouches for the room.
        unsafe { self.take_slow(to, len) }
    }

    /// For threads that the C library has not registered, and while another thread has stopped this CPU's stack.
    #[cold]
    #[inline(never)]
    unsafe fn take_slow(&self, to: *mut u64, len: usize) -> usize {
        if let Some(RseqArea::Cpu(area)) = registration::thread_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3); the caller vouches for the
            // room.
            let run = unsafe { array::stack_pop_many::<Cpu>(area, self.first(), to, len) };
            if run >= 0 {
                return run as usize;
            }
        }
        let locked = LockedSlot::any();
        let count = self.count(locked.slot());
        let run = len.min(count);
        for n in 0..run {
            // SAFETY: no other thread changes the slot while it is locked (Invariant 3).
            let bits = unsafe { u64::load(self.cell(locked.slot(), count - run + n)) };
            // SAFETY: the caller vouches for room for `len` words, of which this is one.
            unsafe { u64::store(to.wrapping_add(n), bits) };
        }
        self.set_count(locked.slot(), count - run);
        run
    }

    /// Empties a slot's stack. The slot is locked or stopped, or no other thread uses the stack.
    fn values(&self, slot: Slot) -> impl Iterator<Item = T> + '_ {
        let count = self.count(slot);
        self.set_count(slot, 0);
        (0..count).map(move |n| {
            // SAFETY: a cell that was below the count.
            let bits = unsafe { u64::load(self.cell(slot, n)) };
            // SAFETY: the count was set to 0, so no other pop returns it (Invariant 1).
            unsafe { T::from_bits(bits) }
        })
    }

    /// Pops the last value of a slot that is locked or stopped.
    fn last(&self, slot: Slot) -> Option<T> {
        let left = self.count(slot).checked_sub(1)?;
        // SAFETY: the last cell below the count (Invariant 1).
        let bits = unsafe { u64::load(self.cell(slot, left)) };
        self.set_count(slot, left);
        // SAFETY: the count no longer covers it, so no other pop returns it (Invariant 1).
        Some(unsafe { T::from_bits(bits) })
    }

    /// Slot 0's words.
    #[inline(always)]
    fn first(&self) -> *mut u64 {
        self.slots.as_ptr().cast()
    }

    fn cell(&self, slot: Slot, n: usize) -> *mut u64 {
        self.slots.slot_ptr(slot).cast::<u64>().wrapping_add(2 + n)
    }

    fn count(&self, slot: Slot) -> usize {
        // SAFETY: a word that sequences change (Safety 1).
        (unsafe { u64::load(self.slots.slot_ptr(slot).cast()) }) as usize
    }

    /// The slot is locked or stopped, or no other thread uses the stack.
    fn set_count(&self, slot: Slot, count: usize) {
        // SAFETY: the slot's first word, which no other thread changes now, as the caller ensures (Invariant 3).
        unsafe { u64::store(self.slots.slot_ptr(slot).cast(), count as u64) };
    }

    pub(super) fn guard(&self, slot: Slot) -> &Guard {
        let at = self.slots.slot_ptr(slot).cast::<Guard>().wrapping_add(1);
        // SAFETY: the second word of the slot, accessed only as a guard (Safety 1).
        unsafe { &*at }
    }
}

/// Turns bits back into a value, in the same memory.
///
/// # Safety
/// `at` holds the bits of a value that the caller owns.
unsafe fn restore<T: WordSized>(at: *mut T) {
    // SAFETY: the caller vouches that bits are there, aligned as a value is.
    let bits = unsafe { at.cast::<u64>().read() };
    // SAFETY: the caller vouches that they are its own, of a value of this type.
    let value = unsafe { T::from_bits(bits) };
    // SAFETY: room for a value, as the caller vouches; the bits there are no value, and need no drop.
    unsafe { at.write(value) };
}

impl<T: WordSized, const N: usize> Stack<T, N> {
    fn drop_all(&mut self) {
        // No borrow, so no sequence is in progress. Each value is off its stack before its drop, which may panic.
        Slot::all().for_each(|slot| core::iter::from_fn(|| self.last(slot)).for_each(drop));
    }
}

impl<T: WordSized, const N: usize> Drop for Stack<T, N> {
    fn drop(&mut self) {
        /// Drops the remaining values if a value's drop panics.
        struct Rest<'a, T: WordSized, const N: usize>(&'a mut Stack<T, N>);
        impl<T: WordSized, const N: usize> Drop for Rest<'_, T, N> {
            fn drop(&mut self) {
                self.0.drop_all();
            }
        }
        if core::mem::needs_drop::<T>() {
            Rest(self).0.drop_all();
        }
    }
}

impl<T: WordSized, const N: usize> Default for Stack<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: WordSized, const N: usize> fmt::Debug for Stack<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").finish_non_exhaustive()
    }
}
