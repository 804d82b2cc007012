//! Access to a slot from outside its CPU: the CPU's own threads are stopped first.
//!
//! # States
//! Each slot has a [`Guard`] beside the copies that it guards: 0 while the slot's own threads may change them,
//! 1 while another thread may. The sequences of [`CurrentSlot`](super::CurrentSlot) check it; the operations of
//! [`this_cpu`](super::this_cpu) do not, and must not be used on guarded words.
//!
//! # Memory ordering
//! The thread that stops a slot sees what the slot's threads did before: the kernel's barrier restarts every sequence on
//! that CPU and is a full barrier there, and a thread that is not running restarts its sequence when it is scheduled.
//! A thread that finds the guard 0 again sees what was done in between.
//!
//! # Forks, priorities
//! If a fork leaves the stopping thread behind, the slot stays stopped in the child: its threads use
//! portable slots, and [`Slot::stop`] returns `None`. A thread that waits for the holder of a portable
//! slot does so as `backoff` says, up to a limit. No thread waits for the drop of [`Stopped`].
//!
//! # Cost
//! One membarrier(2), which interrupts one CPU or all; for a portable slot, its lock.

use super::guard::{Guard, NEVER};
use super::index::{Index, by_cid};
use super::registration::restart_sequences;
use super::slots::{LockedSlot, Slot};
use crate::error::Refusal;
use core::sync::atomic::{AtomicU64, Ordering};

/// A slot whose own threads are stopped, until this is dropped.
#[derive(Debug)]
#[must_use = "the slot's threads go on when this is dropped"]
pub struct Stopped<'a> {
    guard: &'a Guard,
    slot: Slot,
}

impl Slot {
    /// Stops the slot's own threads at this guard: from now on their sequences return
    /// [`Outcome::Stopped`](super::Outcome::Stopped), and none is in progress. `None` where another thread has stopped them,
    /// and at [`NEVER`].
    ///
    /// `I` is the index of the variable, and `guard` is in this slot's copy of it. Not for signal handlers, which might
    /// wait for the thread that they interrupted.
    ///
    /// # Errors
    /// The kernel has no such barrier (before Linux 5.10), or a filter forbids it; [`Refusal::SlotHeld`] where the holder
    /// of a portable slot does not release it. Then nothing is stopped.
    pub fn stop<I: Index>(self, guard: &Guard) -> Result<Option<Stopped<'_>>, Refusal> {
        if core::ptr::eq(guard, &NEVER) {
            return Ok(None);
        }
        // Acquire: pairs with the Release of the last `Stopped`. The barrier below orders it with the slot's own threads.
        if guard
            .word()
            .compare_exchange(0, 1, Ordering::SeqCst, Ordering::Relaxed)
            .is_err()
        {
            return Ok(None);
        }
        let stopped = Stopped { guard, slot: self };
        match self.portable() {
            // A thread that takes the lock from now on sees the guard.
            Some(n) => drop(LockedSlot::wait(n)?),
            None => restart_sequences((!by_cid::<I>()).then_some(self.number()))?,
        }
        Ok(Some(stopped))
    }

    /// Runs `change` while no other thread changes the slot: with its lock, or with its own threads stopped at `guard`. `None` where
    /// another thread has stopped them.
    ///
    /// # Errors
    /// As [`stop`](Self::stop).
    pub(super) fn exclusively<I: Index, R>(
        self,
        guard: &Guard,
        change: impl FnOnce() -> R,
    ) -> Result<Option<R>, Refusal> {
        if let Some(portable) = self.portable() {
            let _locked = LockedSlot::wait(portable)?;
            return Ok(Some(change()));
        }
        let stopped = self.stop::<I>(guard)?;
        Ok(stopped.map(|_stopped| change()))
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

/// Returns when every sequence and every portable change that was in progress in any slot has ended or started again. From
/// then on all of them see the guards as they were set before the call.
///
/// # Errors
/// As [`Slot::stop`].
pub(super) fn restart_all() -> Result<(), Refusal> {
    LockedSlot::wait_for_all_released()?;
    restart_sequences(None)
}

/// Whether the kernel can restart sequences. Asked once.
pub(super) fn can_restart() -> bool {
    static ANSWER: AtomicU64 = AtomicU64::new(0);
    const YES: u64 = 1; // it did
    const NO: u64 = 2; // it refused
    // Relaxed, here and below: the answer is the same for every thread.
    match ANSWER.load(Ordering::Relaxed) {
        0 => {
            let answer = restart_sequences(None).is_ok();
            ANSWER.store(if answer { YES } else { NO }, Ordering::Relaxed);
            answer
        }
        answer => answer == YES,
    }
}
