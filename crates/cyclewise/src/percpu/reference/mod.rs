//! [`Ref`]: a reference count that each CPU keeps its part of, until it is killed; then one shared count that ends at 0.
//!
//! ```
//! use cyclewise::percpu::Ref;
//!
//! let users = Ref::new(|| println!("nobody is left"));
//! assert!(users.try_get_live());
//! assert!(users.kill()?); // from now on nobody gets in
//! assert!(!users.try_get_live());
//! users.put(); // nobody is left
//! # Ok::<(), cyclewise::error::Refusal>(())
//! ```
//!
//! # States
//! See `protocol`. *Live*: counted in the slots, and never looked at for 0. *Killed*: counted in one word; whoever takes that
//! to 0 runs the release. *Shared*: as killed, but live, where the kernel has no membarrier(2) to wait for slots with.
//!
//! # Memory ordering
//! The release sees what everybody did before giving back a reference.
//!
//! # Cost
//! Live, a get and a put are a sequence each. A kill is a membarrier(2), which interrupts every CPU that runs the process.
//!
//! # Signals, forks, threads
//! A handler may get and put, not kill. A child of a fork has the counts as they were; references of threads that it does not have
//! are never put, so what they hold is never released there.
//!
//! # References
//! Linux lib/percpu-refcount.c, include/linux/percpu-refcount.h; there a grace period of RCU is what membarrier is here.
//!
//! # Safety
//! 1. `slots` maps a word in every slot, for as long as the reference lives.
#![expect(unsafe_code, reason = "words by address")]

mod protocol;
#[cfg(all(test, feature = "std"))]
mod tests;

use super::current_slot::CurrentSlot;
use super::guard::Guard;
use super::remote;
use super::slots::Slot;
use super::variable::PerCpu;
use super::word::Bits;
use crate::arch::Outcome;
use crate::error::Refusal;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use protocol::{BIAS, DEAD, Parts, SHUT};

/// The real parts. The guard and the word are in a cache line that nobody writes while it is live.
#[repr(align(128))]
struct Words {
    guard: Guard,
    shared: AtomicU64,
    slots: PerCpu<u64>,
}

impl Parts for Words {
    #[inline(always)]
    fn add_in_slot(&self, amount: i64) -> bool {
        loop {
            let here = CurrentSlot::now();
            // SAFETY: this slot's word, changed from outside only while the guard is shut (Safety 1).
            match unsafe { here.load_add_store(&self.guard, self.slots.of(here.slot()), amount as u64) } {
                Outcome::Done => return true,
                Outcome::Stopped => return false,
                Outcome::Ne | Outcome::Moved => {}
            }
        }
    }

    fn set_guard(&self, guard: u64) {
        // SeqCst: before the barrier that follows; and Release, for the sequences' load of it.
        self.guard.word().store(guard, Ordering::SeqCst);
    }

    fn wait_for_slots(&self) -> Result<(), Refusal> {
        remote::restart_all()
    }

    fn take_slots(&self) -> i64 {
        let take = |slot| {
            let at = self.slots.of(slot);
            // SAFETY: nobody else is at the slots' words now (Safety 1).
            let found = unsafe { u64::load(at) };
            if found != 0 {
                // SAFETY: the same word, while the guard is still shut and the slots have been waited for.
                unsafe { u64::store(at, 0) };
            }
            found as i64
        };
        Slot::all().map(take).fold(0, i64::wrapping_add)
    }

    #[inline]
    fn shared(&self) -> u64 {
        // Acquire: pairs with the Release half of `exchange`.
        self.shared.load(Ordering::Acquire)
    }

    #[inline]
    fn exchange(&self, from: u64, to: u64) -> Result<(), u64> {
        // AcqRel: pairs with itself.
        self.shared
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .map(|_| ())
    }
}

/// A reference count by CPU. It counts; what the references are to is its owner's affair. When it was killed and the last
/// reference is put, it runs `release`, once for each life.
#[doc(alias = "percpu_ref")]
pub struct Ref<R: Fn()> {
    words: Words,
    /// Not where slots cannot be waited for.
    by_slot: bool,
    release: R,
}

impl<R: Fn()> Ref<R> {
    /// A live one, with a first reference that [`kill`](Self::kill) puts.
    #[doc(alias = "percpu_ref_init")]
    pub fn new(release: R) -> Self {
        let by_slot = remote::can_restart();
        let guard = Guard::new();
        if !by_slot {
            // Relaxed: nobody else has it yet.
            guard.word().store(SHUT, Ordering::Relaxed);
        }
        Self {
            words: Words {
                guard,
                shared: AtomicU64::new(if by_slot { BIAS + 1 } else { 1 }),
                slots: PerCpu::new(),
            },
            by_slot,
            release,
        }
    }

    /// Takes a reference; `false` where it is killed and none is left.
    #[inline(always)]
    #[doc(alias = "percpu_ref_tryget")]
    pub fn try_get(&self) -> bool {
        protocol::try_get(&self.words)
    }

    /// Takes a reference; `false` once a kill has begun, and for certain once it has returned.
    #[inline(always)]
    #[doc(alias = "percpu_ref_tryget_live")]
    pub fn try_get_live(&self) -> bool {
        protocol::try_get_live(&self.words)
    }

    /// Gives a reference back that a get has given. After the kill the last one runs the release.
    ///
    /// One put too many is a mistake that is found at the kill at the latest, if at all; the release never runs then.
    #[inline(always)]
    #[doc(alias = "percpu_ref_put")]
    pub fn put(&self) {
        if protocol::put(&self.words) {
            (self.release)();
        }
    }

    /// Lets nobody get a live reference any more, waits until that is so, and puts the first reference. `false` where it was
    /// killed before; then another's kill may still be at it. Not for signal handlers.
    ///
    /// # Errors
    /// Where the kernel has come to forbid membarrier(2). It is live then; some may have been told that it is not.
    #[doc(alias = "percpu_ref_kill")]
    pub fn kill(&self) -> Result<bool, Refusal> {
        self.kill_and_confirm(|| ())
    }

    /// As [`kill`](Self::kill), and runs `confirm` when nobody will get a live reference any more, before the first reference is
    /// put: so the release has not run. Where `confirm` panics it is killed as well, and the first reference is put.
    ///
    /// # Errors
    /// As [`kill`](Self::kill); `confirm` does not run then.
    #[doc(alias = "percpu_ref_kill_and_confirm")]
    pub fn kill_and_confirm(&self, confirm: impl FnOnce()) -> Result<bool, Refusal> {
        if !protocol::kill(&self.words)? {
            return Ok(false);
        }
        // Its drop puts the first reference, also where `confirm` unwinds.
        let first = First(self);
        confirm();
        drop(first);
        Ok(true)
    }

    /// Makes it live again, with a first reference. `false` where it is live, or references are left. The release may be
    /// under way still: wait for what it does.
    #[doc(alias = "percpu_ref_reinit")]
    pub fn reinit(&self) -> bool {
        protocol::reinit(&self.words, self.by_slot)
    }

    /// Whether it is killed.
    #[doc(alias = "percpu_ref_is_dying")]
    pub fn is_dying(&self) -> bool {
        self.words.shared() & DEAD != 0
    }

    /// Whether it is killed and no reference is left.
    #[doc(alias = "percpu_ref_is_zero")]
    pub fn is_zero(&self) -> bool {
        self.words.shared() & !protocol::AGAIN == DEAD
    }
}

/// The first reference of one that is killed.
struct First<'a, R: Fn()>(&'a Ref<R>);

impl<R: Fn()> Drop for First<'_, R> {
    fn drop(&mut self) {
        if protocol::put_shared(&self.0.words) {
            (self.0.release)();
        }
    }
}

impl<R: Fn()> fmt::Debug for Ref<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ref")
            .field("is_dying", &self.is_dying())
            .finish_non_exhaustive()
    }
}
