//! [`Stack`]: a bounded stack of words for each CPU, last in, first out.
//!
//! ```
//! use cyclewise::percpu::Stack;
//!
//! let spare = Stack::<Box<[u8; 4096]>, 32>::new();
//! let page = spare.pop().unwrap_or_else(|| Box::new([0; 4096]));
//! // A page that does not fit is dropped.
//! drop(spare.push(page));
//! ```
//!
//! Beside [`FreeList`](super::FreeList): that links objects which stay where they are until the list is dropped, however
//! many; this keeps at most `N` values for each CPU, which come and go.
//!
//! # States
//! A slot has a count, a guard, and `N` cells, of which the first `count` hold values.
//!
//! # Invariants
//! 1. The bits in a cell below the count are a value that the stack owns, and that is nobody else's. A cell from the count on is
//!    nobody's.
//! 2. A push stores the bits and then the count, in one sequence. One that does not commit may have written a cell from the
//!    count on, and its value is still the caller's. A pop loads the bits and then stores the count, in one sequence;
//!    one that does not commit has taken nothing.
//! 3. A slot's words are changed by sequences that look at its guard, under a portable slot's lock, or by who has stopped
//!    the slot. A portable slot's guard is never set: to be at its stack is to have its lock.
//!
//! # Order
//! Of the values in one slot the one that was pushed last comes out first. A value goes to the slot of the CPU that its pusher is on;
//! to a portable slot while somebody steals from that CPU's, or where the thread has no area. [`pop`](Stack::pop) looks at the slot
//! of its own CPU alone. Who wants all takes by [`pop_or_steal`](Stack::pop_or_steal), [`drain`](Stack::drain), or
//! [`steal`](Stack::steal) of every slot of [`Slot::all`], which has the portable ones, as [`Slot::of`] each CPU has not.
//!
//! # Signals, forks, threads
//! A handler may push and pop values that need no drop, not steal or drain: those may wait for what it interrupted. A child
//! of a fork has all values that were on stacks, and owns its copies of them; what another thread was about to push is lost with it. A slot
//! that was being stolen from at that moment stays stopped in the child: its threads use portable slots, and what it has is
//! dropped with the stack.
//!
//! # Memory ordering
//! Who pops a value sees what its pusher did before.
//!
//! # Cost
//! A push and a pop are a sequence each, without LOCK, and so is a batch; a steal is an interrupt to the other CPU.
//! Memory: `N + 2` words in each slot that is used.
//!
//! # References
//! Google's tcmalloc, "Restartable Sequence Mechanism for TCMalloc", whose per-CPU slabs have this order.
//!
//! # Safety
//! 1. `slots` maps a `Cells<N>` in every slot, for as long as the stack lives.
#![expect(unsafe_code, reason = "words by address, and values by their bits")]

use super::Cpu;
use super::guard::Guard;
use super::registration::{self, RseqArea};
use super::slots::{LockedSlot, Slot};
use super::variable::PerCpu;
use super::word::{Bits, Zeroed};
use super::word_sized::WordSized;
use crate::arch::{EMPTY, Outcome, rseq_cells};
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

/// For each CPU a stack of at most `N` values, 1 to 4096. Those that are left when it is dropped are dropped.
///
/// One of values that live long cannot be taken for one of values that do not: those would be pushed by way of the second,
/// and popped by way of the first.
///
/// ```compile_fail
/// # use cyclewise::percpu::Stack;
/// fn shorter<'s, 'a>(stack: &'s Stack<Box<&'static str>, 4>) -> &'s Stack<Box<&'a str>, 4> {
///     stack
/// }
/// ```
pub struct Stack<T: WordSized, const N: usize> {
    slots: PerCpu<Cells<N>>,
    /// Owned, and as a `Cell` of them: what goes in comes out.
    values: PhantomData<(T, fn(T))>,
}

// SAFETY: its values go with it.
unsafe impl<T: WordSized + Send, const N: usize> Send for Stack<T, N> {}
// SAFETY: by reference it moves values from thread to thread, and shares none.
unsafe impl<T: WordSized + Send, const N: usize> Sync for Stack<T, N> {}

impl<T: WordSized, const N: usize> Stack<T, N> {
    /// Stacks without values.
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

    /// Puts a value on this CPU's stack.
    ///
    /// # Errors
    /// The value, where this CPU's stack is full.
    #[inline(always)]
    pub fn push(&self, value: T) -> Result<(), T> {
        let bits = value.into_bits();
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3).
            match unsafe { rseq_cells::stack_push::<Cpu, N>(area, self.first(), bits) } {
                Outcome::Done => return Ok(()),
                // SAFETY: given up above, and not taken (Invariant 2).
                Outcome::Ne => return Err(unsafe { T::from_bits(bits) }),
                Outcome::Moved | Outcome::Stopped => {}
            }
        }
        self.push_slow(bits)
    }

    /// Where the C library has not registered, or somebody else is at this CPU's stack.
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

    /// Takes the value that was pushed last on this CPU; `None` where there is none here.
    #[inline(always)]
    pub fn pop(&self) -> Option<T> {
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3).
            let (bits, left) = unsafe { rseq_cells::stack_pop::<Cpu>(area, self.first()) };
            if left >= 0 {
                // SAFETY: just taken off the stack, so nobody else has it (Invariant 1).
                return Some(unsafe { T::from_bits(bits) });
            }
            if left == EMPTY {
                return None;
            }
        }
        self.pop_slow()
    }

    /// Where the C library has not registered, or somebody else is at this CPU's stack.
    #[cold]
    #[inline(never)]
    fn pop_slow(&self) -> Option<T> {
        let mut bits = 0;
        // SAFETY: room for one word.
        match unsafe { self.take_slow(&raw mut bits, 1) } {
            0 => None,
            // SAFETY: just taken off the stack (Invariant 1).
            _ => Some(unsafe { T::from_bits(bits) }),
        }
    }

    /// Takes values off the end of `values` and puts them on this CPU's stack in one sequence, as many as there is room
    /// for, so that the last is on top; returns how many.
    pub fn push_many(&self, values: &mut Vec<T>) -> usize {
        let len = values.len().min(N);
        let rest = values.len() - len;
        let end = values.as_mut_ptr().wrapping_add(values.len());
        // The vector gives them up, and takes back what does not fit.
        // SAFETY: fewer than before.
        unsafe { values.set_len(rest) };
        for at in (1..=len).map(|n| end.wrapping_sub(n)) {
            // SAFETY: a value that the vector gave up.
            let bits = unsafe { at.read() }.into_bits();
            // SAFETY: its place, which has the size and alignment of its bits (checked by `new`).
            unsafe { at.cast::<u64>().write(bits) };
        }
        // SAFETY: `len` words before it.
        let pushed = unsafe { self.put(end.cast(), len) };
        for n in pushed + 1..=len {
            // SAFETY: the bits that were put there above: given up, and not taken (Invariant 2).
            unsafe { back(end.wrapping_sub(n)) };
        }
        // SAFETY: those before the last that were taken are values.
        unsafe { values.set_len(rest + len - pushed) };
        pushed
    }

    /// Takes at most `most` values off this CPU's stack in one sequence, and puts them at the end of `values` in the
    /// order in which they were pushed; returns how many.
    pub fn pop_many(&self, values: &mut Vec<T>, most: usize) -> usize {
        let most = most.min(N);
        // Now: a value that is taken has a place.
        values.reserve(most);
        let before = values.len();
        let at = values.as_mut_ptr().wrapping_add(before);
        // SAFETY: room for as many words, which have the size and alignment of values (checked by `new`).
        let taken = unsafe { self.take(at.cast(), most) };
        for n in 0..taken {
            // SAFETY: bits that were just taken (Invariant 1).
            unsafe { back(at.wrapping_add(n)) };
        }
        // SAFETY: as many values more.
        unsafe { values.set_len(before + taken) };
        taken
    }

    /// Takes all that a slot's stack has, and puts it at the end of `out`; returns how much. None too where somebody else
    /// is just doing so. While it works, threads on that CPU use portable slots. Not for signal handlers.
    ///
    /// Cost: a load where the stack is empty; else a membarrier(2), or in a portable slot its lock.
    ///
    /// # Errors
    /// Where the kernel has no such barrier or forbids it; nothing is taken then.
    pub fn steal(&self, slot: Slot, out: &mut Vec<T>) -> Result<usize, Refusal> {
        if self.count(slot) == 0 {
            return Ok(0);
        }
        // Now, so that nobody waits for an allocation.
        out.reserve(N);
        let before = out.len();
        slot.exclusively::<Cpu, _>(self.guard(slot), || out.extend(self.values(slot)))?;
        Ok(out.len() - before)
    }

    /// Takes the value that was pushed last on this CPU; where there is none, the last one of the first other slot that has any,
    /// portable ones first. `None` where no slot has any, but for those that somebody else is just taking from. Not for signal
    /// handlers.
    ///
    /// Cost: a pop where there is a value here. Else a look at every slot and, for one value, what [`steal`](Self::steal) costs.
    ///
    /// # Errors
    /// As [`steal`](Self::steal); nothing is taken then.
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

    /// Takes the value that was pushed last in a slot.
    fn steal_one(&self, slot: Slot) -> Result<Option<T>, Refusal> {
        if self.count(slot) == 0 {
            return Ok(None);
        }
        let taken = slot.exclusively::<Cpu, _>(self.guard(slot), || self.last(slot))?;
        Ok(taken.flatten())
    }

    /// Takes all that there is, one slot's after the other's, and puts it at the end of `out`; returns how much. Exact
    /// where nobody else pushes, pops or steals meanwhile.
    ///
    /// # Errors
    /// As [`steal`](Self::steal); what was taken before is in `out`.
    pub fn drain(&self, out: &mut Vec<T>) -> Result<usize, Refusal> {
        let before = out.len();
        for slot in Slot::all() {
            self.steal(slot, out)?;
        }
        Ok(out.len() - before)
    }

    /// Puts as many of the `len` words before `end` on a stack as there is room for, the last ones; returns how many.
    ///
    /// # Safety
    /// They are bits of values, of which the caller gives up those that are taken.
    #[inline]
    unsafe fn put(&self, end: *const u64, len: usize) -> usize {
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3); the caller vouches for the words.
            let run = unsafe { rseq_cells::stack_push_many::<Cpu, N>(area, self.first(), end, len) };
            if run >= 0 {
                return run as usize;
            }
        }
        // SAFETY: the caller vouches for the words.
        unsafe { self.put_slow(end, len) }
    }

    /// Where the C library has not registered, or somebody else is at this CPU's stack.
    #[cold]
    #[inline(never)]
    unsafe fn put_slow(&self, end: *const u64, len: usize) -> usize {
        if let Some(RseqArea::Cpu(area)) = registration::thread_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3); the caller vouches for the
            // words.
            let run = unsafe { rseq_cells::stack_push_many::<Cpu, N>(area, self.first(), end, len) };
            if run >= 0 {
                return run as usize;
            }
        }
        let taken = LockedSlot::any();
        let count = self.count(taken.slot());
        let run = len.min(N - count);
        for n in 0..run {
            // SAFETY: `run` of the `len` words.
            let bits = unsafe { u64::load(end.wrapping_sub(run - n).cast_mut()) };
            // SAFETY: ours while the slot is taken (Invariant 3).
            unsafe { u64::store(self.cell(taken.slot(), count + n), bits) };
        }
        self.set_count(taken.slot(), count + run);
        run
    }

    /// Takes at most `len` words off a stack; returns how many.
    ///
    /// # Safety
    /// `to` has room for `len` words. The caller owns the values whose bits it gets.
    #[inline]
    unsafe fn take(&self, to: *mut u64, len: usize) -> usize {
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3); the caller vouches for the room.
            let run = unsafe { rseq_cells::stack_pop_many::<Cpu>(area, self.first(), to, len) };
            if run >= 0 {
                return run as usize;
            }
        }
        // SAFETY: the caller vouches for the room.
        unsafe { self.take_slow(to, len) }
    }

    /// Where the C library has not registered, or somebody else is at this CPU's stack.
    #[cold]
    #[inline(never)]
    unsafe fn take_slow(&self, to: *mut u64, len: usize) -> usize {
        if let Some(RseqArea::Cpu(area)) = registration::thread_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's stack (Invariants 1 and 3); the caller vouches for the
            // room.
            let run = unsafe { rseq_cells::stack_pop_many::<Cpu>(area, self.first(), to, len) };
            if run >= 0 {
                return run as usize;
            }
        }
        let taken = LockedSlot::any();
        let count = self.count(taken.slot());
        let run = len.min(count);
        for n in 0..run {
            // SAFETY: ours while the slot is taken (Invariant 3).
            let bits = unsafe { u64::load(self.cell(taken.slot(), count - run + n)) };
            // SAFETY: the caller vouches for room for `len` words, of which this is one.
            unsafe { u64::store(to.wrapping_add(n), bits) };
        }
        self.set_count(taken.slot(), count - run);
        run
    }

    /// What a slot's stack has, and takes it. The slot is taken or stopped, or there is nobody else.
    fn values(&self, slot: Slot) -> impl Iterator<Item = T> + '_ {
        let count = self.count(slot);
        self.set_count(slot, 0);
        (0..count).map(move |n| {
            // SAFETY: a cell that was below the count.
            let bits = unsafe { u64::load(self.cell(slot, n)) };
            // SAFETY: the count was set to 0, so nobody else takes it (Invariant 1).
            unsafe { T::from_bits(bits) }
        })
    }

    /// Takes the value that was pushed last in a slot. The slot is taken or stopped.
    fn last(&self, slot: Slot) -> Option<T> {
        let left = self.count(slot).checked_sub(1)?;
        // SAFETY: the last cell below the count (Invariant 1).
        let bits = unsafe { u64::load(self.cell(slot, left)) };
        self.set_count(slot, left);
        // SAFETY: the count no longer covers it, so nobody else takes it (Invariant 1).
        Some(unsafe { T::from_bits(bits) })
    }

    /// Slot 0's words.
    #[inline(always)]
    fn first(&self) -> *mut u64 {
        self.slots.as_ptr().cast()
    }

    fn cell(&self, slot: Slot, n: usize) -> *mut u64 {
        self.slots.of(slot).cast::<u64>().wrapping_add(2 + n)
    }

    fn count(&self, slot: Slot) -> usize {
        // SAFETY: a word that sequences change (Safety 1).
        (unsafe { u64::load(self.slots.of(slot).cast()) }) as usize
    }

    /// The slot is taken or stopped, or there is nobody else.
    fn set_count(&self, slot: Slot, count: usize) {
        // SAFETY: the slot's first word, which nobody else changes now, as the caller sees to (Invariant 3).
        unsafe { u64::store(self.slots.of(slot).cast(), count as u64) };
    }

    #[cfg(test)]
    pub(super) fn guard_of(&self, slot: Slot) -> &Guard {
        self.guard(slot)
    }

    fn guard(&self, slot: Slot) -> &Guard {
        let at = self.slots.of(slot).cast::<Guard>().wrapping_add(1);
        // SAFETY: the second word of the slot, a guard for everybody (Safety 1).
        unsafe { &*at }
    }
}

/// Makes a value of the bits in its place.
///
/// # Safety
/// Bits that are the caller's, in a place of the size and alignment of a value.
unsafe fn back<T: WordSized>(at: *mut T) {
    // SAFETY: the caller vouches that bits are there, aligned as a value is.
    let bits = unsafe { at.cast::<u64>().read() };
    // SAFETY: the caller vouches that they are its own, of a value of this type.
    let value = unsafe { T::from_bits(bits) };
    // SAFETY: room for a value, as the caller vouches; the bits there are no value, and need no drop.
    unsafe { at.write(value) };
}

impl<T: WordSized, const N: usize> Stack<T, N> {
    fn drop_all(&mut self) {
        // Nobody borrows it, so nobody is in a sequence on it. Each is off its stack before its drop, which may panic.
        Slot::all().for_each(|slot| core::iter::from_fn(|| self.last(slot)).for_each(drop));
    }
}

impl<T: WordSized, const N: usize> Drop for Stack<T, N> {
    fn drop(&mut self) {
        /// The others, where a value's drop panics.
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
