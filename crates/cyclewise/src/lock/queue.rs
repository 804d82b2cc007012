//! The slow path: queueing, waiting for the headship, and the head's wait for the lock.
//!
//! # What a waiter does
//! 1. It tries to take the lock for [`SPINS_BEFORE_QUEUE`] pauses, or until it sees the pending bit or the hand-off bit. If the head fails to take a lock that
//!    is reserved for it within [`SPINS_RESERVED`] pauses, the newcomer takes it: the head is not running.
//! 2. It claims a node, becomes the tail, and links itself to its predecessor, which will make it the head. It
//!    watches only its own node, for [`SPINS_IN_QUEUE`] pauses, and then sleeps on it.
//! 3. The head watches the lock itself. For [`SPINS_AS_HEAD`] pauses it takes the lock when it finds it free, and newcomers may
//!    be faster: a thread that has the cache line and its time slice runs many short critical sections while the others would
//!    only pass the line around. Then it sets the pending bit for [`SPINS_PENDING`] pauses: newcomers keep out, and the next release
//!    reserves the lock for the head. If that fails too, the holder is not running. The head clears the bit, so that running
//!    threads may pass, registers as asleep, and sleeps until a release wakes it; then it sets the bit at once. If its turn is over by
//!    the next sleep ([`turn`]), it sets the hand-off bit before it sleeps, and a release hands it the lock.
//! 4. It takes the lock, passes the headship on, and frees its node. The queue does not need it any more.
//!
//! # Invariants
//! 1. At most one waiter of a lock is the head: the one that found no predecessor, or that the last head passed the headship to.
//! 2. A head passes the headship on exactly once: when it has the lock, or at its deadline.
//! 3. A waiter that gives up changes its state from waiting to [`GONE`], and its predecessor changes it from waiting to
//!    [`HEAD`]. Both exchange the same word, so exactly one of them passes the headship on.
//! 4. At each call of the program's code, a [`Park`]'s or a [`Relax`]'s, the waiter's [`UnwindGuard`] records what it owes the queue.
//!    If that code unwinds, the guard does it.
//!
//! # References
//! Linux kernel/locking/qspinlock.c for the word, `qspinlock_paravirt.h` for lock stealing, the pending head and the sleep;
//! J. Mellor-Crummey and M. Scott, 1991, for the queue; B. He, W. Scherer and M. Scott, "Preemption adaptivity in
//! time-published queue-based spin locks", 2005, for waiters that leave and are skipped.

use super::lock_word::{HANDOFF, LOCKED, LockWord, PENDING};
use super::nodes::{ASLEEP, GONE, HEAD, NodeIndex, PARKED, WAITING, claim, is_waited_for};
use super::park::{Park, wake};
use super::relax::{Pause, Relax};
use super::sleepers::{Registration, released, sleepers};
use super::turn::{self, HeadTurn};
use crate::primitive::store;
use core::marker::PhantomData;
use core::mem::forget;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

// Under loom each path once: it tries what lies between.
/// How many pauses a newcomer spins before it queues, unless the pending bit or the hand-off bit is set.
const SPINS_BEFORE_QUEUE: u32 = if cfg!(loom) { 0 } else { 64 };
/// How many pauses a waiter behind the head spins before it sleeps.
const SPINS_IN_QUEUE: u32 = if cfg!(loom) { 0 } else { 64 };
/// How many pauses the head lets newcomers pass: several critical sections. A smaller number serves waiters sooner.
const SPINS_AS_HEAD: u32 = if cfg!(loom) { 0 } else { 256 };
/// How many pauses the head then keeps the pending bit set before it assumes that the holder is not running.
const SPINS_PENDING: u32 = if cfg!(loom) { 1 } else { 1024 };
/// How many pauses a lock stays reserved before a newcomer assumes that the head is not running.
const SPINS_RESERVED: u32 = if cfg!(loom) { 1 } else { 64 };

/// Waits for the lock; `false` if the deadline passed.
#[cold]
pub(super) fn lock_slow<W: LockWord, P: Park, R: Relax>(word: &W, until: Option<P::Deadline>) -> bool {
    let mut guard = UnwindGuard::new(word);
    let locked = wait::<W, P, R>(&mut guard, until);
    // The caller owes the rest: the lock's release, if it has the lock.
    forget(guard);
    locked
}

fn wait<W: LockWord, P: Park, R: Relax>(guard: &mut UnwindGuard<'_, W, P>, until: Option<P::Deadline>) -> bool {
    if spin_before_queue::<W, P, R>(guard) {
        return true;
    }
    let word = guard.word;
    let Some(me) = claim(word.address()) else {
        return wait_without_node::<W, P, R>(guard, until);
    };
    if let Some(before) = NodeIndex::from_tail(word.swap_tail(me.number())) {
        if before == me || !before.waits_for(word.address()) {
            // Left behind by a fork: the waiter is in another process.
        } else if !before.node().link(me) {
            // The headship was waiting there.
            before.node().free();
        } else if !wait_in_queue::<W, P, R>(guard, me, until) {
            return false;
        }
    }
    // Relaxed: no other thread uses it until the caller sleeps.
    store!(me.node().state, HEAD, Relaxed);
    guard.owes = Owes::Headship(me);
    let locked = wait_as_head::<W, P, R>(guard, me, until);
    if locked {
        turn::begin::<W, P>(word);
    }
    guard.owes = if locked { Owes::Release } else { Owes::Nothing };
    pass_headship::<W, P>(word, me);
    locked
}

/// Tries to take the lock for a while: until the pending bit or the hand-off bit is set, and also if the head fails to take a reserved lock.
fn spin_before_queue<W: LockWord, P: Park, R: Relax>(guard: &mut UnwindGuard<'_, W, P>) -> bool {
    let word = guard.word;
    let mut relax = R::default();
    let (mut waited, mut reserved) = (0_u32, 0);
    let found = loop {
        match word.bits() {
            0 if word.try_take(0) => break true,
            PENDING if reserved >= SPINS_RESERVED => break word.try_take(PENDING),
            PENDING => {
                reserved += Pause.relax();
                continue;
            }
            found if found & (PENDING | HANDOFF) != 0 => break false,
            _ => {}
        }
        if waited >= SPINS_BEFORE_QUEUE {
            break false;
        }
        waited = waited.saturating_add(relax.relax());
    };
    if found {
        guard.owes = Owes::Release;
    }
    found
}

/// Waits to be made the head; `false` if the deadline passed, and the node is left in the queue.
fn wait_in_queue<W: LockWord, P: Park, R: Relax>(
    guard: &mut UnwindGuard<'_, W, P>,
    me: NodeIndex,
    until: Option<P::Deadline>,
) -> bool {
    guard.owes = Owes::Queue(me);
    let state = &me.node().state;
    let mut relax = R::default();
    let mut waited = 0_u32;
    loop {
        // Acquire: pairs with the AcqRel in `pass_headship`.
        let now = state.load(Acquire);
        if now == HEAD {
            guard.owes = Owes::Headship(me);
            return true;
        }
        if until.is_some_and(P::is_past) {
            let gone = abandon(me);
            guard.owes = if gone { Owes::Nothing } else { Owes::Headship(me) };
            return !gone;
        }
        if waited < SPINS_IN_QUEUE {
            waited = waited.saturating_add(relax.relax());
        } else if now == PARKED {
            P::wait(state, PARKED, until);
        } else {
            // Relaxed: only tells the predecessor to wake this waiter. Fails if it was made the head meanwhile.
            let _ = state.compare_exchange(WAITING, PARKED, Relaxed, Relaxed);
        }
    }
}

/// Gives up a node in the queue, which another waiter then frees; `false` if the caller was made the head.
fn abandon(me: NodeIndex) -> bool {
    let state = &me.node().state;
    // Acquire: as below.
    let mut now = state.load(Acquire);
    while now != HEAD {
        // AcqRel: pairs with the same in `pass_headship`; the passing head frees the node.
        // Acquire on failure: made the head meanwhile, which pairs with the AcqRel in `pass_headship`.
        match state.compare_exchange(now, GONE, AcqRel, Acquire) {
            Ok(_) => return true,
            Err(other) => now = other,
        }
    }
    false
}

/// Waits for the lock as the head; `false` if the deadline passed.
fn wait_as_head<W: LockWord, P: Park, R: Relax>(
    guard: &mut UnwindGuard<'_, W, P>,
    me: NodeIndex,
    until: Option<P::Deadline>,
) -> bool {
    let word = guard.word;
    let mut relax = R::default();
    let mut waited = 0_u32;
    let mut turn = HeadTurn::default();
    loop {
        let found = word.bits();
        if found & LOCKED == 0 && word.try_take(found) {
            guard.owes = Owes::HeadshipAndRelease(me);
            return true;
        }
        if until.is_some_and(P::is_past) {
            word.clear_hints();
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
            let hands_over = turn.is_over::<P>();
            if !hands_over {
                // Not HANDOFF: this head has not set it, so a release may just have handed it the lock.
                word.clear_pending();
            }
            sleep::<W, P>(word, me, until, hands_over);
            waited = SPINS_AS_HEAD;
        }
    }
}

/// Sleeps until a release, or for a nap where no release will wake this head.
fn sleep<W: LockWord, P: Park>(word: &W, me: NodeIndex, until: Option<P::Deadline>, hands_over: bool) {
    let state = &me.node().state;
    let asleep = Asleep::new(word.address(), me);
    // The barrier is between the registration and the load of the lock: Invariant 1 of `sleepers`.
    let woken = asleep.registration.is_some() && P::heavy();
    if word.bits() & LOCKED != 0 {
        if hands_over {
            // After the barrier: the release that does not see the bit sees the registration, and wakes this head.
            word.set_handoff();
        }
        if woken {
            P::wait(state, ASLEEP, until);
        } else {
            P::nap(state, ASLEEP, until);
        }
    }
}

/// A head that is registered as asleep. Its drop makes it awake, also if the program's [`Park`] unwinds.
struct Asleep {
    key: usize,
    me: NodeIndex,
    registration: Option<Registration>,
}

impl Asleep {
    fn new(key: usize, me: NodeIndex) -> Self {
        // Relaxed: published by the registration.
        store!(me.node().state, ASLEEP, Relaxed);
        let registration = sleepers().register(key, me);
        Self { key, me, registration }
    }
}

impl Drop for Asleep {
    fn drop(&mut self) {
        if let Some(registration) = self.registration {
            sleepers().unregister(self.key, registration);
        }
        // Relaxed: no other thread uses it from here on.
        store!(self.me.node().state, HEAD, Relaxed);
    }
}

/// Makes the next waiter the head, skipping those that have given up; ends the queue if there is none.
fn pass_headship<W: LockWord, P: Park>(word: &W, me: NodeIndex) {
    let mut leaving = me;
    loop {
        let node = leaving.node();
        if word.tail() == leaving.number() && word.end_tail(leaving.number()) {
            node.free();
            return;
        }
        let Some(next) = node.pass() else {
            // A new tail has not linked itself yet. It will find `PASSED`; we do not wait for it, since it may be preempted.
            return;
        };
        node.free();
        let state = &next.node().state;
        // AcqRel: pairs with the Acquire in `wait_in_queue`, and with the AcqRel in `abandon`.
        match state.swap(HEAD, AcqRel) {
            GONE => leaving = next,
            PARKED => return wake::<P>(state),
            _ => return,
        }
    }
}

/// Waits without a node: polls the lock between naps. Correct and slow, without a place in the order.
#[cold]
fn wait_without_node<W: LockWord, P: Park, R: Relax>(
    guard: &mut UnwindGuard<'_, W, P>,
    until: Option<P::Deadline>,
) -> bool {
    use crate::primitive::AtomicU32;
    let nothing = AtomicU32::new(0);
    let mut relax = R::default();
    let mut waited = 0_u32;
    while !spin_before_queue::<W, P, R>(guard) {
        if take_abandoned(guard.word) {
            guard.owes = Owes::Release;
            return true;
        }
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

/// Restores the queue if the program's [`Park`] or [`Relax`] unwinds: leaves it, passes the headship on, and releases the
/// lock, as recorded.
///
/// It is made before all values of the program's types, so it is dropped after them: their drops may unwind too.
struct UnwindGuard<'w, W: LockWord, P: Park> {
    word: &'w W,
    owes: Owes,
    park: PhantomData<P>,
}

/// What a waiter owes the queue and the lock.
enum Owes {
    Nothing,
    /// It is queued behind another.
    Queue(NodeIndex),
    /// It is the head.
    Headship(NodeIndex),
    /// It is the head, and has the lock.
    HeadshipAndRelease(NodeIndex),
    /// It has the lock.
    Release,
}

impl<'w, W: LockWord, P: Park> UnwindGuard<'w, W, P> {
    fn new(word: &'w W) -> Self {
        Self {
            word,
            owes: Owes::Nothing,
            park: PhantomData,
        }
    }

    fn pass_headship(&self, me: NodeIndex) {
        self.word.clear_hints();
        pass_headship::<W, P>(self.word, me);
    }

    fn release(&self) {
        let key = self.word.address();
        self.word.release();
        released::<P>(key);
    }
}

impl<W: LockWord, P: Park> Drop for UnwindGuard<'_, W, P> {
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

/// Takes a lock that is reserved or handed over, and that nobody waits for: the head has given up, or a fork has left it behind.
pub(super) fn take_abandoned<W: LockWord>(word: &W) -> bool {
    let found = word.bits();
    matches!(found, PENDING | HANDOFF) && !is_waited_for(word) && word.try_take(found)
}
