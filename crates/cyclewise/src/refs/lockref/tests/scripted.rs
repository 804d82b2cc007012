//! A policy that acts for the other threads: it locks and unlocks the word when a test asks for it.
//!
//! So one thread takes every path through an operation, in the same order each time.

use super::super::lock_ref::LockRef;
use super::super::policy::Policy;
use super::super::word::Word;
use crate::lock::NoRelax;
use crate::refs::refcount::{Action, Event, Misuse, on_misuse};
use core::cell::{Cell, OnceCell, RefCell};
use std::boxed::Box;
use std::vec::Vec;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Before an exchange.
    Tried,
    /// Found the word locked and checked again.
    Waited,
    /// Queued for the lock.
    Arrived,
    /// Had the lock; true if its tries were exhausted.
    Turn(bool),
}

/// The other threads, and the policy under test.
pub(super) struct ScriptedPolicy<P> {
    pub(super) policy: P,
    word: OnceCell<&'static Word>,
    /// The number of exchanges before which another thread locks.
    pub(super) spoil: Cell<u32>,
    /// The number of checks after which a held lock is released.
    pub(super) hold: Cell<u32>,
    log: RefCell<Vec<Step>>,
}

pub(super) type Scripted<P> = LockRef<(), &'static ScriptedPolicy<P>>;

/// A `LockRef` with scripted threads. Leaked, because these keep its address.
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
    /// Another thread takes the lock, for so many checks.
    pub(super) fn lock_for(&self, looks: u32) {
        assert!(self.word.get().unwrap().try_lock());
        self.hold.set(looks);
    }

    pub(super) fn unlock(&self) {
        self.word.get().unwrap().unlock();
    }

    /// The steps since the last call.
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
        // A queued operation makes no more checks, so unlock now.
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

/// The misuse that this thread reported since the last call; the first call only starts the recording.
pub(super) fn reported() -> Vec<Event> {
    on_misuse(Action::Call(|misuse: &Misuse| {
        assert!(misuse.caller.file().ends_with("edges.rs"), "{misuse}");
        REPORTED.with_borrow_mut(|reported| reported.push(misuse.event));
    }));
    REPORTED.take()
}
