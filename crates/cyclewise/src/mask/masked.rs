//! Data shared between signal handlers and the rest of the program.
//!
//! The kernel's `spin_lock_irqsave`: a hold excludes this thread's handlers, and a lock excludes other threads and
//! their handlers. Soundness rests on the lock alone; the hold prevents a handler from waiting for the thread that it
//! interrupted.
//!
//! # States
//! `owner` 0: free. Else the name of the owner's thread ([`fork`], Invariant 2).
//!
//! # Invariants
//! 1. A thread owns the value from its exchange of `owner` from 0 to its name until it stores 0. No thread takes it
//!    from an owner, not even from one that can never release it: the value may be half changed.
//! 2. Nothing of the lock is used after the store of 0: the next owner may free its memory.
//!
//! # Memory ordering
//! Taking is an Acquire and releasing a Release: the last owner's accesses happened before.
//!
//! # Owners that never release
//! A value that another thread owned at a fork is owned forever in the child, which has no such thread. A bounded wait for it ends
//! at once, and [`lock`](Masked::lock) panics after a second. In a child for which no fork handler of ours ran (`_Fork`, or no
//! handler of a signal registered before), that holds in the thread that forked. In others a bounded wait ends at its limit and
//! `lock` waits forever, as for any lock.
//!
//! A value whose guard was forgotten is owned by its thread until [`force_unlock`](Masked::force_unlock). Once that thread has ended,
//! `lock` panics after a second.
//!
//! # Priorities
//! Waiters sleep ([`waiters`](super::waiters)), so an owner of lower priority can run, also under SCHED_FIFO. Priority
//! is not inherited.
//!
//! # Cost
//! Taking: a load, and a compare-and-exchange whose LOCK is a site of [`patch`](crate::patch). Releasing: a store, a
//! load and a branch.
//!
//! # Safety
//! See Invariant 1.
#![expect(unsafe_code, reason = "a value behind a lock")]

use super::fork;
use super::this_thread::Hold;
use super::waiters::Waiters;
use crate::atomic::AtomicU64;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::time::Duration;

/// How long [`Masked::lock`] waits before it checks that the owner is a thread of this process.
const LOOK_NS: u64 = 1_000_000_000;

/// A value that is accessible only under a [`Hold`].
///
/// # fork
/// If another thread owns the value at a fork, the child never gets it: it may be half changed. In the child
/// [`lock`](Self::lock) panics, [`try_lock_for`](Self::try_lock_for) returns `None`, and a queue's handler counts the
/// signal as [`refused`](Self::refused). In a child of a multithreaded program, use `try_lock_for`.
///
/// # Priorities
/// Waiters sleep, so that an owner of lower priority can run. Priority is not inherited: do not share a value between
/// SCHED_FIFO and other threads if a second is too long to wait.
///
/// # Guards that are forgotten
/// A guard that is forgotten (`mem::forget`) keeps the value: others wait, also once the thread has ended, and this thread cannot take
/// it again. [`force_unlock`](Self::force_unlock) releases it.
///
/// # Panics while a guard lives
/// A panic releases the value as it is. There is no poisoning.
#[derive(Default)]
pub struct Masked<T: ?Sized> {
    owner: AtomicU64,
    waiters: Waiters,
    refused: AtomicU32,
    value: UnsafeCell<T>,
}

enum Owner {
    /// The calling thread.
    Caller,
    /// Apparently a thread that exists only in a parent process.
    Gone,
    /// Another thread.
    Other,
}

/// How an owner was lost.
enum Lost {
    /// It is a thread that exists only in a parent process.
    InParent,
    /// It is a thread of this process that has ended.
    Ended,
}

// SAFETY: one thread at a time owns the value (Invariant 1).
unsafe impl<T: ?Sized + Send> Sync for Masked<T> {}

impl<T> Masked<T> {
    /// A free value.
    pub const fn new(value: T) -> Self {
        Self {
            owner: AtomicU64::new(0),
            waiters: Waiters::new(),
            refused: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Masked<T> {
    /// Takes the value; waits while another thread owns it. The hold defers this thread's handlers meanwhile.
    ///
    /// Ordering: Acquire; pairs with the last owner's Release.
    ///
    /// # Panics
    /// If this thread already owns it: in the same function, or in a foreign handler, which a hold does not defer. After a
    /// second, if its owner has ended without releasing it; in a child of fork, if it is a thread that the child does not have.
    #[inline]
    #[track_caller]
    pub fn lock<'a>(&'a self, hold: &'a Hold) -> MaskedGuard<'a, T> {
        let _ = hold;
        let me = fork::me();
        // Acquire: pairs with the Release in `drop`.
        if self.owner.compare_exchange(0, me, Acquire, Relaxed).is_err() {
            self.lock_slow(me);
        }
        self.guard()
    }

    #[cold]
    #[track_caller]
    fn lock_slow(&self, me: u64) {
        loop {
            let waited = self.waiters.wait(LOOK_NS, || match self.take(me) {
                Ok(()) => Some(true),
                Err(Owner::Caller) => Some(false),
                Err(Owner::Other | Owner::Gone) => None,
            });
            match waited {
                Some(true) => return,
                Some(false) => panic!("a Masked value is taken twice by one thread"),
                None => match self.lost() {
                    Some(Lost::InParent) => {
                        panic!("a Masked value was held by another thread when this process was forked")
                    }
                    Some(Lost::Ended) => {
                        panic!("a Masked value is held by a thread that has ended: its guard was forgotten")
                    }
                    None => {}
                },
            }
        }
    }

    /// Takes the value if it is free. Does not wait.
    ///
    /// Ordering: Acquire on success, as [`lock`](Self::lock); else none.
    #[inline]
    pub fn try_lock<'a>(&'a self, hold: &'a Hold) -> Option<MaskedGuard<'a, T>> {
        let _ = hold;
        // Acquire: pairs with the Release in `drop`.
        let taken = self.owner.compare_exchange(0, fork::me(), Acquire, Relaxed);
        taken.is_ok().then(|| self.guard())
    }

    /// Takes the value; waits up to `limit` while another thread owns it. Returns `None` at once if this thread owns
    /// it, or if the owner appears to exist only in a parent process. Handlers may call it.
    ///
    /// Ordering: Acquire on success, as [`lock`](Self::lock); else none.
    pub fn try_lock_for<'a>(&'a self, hold: &'a Hold, limit: Duration) -> Option<MaskedGuard<'a, T>> {
        let guard = self.try_lock(hold);
        if guard.is_some() {
            return guard;
        }
        let me = fork::me();
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let waited = self.waiters.wait(limit_ns, || match self.take(me) {
            Ok(()) => Some(true),
            Err(Owner::Caller | Owner::Gone) => Some(false),
            Err(Owner::Other) => None,
        });
        if waited == Some(true) {
            return Some(self.guard());
        }
        // Relaxed: a statistic.
        self.refused.fetch_add(1, Relaxed);
        None
    }

    /// How often [`try_lock_for`](Self::try_lock_for) gave up. This includes handlers of a [`Queue`](super::Queue),
    /// whose signal is then lost.
    #[must_use]
    pub fn refused(&self) -> u32 {
        // Relaxed: a statistic.
        self.refused.load(Relaxed)
    }

    /// Tries once; returns the owner on failure.
    fn take(&self, me: u64) -> Result<(), Owner> {
        // Acquire: pairs with the Release in `drop`.
        match self.owner.compare_exchange(0, me, Acquire, Relaxed) {
            Ok(_) => Ok(()),
            Err(owner) if owner == me => Err(Owner::Caller),
            Err(owner) if fork::is_of_a_parent(owner) => Err(Owner::Gone),
            Err(_) => Err(Owner::Other),
        }
    }

    /// Why the owner never releases the value, where that is known. Makes system calls.
    fn lost(&self) -> Option<Lost> {
        let owner = self.owner.load(Relaxed);
        if fork::is_of_a_parent(owner) {
            return Some(Lost::InParent);
        }
        // It may have released the value before it ended.
        (fork::has_ended(owner) && self.owner.load(Relaxed) == owner).then_some(Lost::Ended)
    }

    /// Whether the value has an owner that never releases it.
    #[doc(hidden)]
    pub fn __is_lost(&self) -> bool {
        self.lost().is_some()
    }

    /// Whether the calling thread is the owner.
    #[doc(hidden)]
    #[inline]
    pub fn __is_callers(&self) -> bool {
        // Relaxed: only the thread itself stores its name, or takes it away.
        self.owner.load(Relaxed) == fork::me()
    }

    /// Releases the value in place of a guard that was forgotten.
    ///
    /// Ordering: Release; pairs with the Acquire in `lock`.
    ///
    /// # Safety
    /// The value's guard was forgotten, by this thread or by one whose end happens before this call, and no reference from
    /// it is used any more.
    ///
    /// # Examples
    /// ```
    /// use cyclewise::mask::{self, Masked};
    ///
    /// static VALUE: Masked<u32> = Masked::new(0);
    ///
    /// let hold = mask::hold();
    /// std::mem::forget(VALUE.lock(&hold));
    /// assert!(VALUE.try_lock(&hold).is_none());
    /// // SAFETY: the guard was forgotten above.
    /// unsafe { VALUE.force_unlock() };
    /// assert!(VALUE.try_lock(&hold).is_some());
    /// ```
    pub unsafe fn force_unlock(&self) {
        self.waiters.wake_after(|| self.owner.store(0, Release));
    }

    fn guard(&self) -> MaskedGuard<'_, T> {
        MaskedGuard {
            masked: self,
            thread: PhantomData,
        }
    }

    /// The value; exclusive access needs no lock.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: ?Sized> fmt::Debug for Masked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masked").finish_non_exhaustive()
    }
}

/// Owns a [`Masked`]'s value; releases it on drop.
#[must_use]
pub struct MaskedGuard<'a, T: ?Sized> {
    masked: &'a Masked<T>,
    /// Stays on the thread whose hold it is under.
    thread: PhantomData<*const ()>,
}

impl<T: ?Sized> Deref for MaskedGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: ours while this guard lives (Invariant 1).
        unsafe { &*self.masked.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MaskedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: ours while this guard lives (Invariant 1).
        unsafe { &mut *self.masked.value.get() }
    }
}

impl<T: ?Sized> Drop for MaskedGuard<'_, T> {
    /// Ordering: Release; pairs with the Acquire in `lock`.
    fn drop(&mut self) {
        let masked = self.masked;
        masked.waiters.wake_after(|| masked.owner.store(0, Release));
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MaskedGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
