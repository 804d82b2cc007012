//! Changing a CPU's copies from outside: its own threads are stopped first.
//!
//! # States
//! A [`Guard`] is a word beside the copies that it guards, in each slot one: 0 while the slot's own threads may change them,
//! 1 while somebody else may. The sequences of [`CurrentSlot`](super::Here) look at it; the operations of
//! [`this_cpu`](super::this_cpu) do not, and are not for guarded words.
//!
//! # Memory ordering
//! What the slot's threads did before is seen by who has stopped them: the kernel's barrier restarts every sequence on
//! that CPU, and is a full barrier there; a thread that does not run has been through the scheduler, and will restart.
//! What was done meanwhile is seen by who finds the guard 0 again.
//!
//! # Forks, priorities
//! A thief that was left behind in the process that this one was forked from never lets its slot's threads go on: they use
//! portable slots, and others who would stop the slot are told that somebody has. A thief waits for the holder of a portable
//! slot as `wait` says, and is refused in the end. Between the stop and the drop of [`Stopped`] no thread waits for it.
//!
//! # Cost
//! A membarrier(2), an interrupt to one CPU or to all; in a portable slot its lock.

use super::guard::{Guard, NEVER};
use super::index::{Index, by_cid};
use super::slots::{LockedSlot, Slot};
use crate::error::Refusal;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};

/// A slot whose own threads are stopped, until this is dropped.
#[derive(Debug)]
#[must_use = "the slot's threads go on when this is dropped"]
pub struct Stopped<'a> {
    guard: &'a Guard,
    slot: Slot,
    /// By reference, so that it is not sent out of the guard's reach by mistake.
    of: PhantomData<&'a ()>,
}

impl Slot {
    /// Stops the slot's own threads at this guard: from now on their sequences return
    /// [`Outcome::Stopped`](super::Outcome::Stopped), and none is under way. `None` where somebody else has stopped them,
    /// and at [`NEVER`].
    ///
    /// `I` is the index of the variable, and `guard` is in this slot's copy of it. Not for signal handlers, which might
    /// wait for what they interrupted.
    ///
    /// # Errors
    /// Where the kernel has no such barrier (before Linux 5.10), or a filter forbids it; [`Refusal::SlotHeld`] where the holder
    /// of a portable slot does not go on. Nobody is stopped then.
    pub fn stop<I: Index>(self, guard: &Guard) -> Result<Option<Stopped<'_>>, Refusal> {
        if core::ptr::eq(guard, &NEVER) {
            return Ok(None);
        }
        // Acquire: pairs with the Release of who stopped them before. The barrier below is what orders it with the slot's
        // own threads.
        if guard
            .word()
            .compare_exchange(0, 1, Ordering::SeqCst, Ordering::Relaxed)
            .is_err()
        {
            return Ok(None);
        }
        let stopped = Stopped {
            guard,
            slot: self,
            of: PhantomData,
        };
        match self.portable() {
            // Whoever takes the lock from now on sees the guard.
            Some(n) => drop(LockedSlot::wait(n)?),
            None => barrier((!by_cid::<I>()).then_some(self.number()))?,
        }
        Ok(Some(stopped))
    }
}

impl Stopped<'_> {
    /// Which slot.
    pub fn slot(&self) -> Slot {
        self.slot
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        // Release: pairs with the load of the guard in the sequences, which acquires.
        self.guard.word().store(0, Ordering::Release);
    }
}

/// Returns when every sequence and every portable step that was under way in any slot has ended or begun again. So all
/// that look at a guard from now on see what it was set to before.
///
/// # Errors
/// As [`Slot::stop`].
pub(super) fn restart_all() -> Result<(), Refusal> {
    LockedSlot::pass_all()?;
    barrier(None)
}

/// Whether the kernel lets us. Asked once.
pub(super) fn can_restart() -> bool {
    static ANSWER: AtomicU64 = AtomicU64::new(0);
    const YES: u64 = 1; // it did
    const NO: u64 = 2; // it refused
    // Relaxed, here and below: an answer that is the same whoever asks.
    match ANSWER.load(Ordering::Relaxed) {
        0 => {
            let answer = barrier(None).is_ok();
            ANSWER.store(if answer { YES } else { NO }, Ordering::Relaxed);
            answer
        }
        answer => answer == YES,
    }
}

#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(loom)
))]
fn barrier(cpu: Option<u32>) -> Result<(), Refusal> {
    crate::sys::membarrier::rseq(cpu)
}

/// No slot is a CPU's.
#[cfg(not(all(
    feature = "std",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(loom)
)))]
fn barrier(_: Option<u32>) -> Result<(), Refusal> {
    Ok(())
}
