//! A simulation that shows why operations must return to exchanges: clients of one word, in time steps, that ask the
//! real policy.
//!
//! One exchange succeeds per step; the others fail. A turn under the lock takes [`TURN`] steps, and while there is a
//! queue nobody exchanges. After an operation a client is away for a while.

use super::super::adaptive::Adaptive;
use super::super::policy::{Bounded, Policy};
use crate::lock::NoRelax;
use std::collections::VecDeque;
use std::vec::Vec;

/// The cost of a hand-over, the count and an unlock, in exchanges.
const TURN: u32 = 4;

#[derive(Clone, Copy)]
enum Client {
    Away(u32),
    Tries(u32),
    Queues,
}

/// The number of operations that ended each way.
#[derive(Debug, Default, Clone, Copy)]
struct Ways {
    exchanged: u32,
    queued: u32,
}

impl Ways {
    /// The share, in percent, of operations that queued.
    fn queued_percent(self) -> u32 {
        100 * self.queued / (self.queued + self.exchanged)
    }
}

/// Simulates `clients` that are away for `away` steps at a time. The lock is held for the first `held` steps. Counts
/// operations in the second half of `steps`.
fn play<P: Policy>(policy: &P, clients: u32, away: u32, held: u32, steps: u32) -> Ways {
    let mut all: Vec<Client> = (0..clients).map(|i| Client::Away(i % (away + 1))).collect();
    let mut queue = VecDeque::new();
    let mut busy = held; // steps for which the lock is held still
    let mut ways = Ways::default();
    let mut first = 0; // who is asked first, so that nobody is always last
    for step in 0..steps {
        busy = busy.saturating_sub(1);
        if busy == 0
            && let Some((who, spent)) = queue.pop_front()
        {
            policy.lock_acquired(spent);
            all[who] = Client::Away(away + TURN);
            busy = TURN;
            ways.queued += u32::from(step > steps / 2);
        }
        let locked = busy > 0 || !queue.is_empty();
        let mut made = false;
        first = (first + 1) % all.len();
        for who in (0..all.len()).map(|i| (first + i) % clients as usize) {
            all[who] = match all[who] {
                Client::Queues => Client::Queues,
                Client::Away(0) => Client::Tries(0),
                Client::Away(left) => Client::Away(left - 1),
                Client::Tries(tries) if locked && !policy.retry_when_locked() || tries >= policy.limit() => {
                    policy.queueing();
                    queue.push_back((who, tries >= policy.limit()));
                    Client::Queues
                }
                Client::Tries(_) if !locked && !made => {
                    made = true;
                    ways.exchanged += u32::from(step > steps / 2);
                    Client::Away(away)
                }
                Client::Tries(tries) => Client::Tries(tries + 1),
            };
        }
    }
    // Serves the remaining queue.
    for (_, spent) in queue {
        policy.lock_acquired(spent);
    }
    ways
}

#[test]
fn after_a_long_lock_the_kernels_policy_never_leaves_the_queue() {
    // 8 clients, 20 steps away: exchanges take 8 of 21 steps, turns would take 32 of 24.
    let ways = play(&Bounded::<NoRelax>::new(), 8, 20, 1000, 200_000);
    assert_eq!(ways.queued_percent(), 100, "{ways:?}");
    // Exchanges can serve this load: without the long lock there is no queue.
    let ways = play(&Bounded::<NoRelax>::new(), 8, 20, 0, 200_000);
    assert_eq!(ways.queued_percent(), 0, "{ways:?}");
}

#[test]
fn after_a_long_lock_adaptive_returns_to_exchanges() {
    let policy = Adaptive::<NoRelax>::new();
    let ways = play(&policy, 8, 20, 1000, 200_000);
    assert_eq!(ways.queued_percent(), 0, "{ways:?}");
    assert!(policy.is_open());
}

#[test]
fn under_lasting_pressure_adaptive_keeps_the_lock() {
    for clients in [150, 400] {
        let ways = play(&Adaptive::<NoRelax>::new(), clients, 0, 0, 200_000);
        assert!(ways.queued_percent() >= 95, "{clients}: {ways:?}");
    }
}

#[test]
fn it_closes_and_opens_as_the_load_comes_and_goes() {
    let policy = Adaptive::<NoRelax>::new();
    for _ in 0..3 {
        play(&policy, 400, 0, 0, 20_000);
        assert!(!policy.is_open(), "under pressure");
        let calm = play(&policy, 8, 20, 1000, 20_000);
        assert!(policy.is_open(), "when it is calm: {calm:?}");
    }
}
