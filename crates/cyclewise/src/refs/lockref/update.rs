//! An operation on the count: a bounded number of exchanges, and then the lock.
//!
//! # Memory ordering
//! Only read-modify-writes change the word, so every change continues the earlier release sequences, and a thread that
//! reads the word with Acquire comes after every earlier Release on it.

use super::operation::{Edge, Operation, count, difference, is_unlocked, word};
use super::policy::Policy;
use super::word::{Word, report};
use crate::lock::Relax;
use crate::refs::refcount::Event;
use core::mem::forget;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Done; this is the new count.
    Done(i32),
    /// Not done; the count is unchanged.
    Refused,
    /// Not done, and the caller has the lock. It also has to report this event.
    Locked(Option<Event>),
}

/// Tries the operation with one load and one exchange. `Err`: not done, with the word found; the operation goes on with
/// [`update_slow`].
///
/// Separate functions keep the code at each call small.
#[inline(always)]
pub(super) fn update<O: Operation>(cell: &Word, policy: &impl Policy) -> Result<i32, u64> {
    // Relaxed: the exchange checks it.
    let found = cell.whole().load(Relaxed);
    let new = O::simple(found).ok_or(found)?;
    policy.before_exchange();
    // Each operation documents what its ORDER pairs with.
    if cell.whole().exchange_if(found, new, O::ORDER, Relaxed) {
        Ok(count(new))
    } else {
        Err(found)
    }
}

/// The operation from the second try on, and for every count outside its range. `found`: the word that the first load
/// found.
#[inline]
#[track_caller]
pub(super) fn update_slow<O: Operation, P: Policy>(cell: &Word, policy: &P, found: u64) -> Outcome {
    // The relax is dropped before the lock is taken: its drop is the program's code and may unwind.
    match exchange::<O, P>(cell, policy, found) {
        Ok(outcome) => outcome,
        Err(spent) if O::QUEUES => update_locked::<O>(cell, policy, spent),
        Err(_) => Outcome::Refused,
    }
}

/// Exchanges, as often as the policy allows. `Err`: not done, and whether the tries are exhausted.
#[inline(always)]
#[track_caller]
fn exchange<O: Operation, P: Policy>(cell: &Word, policy: &P, found: u64) -> Result<Outcome, bool> {
    // If the first word was in the range, its exchange has failed.
    let mut tries = u32::from(O::simple(found).is_some());
    let mut relax = P::Relax::default();
    loop {
        if tries > 0 {
            if tries >= policy.limit() {
                return Err(true);
            }
            relax.relax();
        }
        // Acquire: pairs with the Release of puts and unlocks, for a get that finds a saturated count and exchanges
        // nothing.
        let found = cell.whole().load(Acquire);
        if is_unlocked(found) {
            let (new, event) = match O::simple(found) {
                Some(new) => (new, None),
                None => match O::edge(count(found)) {
                    Edge::Becomes(count, event) => (word(count), Some(event)),
                    Edge::Stays => return Ok(Outcome::Done(count(found))),
                    Edge::Faulty(event) => {
                        report(cell, Some(event));
                        return Ok(Outcome::Done(count(found)));
                    }
                    Edge::Refused => return Ok(Outcome::Refused),
                    Edge::Lock(_) => return Err(false),
                },
            };
            policy.before_exchange();
            // As in `update`.
            if cell.whole().exchange_if(found, new, O::ORDER, Relaxed) {
                report(cell, event);
                return Ok(Outcome::Done(count(new)));
            }
        } else if !O::QUEUES || !policy.retry_when_locked() {
            return Err(false);
        }
        tries += 1;
    }
}

#[track_caller]
fn update_locked<O: Operation>(cell: &Word, policy: &impl Policy, spent: bool) -> Outcome {
    lock(cell, policy, spent);
    let (outcome, event) = apply::<O>(cell);
    if let Outcome::Locked(_) = outcome {
        return outcome;
    }
    // A Release, which a put needs.
    cell.unlock();
    // The program's hook for misuse runs without the lock.
    report(cell, event);
    outcome
}

/// Takes the lock, and calls the policy if that took a turn in the queue.
#[inline]
pub(super) fn lock(cell: &Word, policy: &impl Policy, spent: bool) {
    if !spent && cell.try_lock() {
        return;
    }
    policy.queueing();
    cell.lock();
    let held = Held(cell);
    policy.lock_acquired(spent);
    forget(held);
}

/// The lock, during the call of the policy: released if the policy unwinds.
struct Held<'w>(&'w Word);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

/// Runs the operation while the caller holds the lock, and leaves that held. The caller reports the event.
pub(super) fn apply<O: Operation>(cell: &Word) -> (Outcome, Option<Event>) {
    // Relaxed: nobody else changes the count now.
    let old = count(cell.whole().load(Relaxed));
    let (new, event) = if (O::RANGE.0..O::RANGE.1).contains(&old) {
        (old + O::DELTA, None)
    } else {
        match O::edge(old) {
            Edge::Becomes(new, event) => (new, Some(event)),
            Edge::Stays => return (Outcome::Done(old), None),
            Edge::Faulty(event) => return (Outcome::Done(old), Some(event)),
            Edge::Refused => return (Outcome::Refused, None),
            Edge::Lock(event) => return (Outcome::Locked(event), None),
        }
    };
    // Relaxed: the unlock is the Release.
    cell.whole().add(difference(old, new), Relaxed);
    (Outcome::Done(new), event)
}
