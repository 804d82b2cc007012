//! The next request under each law.

use super::super::arbiter::{Request, RequestKind, Requests};
use super::super::random::Random;
use super::TOPOLOGY;
use crate::machine::Arbiter;
use std::collections::BTreeMap;

/// Requests of these cores, one nanosecond apart.
fn requests(arbiter: Arbiter, cores: &[u32]) -> Requests {
    let mut requests = Requests::new(arbiter, TOPOLOGY);
    for (at, &core) in (0..).zip(cores) {
        requests.push(Request {
            core,
            thread: core,
            kind: RequestKind::LineId,
            since: at * 1000,
        });
    }
    requests
}

/// The order of service, with the line moving to each core served.
fn served(requests: &mut Requests, mut at: u32, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    let mut served = Vec::new();
    while let Some(request) = requests.pick(at, &mut random) {
        at = request.core;
        served.push(at);
    }
    assert!(requests.is_empty());
    served
}

#[test]
fn the_oldest_is_next() {
    let mut fifo = requests(Arbiter::Fifo, &[5, 0, 3, 1]);
    assert_eq!(served(&mut fifo, 0, 1), [5, 0, 3, 1]);
}

#[test]
fn a_random_arbiter_has_equal_probabilities() {
    let mut first = BTreeMap::new();
    for seed in 0..4000 {
        let mut random = requests(Arbiter::Random, &[0, 1, 2, 3]);
        let order = served(&mut random, 0, seed);
        *first.entry(order[0]).or_insert(0) += 1;
        let mut all = order;
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    }
    // 1000 each; 4 standard deviations are 110. The seeds are fixed, so the result is too.
    assert!(first.values().all(|&times| (890..1110).contains(&times)), "{first:?}");
}

const NEAREST: Arbiter = Arbiter::Nearest { cap: u32::MAX };

#[test]
fn the_oldest_of_the_nearest_is_next() {
    // The line is at core 0. Core 1 is in its cluster, 2 and 3 in its socket, and the others in the other socket.
    let mut nearest = requests(NEAREST, &[7, 4, 3, 1, 2, 6]);
    assert_eq!(served(&mut nearest, 0, 1), [1, 3, 2, 7, 6, 4]);
}

#[test]
fn a_cap_lets_the_oldest_go_first() {
    let arbiter = Arbiter::Nearest { cap: 2 };
    let mut nearest = requests(arbiter, &[7, 1, 3, 2, 0]);
    // Two overtake core 7; then the line is in its socket, where no other core waits.
    assert_eq!(served(&mut nearest, 0, 1), [1, 0, 7, 3, 2]);
    let mut never = requests(Arbiter::Nearest { cap: 0 }, &[7, 1, 3, 2, 0]);
    assert_eq!(served(&mut never, 0, 1), [7, 1, 3, 2, 0]);
}

#[test]
fn withdrawn_requests_are_not_served() {
    for arbiter in [Arbiter::Fifo, Arbiter::Random, NEAREST] {
        let mut some = requests(arbiter, &[5, 0, 3, 1]);
        some.push(Request {
            core: 3,
            thread: 9,
            kind: RequestKind::FarAtomic,
            since: 0,
        });
        some.withdraw(3);
        some.withdraw(0);
        let mut left = served(&mut some, 0, 1);
        left.sort_unstable();
        // The far atomic of core 3 is not withdrawn.
        assert_eq!(left, [1, 3, 5], "{arbiter:?}");
    }
}
