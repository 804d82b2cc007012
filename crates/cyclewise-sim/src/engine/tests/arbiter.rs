//! Whose request is next, under each law.

use super::super::arbiter::{Request, Requests, Want};
use super::super::random::Random;
use super::{TOPOLOGY, timing};
use crate::machine::{Arbiter, Cap};
use std::collections::BTreeMap;

/// Requests of these cores, one nanosecond after the other.
fn requests(arbiter: Arbiter, cores: &[u32]) -> Requests {
    let mut requests = Requests::new(arbiter, TOPOLOGY, &timing());
    for (at, &core) in (0..).zip(cores) {
        requests.push(Request {
            core,
            thread: core,
            want: Want::Line,
            since: at * 1000,
        });
    }
    requests
}

/// The cores in the order in which they are served, the line going to each in turn.
fn served(requests: &mut Requests, mut at: u32, now: u64, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    let mut served = Vec::new();
    while let Some(request) = requests.pick(at, now, &mut random) {
        at = request.core;
        served.push(at);
    }
    assert!(requests.is_empty());
    served
}

#[test]
fn the_oldest_is_next() {
    let mut fifo = requests(Arbiter::Fifo, &[5, 0, 3, 1]);
    assert_eq!(served(&mut fifo, 0, 9, 1), [5, 0, 3, 1]);
}

#[test]
fn any_is_next_with_equal_chances() {
    let mut first = BTreeMap::new();
    for seed in 0..4000 {
        let mut random = requests(Arbiter::Random, &[0, 1, 2, 3]);
        let order = served(&mut random, 0, 9, seed);
        *first.entry(order[0]).or_insert(0) += 1;
        let mut all = order;
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    }
    // 1000 each; 4 standard deviations are 110. The seeds are the same every time, so this holds or does not.
    assert!(first.values().all(|&times| (890..1110).contains(&times)), "{first:?}");
}

const NEAREST: Arbiter = Arbiter::Nearest {
    cap: Cap::Cycles(u32::MAX),
};

#[test]
fn the_nearest_is_next_and_the_oldest_of_those() {
    // The line is at core 0: core 1 is of its cluster, 2 and 3 of its socket, and the others of the other.
    let mut nearest = requests(NEAREST, &[7, 4, 3, 1, 2, 6]);
    assert_eq!(served(&mut nearest, 0, 9, 1), [1, 3, 2, 7, 6, 4]);
}

#[test]
fn a_cap_by_count_lets_the_oldest_before() {
    let arbiter = Arbiter::Nearest { cap: Cap::Count(2) };
    let mut nearest = requests(arbiter, &[7, 1, 3, 2, 0]);
    // Two go before core 7; then the line is in its socket, where nobody else waits.
    assert_eq!(served(&mut nearest, 0, 9, 1), [1, 0, 7, 3, 2]);
    let mut never = requests(Arbiter::Nearest { cap: Cap::Count(0) }, &[7, 1, 3, 2, 0]);
    assert_eq!(served(&mut never, 0, 9, 1), [7, 1, 3, 2, 0]);
}

#[test]
fn a_cap_by_age_lets_the_oldest_before() {
    let arbiter = Arbiter::Nearest { cap: Cap::Cycles(100) };
    // At 102 ns those of the first three nanoseconds are as old.
    let mut nearest = requests(arbiter, &[7, 4, 6, 1, 0, 5]);
    assert_eq!(served(&mut nearest, 0, 102_000, 1), [7, 4, 6, 5, 1, 0]);
    let mut young = requests(arbiter, &[7, 4, 6, 1, 0, 5]);
    assert_eq!(served(&mut young, 0, 99_000, 1), [1, 0, 7, 6, 4, 5]);
}

#[test]
fn what_is_withdrawn_is_not_served() {
    for arbiter in [Arbiter::Fifo, Arbiter::Random, NEAREST] {
        let mut some = requests(arbiter, &[5, 0, 3, 1]);
        some.push(Request {
            core: 3,
            thread: 9,
            want: Want::Far,
            since: 0,
        });
        some.withdraw(3);
        some.withdraw(0);
        let mut left = served(&mut some, 0, 9, 1);
        left.sort_unstable();
        // What the home does for core 3 is not its own request.
        assert_eq!(left, [1, 3, 5], "{arbiter:?}");
    }
}
