//! A policy that plays the other threads: it locks and unlocks the word at the moments at which a test wants them to.
//!
//! So every path through an operation is walked on one thread, in the same order each time.

use super::super::lock_ref::LockRef;
use super::super::policy::Policy;
use super::super::word::Word;
use crate::lock::NoRelax;
use crate::refs::refcount::{Action, Event, Misuse, on_misuse};
use core::cell::{Cell, OnceCell, RefCell};
use std::boxed::Box;
use std::vec::Vec;

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Came to an exchange.
    Tried,
    /// Found the word locked and looked again.
    Waited,
    /// Queued for the lock.
    Arrived,
    /// Had it; true where its tries were spent.
    Turn(bool),
}

/// The other threads, as an operation meets them, and the policy that is asked what to do about them.
pub(super) struct ScriptedPolicy<P> {
    pub(super) policy: P,
    word: OnceCell<&'static Word>,
    /// Exchanges that somebody comes in front of, and locks.
    pub(super) spoil: Cell<u32>,
    /// Looks after which a lock that is held is given up.
    pub(super) hold: Cell<u32>,
    log: RefCell<Vec<Step>>,
}

pub(super) type Scripted<P> = LockRef<(), &'static ScriptedPolicy<P>>;

/// A count among others. Leaked, because the others know where it is.
pub(super) fn scripted<P: Policy + 'static>(count: u32, policy: P) -> &'static Scripted<P> {
    let others: &_ = Box::leak(Box::new(ScriptedPolicy {
        policy,
        word: OnceCell::new(),
        spoil: Cell::new(0),
        hold: Cell::new(0),
        log: RefCell::default(),
    }));
    let lockref: &Scripted<P> = Box::leak(Box::new(LockRef::with_policy(count, (), others)));
    assert!(others.word.set(&lockref.word).is_ok());
    lockref
}

impl<P> ScriptedPolicy<P> {
    /// Somebody takes the lock, for so many looks of others.
    pub(super) fn lock_for(&self, looks: u32) {
        assert!(self.word.get().unwrap().try_lock());
        self.hold.set(looks);
    }

    pub(super) fn unlock(&self) {
        self.word.get().unwrap().unlock();
    }

    /// What was done since the last look.
    pub(super) fn log(&self) -> Vec<Step> {
        self.log.take()
    }

    fn did(&self, step: Step) {
        self.log.borrow_mut().push(step);
    }
}

impl<P: Policy> Policy for &'static ScriptedPolicy<P> {
    type Relax = NoRelax;

    fn limit(&self) -> u32 {
        self.policy.limit()
    }

    fn retry_when_locked(&self) -> bool {
        let waits = self.policy.retry_when_locked();
        if waits {
            self.did(Step::Waited);
            self.hold.set(self.hold.get() - 1);
            if self.hold.get() == 0 {
                self.unlock();
            }
        }
        waits
    }

    fn queueing(&self) {
        self.did(Step::Arrived);
        self.policy.queueing();
        // The holder cannot wait for this thread to look.
        self.unlock();
    }

    fn lock_acquired(&self, spent: bool) {
        self.did(Step::Turn(spent));
        self.policy.lock_acquired(spent);
    }

    fn before_exchange(&self) {
        self.did(Step::Tried);
        if let Some(left) = self.spoil.get().checked_sub(1) {
            self.spoil.set(left);
            self.lock_for(u32::MAX);
        }
    }
}

std::thread_local! {
    static REPORTED: RefCell<Vec<Event>> = const { RefCell::new(Vec::new()) };
}

/// The misuse that this thread has reported since the last look; the first look only starts it.
pub(super) fn reported() -> Vec<Event> {
    on_misuse(Action::Call(|misuse: &Misuse| {
        assert!(misuse.caller.file().ends_with("edges.rs"), "{misuse}");
        REPORTED.with_borrow_mut(|reported| reported.push(misuse.event));
    }));
    REPORTED.take()
}
