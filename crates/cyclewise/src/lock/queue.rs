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
//! 4. At each call of the program's code, a [`Park`]'s or a [`Relax`]'s, the waiter's `Debt` says what it owes the others.
//!    Where that code unwinds, the debt is paid on the way out.
//!
//! # References
//! Linux kernel/locking/qspinlock.c for the word, `qspinlock_paravirt.h` for the steal, the pending head and the sleep;
//! J. Mellor-Crummey and M. Scott, 1991, for the queue; B. He, W. Scherer and M. Scott, "Preemption adaptivity in
//! time-published queue-based spin locks", 2005, for waiters that leave and are skipped.

use super::facade::put;
use super::fast::released;
use super::park::{Park, wake};
use super::relax::{Pause, Relax};
use super::sleepers::{Registration, sleepers};
use super::slots::{ASLEEP, GONE, HEAD, PARKED, Place, WAITING, claim};
use super::word::{LOCKED, NOBODY, PENDING, Word};
use core::marker::PhantomData;
use core::mem::forget;
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
    let mut debt = Debt::new(word);
    let locked = wait::<W, P, R>(&mut debt, until);
    // What is owed from here on is the caller's: the lock's release, where it has the lock.
    forget(debt);
    locked
}

fn wait<W: Word, P: Park, R: Relax>(debt: &mut Debt<'_, W, P>, until: Option<P::Deadline>) -> bool {
    if approach::<W, P, R>(debt) {
        return true;
    }
    let word = debt.word;
    let Some(me) = claim(word.key()) else {
        return outside::<W, P, R>(debt, until);
    };
    if let Some(before) = Place::of(word.swap_tail(me.number())) {
        if before == me || !before.slot().waits_for(word.key()) {
            // Left behind by fork: whoever it was is in another process.
        } else if !before.slot().link(me) {
            // The headship waited there for whoever comes.
            before.slot().free();
        } else if !follow::<W, P, R>(debt, me, until) {
            return false;
        }
    }
    // Relaxed: the caller's own until it sleeps.
    put!(me.slot().state, HEAD, Relaxed);
    debt.owes = Owes::Headship(me);
    let locked = head::<W, P, R>(debt, me, until);
    debt.owes = if locked { Owes::Release } else { Owes::Nothing };
    pass_on::<W, P>(word, me);
    locked
}

/// Tries for a little while, unless the head insists, and where the lock is kept for a head that does not come.
fn approach<W: Word, P: Park, R: Relax>(debt: &mut Debt<'_, W, P>) -> bool {
    let word = debt.word;
    let mut relax = R::default();
    let (mut waited, mut kept) = (0_u32, 0);
    let found = loop {
        match word.look() {
            0 if word.take(0) => break true,
            PENDING if kept >= KEPT => break word.take(PENDING),
            PENDING => {
                kept += Pause.relax();
                continue;
            }
            found if found & PENDING != 0 => break false,
            _ => {}
        }
        if waited >= APPROACH {
            break false;
        }
        waited = waited.saturating_add(relax.relax());
    };
    if found {
        debt.owes = Owes::Release;
    }
    found
}

/// Waits to be made the head; `false` where the deadline came first, and the slot is left behind.
fn follow<W: Word, P: Park, R: Relax>(debt: &mut Debt<'_, W, P>, me: Place, until: Option<P::Deadline>) -> bool {
    debt.owes = Owes::Place(me);
    let state = &me.slot().state;
    let mut relax = R::default();
    let mut waited = 0_u32;
    loop {
        // Acquire: pairs with the AcqRel in `pass_on`.
        let now = state.load(Acquire);
        if now == HEAD {
            debt.owes = Owes::Headship(me);
            return true;
        }
        if until.is_some_and(P::is_past) {
            let gone = leave(me);
            debt.owes = if gone { Owes::Nothing } else { Owes::Headship(me) };
            return !gone;
        }
        if waited < FOLLOW {
            waited = waited.saturating_add(relax.relax());
        } else if now == PARKED {
            P::wait(state, PARKED, until);
        } else {
            // Relaxed: tells the other side to wake, and nothing else. Fails where made the head meanwhile.
            let _ = state.compare_exchange(WAITING, PARKED, Relaxed, Relaxed);
        }
    }
}

/// Gives up a place behind another, whose slot the other side then frees; `false` where that has made the caller the head.
fn leave(me: Place) -> bool {
    let state = &me.slot().state;
    // Acquire: as below.
    let mut now = state.load(Acquire);
    while now != HEAD {
        // AcqRel: pairs with the same in `pass_on`; the other side frees the slot.
        // Acquire on failure: made the head meanwhile, which pairs with the AcqRel in `pass_on`.
        match state.compare_exchange(now, GONE, AcqRel, Acquire) {
            Ok(_) => return true,
            Err(other) => now = other,
        }
    }
    false
}

/// Waits for the lock as the head; `false` where the deadline came first.
fn head<W: Word, P: Park, R: Relax>(debt: &mut Debt<'_, W, P>, me: Place, until: Option<P::Deadline>) -> bool {
    let word = debt.word;
    let mut relax = R::default();
    let mut waited = 0_u32;
    loop {
        let found = word.look();
        if found & LOCKED == 0 && word.take(found) {
            debt.owes = Owes::HeadshipAndRelease(me);
            return true;
        }
        if until.is_some_and(P::is_past) {
            word.withdraw();
            return false;
        }
        if waited < PATIENCE {
            waited = waited.saturating_add(relax.relax());
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
    let asleep = Asleep::new(word.key(), me);
    // The barrier is between what was put down and the look: Invariant 1 of `sleepers`.
    let woken = asleep.registration.is_some() && P::heavy();
    if word.look() & LOCKED != 0 {
        if woken {
            P::wait(state, ASLEEP, until);
        } else {
            P::nap(state, ASLEEP, until);
        }
    }
}

/// A head that has said that it sleeps; at its end it is awake, also where the program's [`Park`] unwinds.
struct Asleep {
    key: usize,
    me: Place,
    registration: Option<Registration>,
}

impl Asleep {
    fn new(key: usize, me: Place) -> Self {
        // Relaxed: seen by others through the registration.
        put!(me.slot().state, ASLEEP, Relaxed);
        let registration = sleepers().register(key, me);
        Self { key, me, registration }
    }
}

impl Drop for Asleep {
    fn drop(&mut self) {
        if let Some(registration) = self.registration {
            sleepers().withdraw(self.key, registration);
        }
        // Relaxed: the caller's own again.
        put!(self.me.slot().state, HEAD, Relaxed);
    }
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
            PARKED => return wake::<P>(state),
            _ => return,
        }
    }
}

/// The wait of one who has found no slot: looks now and then, behind everybody who has one. Correct and slow; no order.
#[cold]
fn outside<W: Word, P: Park, R: Relax>(debt: &mut Debt<'_, W, P>, until: Option<P::Deadline>) -> bool {
    use super::facade::AtomicU32;
    let nothing = AtomicU32::new(0);
    let mut relax = R::default();
    let mut waited = 0_u32;
    while !approach::<W, P, R>(debt) {
        if until.is_some_and(P::is_past) {
            return false;
        }
        if waited < PATIENCE {
            waited = waited.saturating_add(relax.relax());
        } else {
            P::nap(&nothing, 0, until);
        }
    }
    true
}

/// What a waiter owes the others, and pays where the program's [`Park`] or [`Relax`] unwinds: a place is left, a headship
/// is passed on, a lock that nobody will hear of is given up.
///
/// It is made before any value of the program's, so that it is dropped after their drops, which may unwind too.
struct Debt<'w, W: Word, P: Park> {
    word: &'w W,
    owes: Owes,
    park: PhantomData<P>,
}

enum Owes {
    Nothing,
    /// It is in the queue behind another.
    Place(Place),
    /// It is the head.
    Headship(Place),
    /// It is the head, and has the lock.
    HeadshipAndRelease(Place),
    /// It has the lock.
    Release,
}

impl<'w, W: Word, P: Park> Debt<'w, W, P> {
    fn new(word: &'w W) -> Self {
        Self {
            word,
            owes: Owes::Nothing,
            park: PhantomData,
        }
    }

    fn pass_on(&self, me: Place) {
        self.word.withdraw();
        pass_on::<W, P>(self.word, me);
    }

    fn release(&self) {
        let key = self.word.key();
        self.word.release();
        released::<P>(key);
    }
}

impl<W: Word, P: Park> Drop for Debt<'_, W, P> {
    fn drop(&mut self) {
        match self.owes {
            Owes::Nothing => {}
            Owes::Place(me) if leave(me) => {}
            Owes::Place(me) | Owes::Headship(me) => self.pass_on(me),
            Owes::HeadshipAndRelease(me) => {
                pass_on::<W, P>(self.word, me);
                self.release();
            }
            Owes::Release => self.release(),
        }
    }
}

/// Whether there is a queue, as of some moment.
pub(super) fn is_queued<W: Word>(word: &W) -> bool {
    word.tail() != NOBODY
}

/// Whether anybody of this process waits in it, as of some moment.
pub(super) fn is_waited_for<W: Word>(word: &W) -> bool {
    Place::of(word.tail()).is_some_and(|last| last.slot().waits_for(word.key()))
}
