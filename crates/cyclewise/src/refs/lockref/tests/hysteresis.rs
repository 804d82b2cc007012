//! The hysteresis: when the policy opens and closes, and which path operations take meanwhile.

use super::super::adaptive::Adaptive;
use super::super::policy::{Bounded, Policy};
use super::scripted::Step::{Arrived, Tried, Turn, Waited};
use super::scripted::scripted;
use crate::lock::NoRelax;
use std::vec;

type Ten = Adaptive<NoRelax, 10>;
const DWELL: u32 = Ten::DWELL;

/// Calm turns.
fn turns(policy: &impl Policy, count: u32) {
    for _ in 0..count {
        policy.queueing();
        policy.lock_acquired(false);
    }
}

/// An operation whose tries are exhausted.
fn spend(policy: &impl Policy) {
    policy.queueing();
    policy.lock_acquired(true);
}

#[test]
fn it_is_open_until_tries_are_exhausted() {
    let policy = Ten::tuned();
    assert!(policy.is_open());
    turns(&policy, 3);
    assert!(policy.is_open(), "turns alone do not close it");
    spend(&policy);
    assert!(!policy.is_open());
}

#[test]
fn it_opens_after_enough_calm_turns_and_no_sooner() {
    let policy = Ten::tuned();
    spend(&policy);
    turns(&policy, DWELL - 1);
    assert!(!policy.is_open());
    turns(&policy, 1);
    assert!(policy.is_open());
    assert!(policy.retry_when_locked());
}

#[test]
fn many_waiters_reset_the_calm_turns_and_few_do_not() {
    for (others, breaks) in [(Ten::FEW, false), (Ten::FEW + 1, true)] {
        let policy = Ten::tuned();
        spend(&policy);
        turns(&policy, DWELL - 1);
        for _ in 0..others {
            policy.queueing();
        }
        turns(&policy, 1);
        assert_eq!(policy.is_open(), !breaks, "{others} others");
        for _ in 0..others {
            policy.lock_acquired(false);
        }
        turns(&policy, DWELL - 1);
        assert!(policy.is_open(), "{others} others, but no longer");
    }
}

#[test]
fn while_open_a_short_lock_is_waited_for() {
    let lockref = scripted(1, Ten::tuned());
    lockref.policy().lock_for(3);
    lockref.get();
    assert_eq!(lockref.policy().log(), [Waited, Waited, Waited, Tried]);
    assert_eq!(lockref.count(), 2);
    assert!(lockref.policy().policy.is_open());
}

#[test]
fn a_lock_held_past_the_limit_closes_and_calm_opens_again() {
    let lockref = scripted(1, Ten::tuned());
    let others = lockref.policy();
    others.lock_for(u32::MAX);
    lockref.get();
    let mut waits = vec![Waited; 10];
    waits.extend([Arrived, Turn(true)]);
    assert_eq!(others.log(), waits);
    assert!(!others.policy.is_open());

    // From now on operations that find it locked queue, and the queue is short.
    for turn in 0..DWELL {
        assert!(!others.policy.is_open(), "after {turn}");
        others.lock_for(u32::MAX);
        lockref.get();
        assert_eq!(others.log(), [Arrived, Turn(false)], "after {turn}");
    }
    assert!(others.policy.is_open());
    others.lock_for(1);
    lockref.get();
    assert_eq!(others.log(), [Waited, Tried]);
    assert_eq!(lockref.count(), DWELL.cast_signed() + 3);
}

#[test]
fn a_long_queue_keeps_it_closed() {
    let lockref = scripted(1, Ten::tuned());
    let others = lockref.policy();
    spend(&others.policy);
    for _ in 0..=Ten::FEW {
        others.policy.queueing();
    }
    for _ in 0..10 * DWELL {
        others.lock_for(u32::MAX);
        lockref.get();
        assert_eq!(others.log(), [Arrived, Turn(false)]);
    }
    assert!(!others.policy.is_open());
}

#[test]
fn exchanges_that_fail_close_it_too() {
    let lockref = scripted(1, Ten::tuned());
    let others = lockref.policy();
    // Each time another thread locks before the exchange, and unlocks at the next check.
    others.spoil.set(u32::MAX);
    others.hold.set(1);
    lockref.get();
    let log = others.log();
    assert_eq!(log.last(), Some(&Turn(true)));
    assert_eq!(log.iter().filter(|s| matches!(s, Tried | Waited)).count(), 10);
    assert!(!others.policy.is_open());
}

#[test]
fn the_kernels_policy_queues_at_once_and_always() {
    let lockref = scripted(1, Bounded::<NoRelax, 10>::tuned());
    for _ in 0..10 * DWELL {
        lockref.policy().lock_for(u32::MAX);
        lockref.get();
        assert_eq!(lockref.policy().log(), [Arrived, Turn(false)]);
    }
}

#[test]
fn an_uncontended_operation_asks_the_policy_nothing() {
    let lockref = scripted(1, Ten::tuned());
    lockref.get();
    assert!(lockref.put_or_lock().is_none());
    assert_eq!(lockref.policy().log(), [Tried, Tried]);
    drop(lockref.put_or_lock());
    assert_eq!(lockref.policy().log(), [], "the last one takes a free lock at once");
}
