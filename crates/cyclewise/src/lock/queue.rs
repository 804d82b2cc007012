//! The slow path: a place in the queue, the wait for the headship, and the head's wait for the lock.
//!
//! # What a waiter does
//! 1. It tries for [`APPROACH`] pauses, or until it sees that the head insists. A lock that is kept for a head which does
//!    not come is taken: that head does not run.
//! 2. It claims a slot, puts itself last, and links itself to the one before, who will make it the head. Meanwhile it
//!    looks at its own slot alone, for [`FOLLOW`] pauses, and then sleeps on it.
//! 3. The head looks at the lock itself. For [`PATIENCE`] pauses it takes the lock when it finds it free, and newcomers may
//!    be faster: a thread that has the line and its time slice does many short sections while the others would
//!    only pass the line around. Then it insists for [`INSIST`] pauses: newcomers are kept out and the next release is
//!    for the head. If even that brings nothing, the holder is not running. The head stops insisting, so that whoever
//!    runs meanwhile may pass, puts itself down as asleep, and sleeps until a release wakes it; then it insists at once.
//! 4. It takes the lock, passes the headship on, and gives its slot back. From there on the queue does not need it.
//!
//! # Invariants
//! 1. Of the waiters of one lock at most one is the head: who found nobody before it, or whom the head before passed it to.
//! 2. A head passes the headship on exactly once: when it has the lock, or when its time is up.
//! 3. A waiter that gives up changes its state from waiting to [`GONE`], and whoever would have made it the head does
//!    the reverse; both are one exchange of the same word, so exactly one of them passes the headship on.
//!
//! # References
//! Linux kernel/locking/qspinlock.c for the word, `qspinlock_paravirt.h` for the steal, the pending head and the sleep;
//! J. Mellor-Crummey and M. Scott, 1991, for the queue; B. He, W. Scherer and M. Scott, "Preemption adaptivity in
//! time-published queue-based spin locks", 2005, for waiters that leave and are skipped.

use super::facade::put;
use super::park::Park;
use super::relax::{Pause, Relax};
use super::sleepers::sleepers;
use super::slots::{ASLEEP, GONE, HEAD, PARKED, Place, WAITING, claim};
use super::word::{LOCKED, NOBODY, PENDING, Word};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// How long, in pauses, a newcomer tries before it queues, unless the head insists.
#[cfg(not(loom))]
const APPROACH: u32 = 64;
/// How long, in pauses, a waiter behind the head looks before it sleeps.
#[cfg(not(loom))]
const FOLLOW: u32 = 64;
/// How long the head lets newcomers pass: some turns of theirs. The less, the sooner a waiter has its own.
#[cfg(not(loom))]
const PATIENCE: u32 = 256;
/// How long it then insists before it takes the holder for one that does not run.
#[cfg(not(loom))]
const INSIST: u32 = 1024;
/// How long a lock may be kept for a head before that is taken for one that does not run.
#[cfg(not(loom))]
const KEPT: u32 = 64;

// Each path once: loom tries what lies between.
#[cfg(loom)]
const APPROACH: u32 = 0;
#[cfg(loom)]
const FOLLOW: u32 = 0;
#[cfg(loom)]
const PATIENCE: u32 = 0;
#[cfg(loom)]
const INSIST: u32 = 1;
#[cfg(loom)]
const KEPT: u32 = 1;

/// Waits for the lock; `false` where the deadline came first.
#[cold]
pub(super) fn lock_slow<W: Word, P: Park, R: Relax>(word: &W, until: Option<P::Deadline>) -> bool {
    if approach::<W, R>(word) {
        return true;
    }
    let Some(me) = claim(word.key()) else {
        return outside::<W, P, R>(word, until);
    };
    if let Some(before) = Place::of(word.swap_tail(me.number())) {
        if before == me || !before.slot().waits_for(word.key()) {
            // Left behind by fork: whoever it was is in another process.
        } else if !before.slot().link(me) {
            // The headship waited there for whoever comes.
            before.slot().free();
        } else if !follow::<P, R>(me, until) {
            return false;
        }
    }
    // Relaxed: the caller's own until it sleeps.
    put!(me.slot().state, HEAD, Relaxed);
    let locked = head::<W, P, R>(word, me, until);
    pass_on::<W, P>(word, me);
    locked
}

/// Tries for a little while, unless the head insists, and where the lock is kept for a head that does not come.
fn approach<W: Word, R: Relax>(word: &W) -> bool {
    let mut relax = R::default();
    let (mut waited, mut kept) = (0, 0);
    loop {
        match word.look() {
            0 if word.take(0) => return true,
            PENDING if kept >= KEPT => return word.take(PENDING),
            PENDING => {
                kept += Pause.relax();
                continue;
            }
            found if found & PENDING != 0 => return false,
            _ => {}
        }
        if waited >= APPROACH {
            return false;
        }
        waited += relax.relax();
    }
}

/// Waits to be made the head; `false` where the deadline came first, and the slot is left behind.
fn follow<P: Park, R: Relax>(me: Place, until: Option<P::Deadline>) -> bool {
    let state = &me.slot().state;
    let mut relax = R::default();
    let mut waited = 0;
    loop {
        // Acquire: pairs with the AcqRel in `pass_on`.
        let now = state.load(Acquire);
        if now == HEAD {
            return true;
        }
        if until.is_some_and(P::is_past) {
            // AcqRel: pairs with the same in `pass_on`; the other side frees the slot.
            // Acquire on failure: made the head meanwhile, as above.
            return state.compare_exchange(now, GONE, AcqRel, Acquire).is_err();
        }
        if waited < FOLLOW {
            waited += relax.relax();
        } else if now == PARKED {
            P::wait(state, PARKED, until);
        } else {
            // Relaxed: tells the other side to wake, and nothing else. Fails where made the head meanwhile.
            let _ = state.compare_exchange(WAITING, PARKED, Relaxed, Relaxed);
        }
    }
}

/// Waits for the lock as the head; `false` where the deadline came first.
fn head<W: Word, P: Park, R: Relax>(word: &W, me: Place, until: Option<P::Deadline>) -> bool {
    let mut relax = R::default();
    let mut waited = 0;
    loop {
        let found = word.look();
        if found & LOCKED == 0 && word.take(found) {
            return true;
        }
        if until.is_some_and(P::is_past) {
            word.withdraw();
            return false;
        }
        if waited < PATIENCE {
            waited += relax.relax();
        } else if waited < PATIENCE + INSIST || !P::SLEEPS {
            if found == LOCKED {
                word.request();
            }
            waited = waited.saturating_add(Pause.relax());
        } else {
            word.withdraw();
            sleep::<W, P>(word, me, until);
            waited = PATIENCE;
        }
    }
}

/// Gives up the CPU until a release, as far as it is for this head to know.
fn sleep<W: Word, P: Park>(word: &W, me: Place, until: Option<P::Deadline>) {
    let state = &me.slot().state;
    let key = word.key();
    // Relaxed: seen by others through the registration.
    put!(state, ASLEEP, Relaxed);
    let registration = sleepers().register(key, me);
    // The barrier is between what was put down and the look: Invariant 1 of `sleepers`.
    let woken = registration.is_some() && P::heavy();
    if word.look() & LOCKED != 0 {
        if woken {
            P::wait(state, ASLEEP, until);
        } else {
            P::nap(state, ASLEEP, until);
        }
    }
    if let Some(registration) = registration {
        sleepers().withdraw(key, registration);
    }
    // Relaxed: the caller's own again.
    put!(state, HEAD, Relaxed);
}

/// Makes the next waiter the head, past those who have given up; ends the queue where there is none.
fn pass_on<W: Word, P: Park>(word: &W, me: Place) {
    let mut leaving = me;
    loop {
        let slot = leaving.slot();
        if word.tail() == leaving.number() && word.end_tail(leaving.number()) {
            slot.free();
            return;
        }
        let Some(next) = slot.pass() else {
            // Somebody is last by now and has not linked itself yet. It will find the mark; not waited for, since it
            // may have been preempted there.
            return;
        };
        slot.free();
        let state = &next.slot().state;
        // AcqRel: pairs with the Acquire in `follow`, and with the AcqRel of one that gives up.
        match state.swap(HEAD, AcqRel) {
            GONE => leaving = next,
            PARKED => return P::wake(state),
            _ => return,
        }
    }
}

/// The wait of one who has found no slot: looks now and then, behind everybody who has one. Correct and slow; no order.
#[cold]
fn outside<W: Word, P: Park, R: Relax>(word: &W, until: Option<P::Deadline>) -> bool {
    use super::facade::AtomicU32;
    let nothing = AtomicU32::new(0);
    let mut relax = R::default();
    let mut waited = 0;
    while !approach::<W, R>(word) {
        if until.is_some_and(P::is_past) {
            return false;
        }
        if waited < PATIENCE {
            waited += relax.relax();
        } else {
            P::nap(&nothing, 0, until);
        }
    }
    true
}

/// Whether there is a queue, as of some moment.
pub(super) fn is_queued<W: Word>(word: &W) -> bool {
    word.tail() != NOBODY
}

/// Whether anybody of this process waits in it, as of some moment.
pub(super) fn is_waited_for<W: Word>(word: &W) -> bool {
    Place::of(word.tail()).is_some_and(|last| last.slot().waits_for(word.key()))
}
