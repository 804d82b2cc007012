//! An operation on the count: so many exchanges, and then under the lock.
//!
//! # Memory ordering
//! The word is changed by read-modify-writes only, so every change continues the release sequences of those before it,
//! and whoever reads the word with Acquire comes after every Release on it that was made before.

use super::operation::{Edge, Operation, count, difference, is_unlocked, word};
use super::policy::Policy;
use super::word::{Word, report};
use crate::lock::Relax;
use crate::refs::refcount::Event;
use core::mem::forget;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Done; the count is this.
    Done(i32),
    /// Not done; the count is as it was.
    Refused,
    /// Not done, and the lock is the caller's, who also has this to report.
    Locked(Option<Event>),
}

/// Does it in one look and one exchange where nobody is in the way. `Err`: not done, and this was found; the operation
/// goes on with [`update_slow`].
///
/// The two are apart so that what stands at every call is small.
#[inline(always)]
pub(super) fn update<O: Operation>(cell: &Word, policy: &impl Policy) -> Result<i32, u64> {
    // Relaxed: only a guess for the exchange.
    let found = cell.whole().load(Relaxed);
    let new = O::simple(found).ok_or(found)?;
    policy.before_exchange();
    // Each operation says what its ORDER pairs with. Relaxed on failure: nothing is done then.
    if cell.whole().exchange_if(found, new, O::ORDER, Relaxed) {
        Ok(count(new))
    } else {
        Err(found)
    }
}

/// The same from the second try on, and at every edge. `found`: what the first look has found.
#[inline]
#[track_caller]
pub(super) fn update_slow<O: Operation, P: Policy>(cell: &Word, policy: &P, found: u64) -> Outcome {
    // The relax is gone before the lock is taken: its drop is the program's code and may unwind.
    match exchange::<O, P>(cell, policy, found) {
        Ok(outcome) => outcome,
        Err(spent) if O::QUEUES => update_locked::<O>(cell, policy, spent),
        Err(_) => Outcome::Refused,
    }
}

/// By exchanges, as often as the policy says. `Err`: not done, and whether the tries are spent.
#[inline(always)]
#[track_caller]
fn exchange<O: Operation, P: Policy>(cell: &Word, policy: &P, found: u64) -> Result<Outcome, bool> {
    // Where there was a way, an exchange has failed.
    let mut tries = u32::from(O::simple(found).is_some());
    let mut relax = P::Relax::default();
    loop {
        if tries > 0 {
            if tries >= policy.limit() {
                return Err(true);
            }
            relax.relax();
        }
        // Acquire: pairs with the Release of puts and unlocks, for a get that finds it saturated and exchanges nothing.
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

/// The same under the lock.
#[track_caller]
fn update_locked<O: Operation>(cell: &Word, policy: &impl Policy, spent: bool) -> Outcome {
    lock(cell, policy, spent);
    let (outcome, event) = apply::<O>(cell);
    if let Outcome::Locked(_) = outcome {
        return outcome;
    }
    // A Release, as a put has to be.
    cell.unlock();
    // What the program does about misuse, it does without the lock.
    report(cell, event);
    outcome
}

/// Takes the lock, and tells the policy if that took a turn in the queue.
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

/// The lock, while the policy is told of it: given up where the policy unwinds.
struct Held<'w>(&'w Word);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

/// Does it while the caller holds the lock, and leaves that held. The event is the caller's to report.
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
