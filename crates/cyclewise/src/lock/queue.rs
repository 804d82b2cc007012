//! The slow path: a place in the queue, the wait for the headship, and the head's wait for the lock.
//!
//! # What a waiter does
//! 1. It tries for [`SPINS_BEFORE_QUEUE`] pauses, or until it sees that the head insists. A lock that is kept for a head which does
//!    not come is taken: that head does not run.
//! 2. It claims a slot, puts itself last, and links itself to the one before, who will make it the head. Meanwhile it
//!    looks at its own slot alone, for [`SPINS_IN_QUEUE`] pauses, and then sleeps on it.
//! 3. The head looks at the lock itself. For [`SPINS_AS_HEAD`] pauses it takes the lock when it finds it free, and newcomers may
//!    be faster: a thread that has the line and its time slice does many short sections while the others would
//!    only pass the line around. Then it insists for [`SPINS_PENDING`] pauses: newcomers are kept out and the next release is
//!    for the head. If even that brings nothing, the holder is not running. The head stops insisting, so that whoever
//!    runs meanwhile may pass, puts itself down as asleep, and sleeps until a release wakes it; then it insists at once.
//! 4. It takes the lock, passes the headship on, and gives its slot back. From there on the queue does not need it.
//!
//! # Invariants
//! 1. Of the waiters of one lock at most one is the head: who found nobody before it, or whom the head before passed it to.
//! 2. A head passes the headship on exactly once: when it has the lock, or when its time is up.
//! 3. A waiter that gives up changes its state from waiting to [`GONE`], and whoever would have made it the head does
//!    the reverse; both are one exchange of the same word, so exactly one of them passes the headship on.
//! 4. At each call of the program's code, a [`Park`]'s or a [`Relax`]'s, the waiter's `UnwindDuty` says what it owes the others.
//!    Where that code unwinds, the debt is paid on the way out.
//!
//! # References
//! Linux kernel/locking/qspinlock.c for the word, `qspinlock_paravirt.h` for the steal, the pending head and the sleep;
//! J. Mellor-Crummey and M. Scott, 1991, for the queue; B. He, W. Scherer and M. Scott, "Preemption adaptivity in
//! time-published queue-based spin locks", 2005, for waiters that leave and are skipped.

use super::fast_path::released;
use super::lock_word::{LOCKED, LockWord, NO_TAIL, PENDING};
use super::nodes::{ASLEEP, GONE, HEAD, NodeIndex, PARKED, WAITING, claim};
use super::park::{Park, wake};
use super::relax::{Pause, Relax};
use super::sleepers::{Registration, sleepers};
use crate::primitive::store;
use core::marker::PhantomData;
use core::mem::forget;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

// Under loom each path once: it tries what lies between.
/// How long, in pauses, a newcomer tries before it queues, unless the head insists.
const SPINS_BEFORE_QUEUE: u32 = if cfg!(loom) { 0 } else { 64 };
/// How long, in pauses, a waiter behind the head looks before it sleeps.
const SPINS_IN_QUEUE: u32 = if cfg!(loom) { 0 } else { 64 };
/// How long the head lets newcomers pass: some turns of theirs. The less, the sooner a waiter has its own.
const SPINS_AS_HEAD: u32 = if cfg!(loom) { 0 } else { 256 };
/// How long it then insists before it takes the holder for one that does not run.
const SPINS_PENDING: u32 = if cfg!(loom) { 1 } else { 1024 };
/// How long a lock may be kept for a head before that is taken for one that does not run.
const SPINS_RESERVED: u32 = if cfg!(loom) { 1 } else { 64 };

/// Waits for the lock; `false` where the deadline came first.
#[cold]
pub(super) fn lock_slow<W: LockWord, P: Park, R: Relax>(word: &W, until: Option<P::Deadline>) -> bool {
    let mut duty = UnwindDuty::new(word);
    let locked = wait::<W, P, R>(&mut duty, until);
    // What is owed from here on is the caller's: the lock's release, where it has the lock.
    forget(duty);
    locked
}

fn wait<W: LockWord, P: Park, R: Relax>(duty: &mut UnwindDuty<'_, W, P>, until: Option<P::Deadline>) -> bool {
    if spin_before_queue::<W, P, R>(duty) {
        return true;
    }
    let word = duty.word;
    let Some(me) = claim(word.address()) else {
        return wait_without_node::<W, P, R>(duty, until);
    };
    if let Some(before) = NodeIndex::of(word.swap_tail(me.number())) {
        if before == me || !before.node().waits_for(word.address()) {
            // Left behind by fork: whoever it was is in another process.
        } else if !before.node().link(me) {
            // The headship waited there for whoever comes.
            before.node().free();
        } else if !wait_in_queue::<W, P, R>(duty, me, until) {
            return false;
        }
    }
    // Relaxed: the caller's own until it sleeps.
    store!(me.node().state, HEAD, Relaxed);
    duty.owes = Owes::Headship(me);
    let locked = wait_as_head::<W, P, R>(duty, me, until);
    duty.owes = if locked { Owes::Release } else { Owes::Nothing };
    pass_headship::<W, P>(word, me);
    locked
}

/// Tries for a little while, unless the head insists, and where the lock is kept for a head that does not come.
fn spin_before_queue<W: LockWord, P: Park, R: Relax>(duty: &mut UnwindDuty<'_, W, P>) -> bool {
    let word = duty.word;
    let mut relax = R::default();
    let (mut waited, mut kept) = (0_u32, 0);
    let found = loop {
        match word.bits() {
            0 if word.try_take(0) => break true,
            PENDING if kept >= SPINS_RESERVED => break word.try_take(PENDING),
            PENDING => {
                kept += Pause.relax();
                continue;
            }
            found if found & PENDING != 0 => break false,
            _ => {}
        }
        if waited >= SPINS_BEFORE_QUEUE {
            break false;
        }
        waited = waited.saturating_add(relax.relax());
    };
    if found {
        duty.owes = Owes::Release;
    }
    found
}

/// Waits to be made the head; `false` where the deadline came first, and the slot is left behind.
fn wait_in_queue<W: LockWord, P: Park, R: Relax>(
    duty: &mut UnwindDuty<'_, W, P>,
    me: NodeIndex,
    until: Option<P::Deadline>,
) -> bool {
    duty.owes = Owes::Queue(me);
    let state = &me.node().state;
    let mut relax = R::default();
    let mut waited = 0_u32;
    loop {
        // Acquire: pairs with the AcqRel in `pass_headship`.
        let now = state.load(Acquire);
        if now == HEAD {
            duty.owes = Owes::Headship(me);
            return true;
        }
        if until.is_some_and(P::is_past) {
            let gone = abandon(me);
            duty.owes = if gone { Owes::Nothing } else { Owes::Headship(me) };
            return !gone;
        }
        if waited < SPINS_IN_QUEUE {
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
fn abandon(me: NodeIndex) -> bool {
    let state = &me.node().state;
    // Acquire: as below.
    let mut now = state.load(Acquire);
    while now != HEAD {
        // AcqRel: pairs with the same in `pass_headship`; the other side frees the slot.
        // Acquire on failure: made the head meanwhile, which pairs with the AcqRel in `pass_headship`.
        match state.compare_exchange(now, GONE, AcqRel, Acquire) {
            Ok(_) => return true,
            Err(other) => now = other,
        }
    }
    false
}

/// Waits for the lock as the head; `false` where the deadline came first.
fn wait_as_head<W: LockWord, P: Park, R: Relax>(
    duty: &mut UnwindDuty<'_, W, P>,
    me: NodeIndex,
    until: Option<P::Deadline>,
) -> bool {
    let word = duty.word;
    let mut relax = R::default();
    let mut waited = 0_u32;
    loop {
        let found = word.bits();
        if found & LOCKED == 0 && word.try_take(found) {
            duty.owes = Owes::HeadshipAndRelease(me);
            return true;
        }
        if until.is_some_and(P::is_past) {
            word.clear_pending();
            return false;
        }
        if waited < SPINS_AS_HEAD {
            waited = waited.saturating_add(relax.relax());
        } else if waited < SPINS_AS_HEAD + SPINS_PENDING || !P::SLEEPS {
            if found == LOCKED {
                word.set_pending();
            }
            waited = waited.saturating_add(Pause.relax());
        } else {
            word.clear_pending();
            sleep::<W, P>(word, me, until);
            waited = SPINS_AS_HEAD;
        }
    }
}

/// Gives up the CPU until a release, as far as it is for this head to know.
fn sleep<W: LockWord, P: Park>(word: &W, me: NodeIndex, until: Option<P::Deadline>) {
    let state = &me.node().state;
    let asleep = Asleep::new(word.address(), me);
    // The barrier is between what was put down and the look: Invariant 1 of `sleepers`.
    let woken = asleep.registration.is_some() && P::heavy();
    if word.bits() & LOCKED != 0 {
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
    me: NodeIndex,
    registration: Option<Registration>,
}

impl Asleep {
    fn new(key: usize, me: NodeIndex) -> Self {
        // Relaxed: seen by others through the registration.
        store!(me.node().state, ASLEEP, Relaxed);
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
        store!(self.me.node().state, HEAD, Relaxed);
    }
}

/// Makes the next waiter the head, past those who have given up; ends the queue where there is none.
fn pass_headship<W: LockWord, P: Park>(word: &W, me: NodeIndex) {
    let mut leaving = me;
    loop {
        let slot = leaving.node();
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
        let state = &next.node().state;
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
fn wait_without_node<W: LockWord, P: Park, R: Relax>(
    duty: &mut UnwindDuty<'_, W, P>,
    until: Option<P::Deadline>,
) -> bool {
    use crate::primitive::AtomicU32;
    let nothing = AtomicU32::new(0);
    let mut relax = R::default();
    let mut waited = 0_u32;
    while !spin_before_queue::<W, P, R>(duty) {
        if until.is_some_and(P::is_past) {
            return false;
        }
        if waited < SPINS_AS_HEAD {
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
struct UnwindDuty<'w, W: LockWord, P: Park> {
    word: &'w W,
    owes: Owes,
    park: PhantomData<P>,
}

enum Owes {
    Nothing,
    /// It is in the queue behind another.
    Queue(NodeIndex),
    /// It is the head.
    Headship(NodeIndex),
    /// It is the head, and has the lock.
    HeadshipAndRelease(NodeIndex),
    /// It has the lock.
    Release,
}

impl<'w, W: LockWord, P: Park> UnwindDuty<'w, W, P> {
    fn new(word: &'w W) -> Self {
        Self {
            word,
            owes: Owes::Nothing,
            park: PhantomData,
        }
    }

    fn pass_headship(&self, me: NodeIndex) {
        self.word.clear_pending();
        pass_headship::<W, P>(self.word, me);
    }

    fn release(&self) {
        let key = self.word.address();
        self.word.release();
        released::<P>(key);
    }
}

impl<W: LockWord, P: Park> Drop for UnwindDuty<'_, W, P> {
    fn drop(&mut self) {
        match self.owes {
            Owes::Nothing => {}
            Owes::Queue(me) if abandon(me) => {}
            Owes::Queue(me) | Owes::Headship(me) => self.pass_headship(me),
            Owes::HeadshipAndRelease(me) => {
                pass_headship::<W, P>(self.word, me);
                self.release();
            }
            Owes::Release => self.release(),
        }
    }
}

/// Whether there is a queue, as of some moment.
pub(super) fn is_queued<W: LockWord>(word: &W) -> bool {
    word.tail() != NO_TAIL
}

/// Whether anybody of this process waits in it, as of some moment.
pub(super) fn is_waited_for<W: LockWord>(word: &W) -> bool {
    NodeIndex::of(word.tail()).is_some_and(|last| last.node().waits_for(word.address()))
}
