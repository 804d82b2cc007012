//! Every test on a pair of CPUs, run on the clocks that must pass it and on those that it must catch.

use super::super::Check;
use super::pair::{self, FENCE, LOAD, Outcome, Pair, STORE};
use crate::arch::raw;
use cyclewise::clock::{AfterStores, Bracketed, DependentLoad, Instant, LoadOrdered, Order};
use std::io;
use std::time::Duration;

fn time<O: Order>() -> u64 {
    Instant::<O>::read().as_nanos()
}

/// The outcomes of the tests on all pairs.
#[derive(Default)]
pub(super) struct Tested {
    warp: [Outcome; 3],
    now: [Outcome; 3],
    load: [Outcome; 2],
    after_stores: Outcome,
    load_of_load_ordered: Outcome,
    fenced: Outcome,
    store: Outcome,
    early: Outcome,
    bare_warp: Outcome,
    bare_now: Outcome,
}

impl Tested {
    /// Runs every test on a pair of CPUs, each for `slice`.
    ///
    /// # Errors
    /// If a thread cannot be created.
    pub(super) fn test(&mut self, pair: Pair, slice: Duration) -> io::Result<()> {
        let now = |read: fn() -> u64| pair::now(pair, slice, read, move |told| pair::hear(told, read));
        let numbers = |store, note: fn() -> u64, read: fn() -> u64| pair::numbers(pair, slice, store, note, read);
        let reads: [fn() -> u64; 3] = [time::<LoadOrdered>, time::<DependentLoad>, time::<Bracketed>];
        for (i, read) in reads.into_iter().enumerate() {
            self.warp[i].add(pair::warp(pair, slice, read)?);
            self.now[i].add(now(read)?);
        }
        self.load[0].add(numbers(LOAD, time::<Bracketed>, time::<DependentLoad>)?);
        self.load[1].add(numbers(LOAD, time::<Bracketed>, time::<Bracketed>)?);
        self.after_stores
            .add(numbers(STORE, time::<AfterStores>, time::<DependentLoad>)?);
        self.load_of_load_ordered
            .add(numbers(LOAD, time::<Bracketed>, time::<LoadOrdered>)?);
        self.fenced
            .add(numbers(FENCE, time::<Bracketed>, time::<DependentLoad>)?);
        self.store.add(numbers(STORE, time::<LoadOrdered>, time::<Bracketed>)?);
        let read = time::<LoadOrdered>;
        self.early
            .add(pair::now(pair, slice, read, |told| pair::hear_too_late(told, read))?);
        self.bare_warp.add(pair::warp(pair, slice, raw::bare)?);
        self.bare_now.add(now(raw::bare)?);
        Ok(())
    }

    pub(super) fn checks(&self, pairs: usize, all: usize) -> Vec<Check> {
        if pairs == 0 {
            return Vec::new();
        }
        let on = format!("on {pairs} of {all} ordered pairs of CPUs");
        let none = |name, promise, seen: &[Outcome]| {
            let mut sum = Outcome::default();
            seen.iter().for_each(|s| sum.add(*s));
            Check {
                name,
                promise,
                seen: format!("{} {on}", told(sum, "")),
                tries: sum.tries,
                events: sum.events,
                // A test that never ran proves nothing.
                holds: Some(sum.events == 0 && sum.tries > 0),
            }
        };
        vec![
            none(
                "no-warp",
                "load-ordered, dependent-load and bracketed times taken under a lock do not go back",
                &self.warp,
            ),
            none(
                "now-after-load",
                "the same, read after a load without any lock, are not below the time that was loaded",
                &self.now,
            ),
            none(
                "load-after-now",
                "a load after a dependent-load or bracketed time finds what was stored, and seen by all, before that time",
                &self.load,
            ),
            none(
                "now-after-stores",
                "a load after a later dependent-load time finds what was stored before an after-stores time",
                &[self.after_stores],
            ),
            Check {
                name: "the-tests-bite",
                promise: "the test without a lock detects a clock that is read too early",
                seen: format!("caught {}", told(self.early, " ns")),
                tries: self.early.tries,
                events: self.early.events,
                holds: Some(self.early.events > 0),
            },
        ]
    }

    /// Observations that no promise covers.
    pub(super) fn notes(&self) -> Vec<String> {
        if self.early.tries == 0 {
            return vec!["only one CPU, so times of two CPUs could not be compared".to_string()];
        }
        vec![
            format!(
                "a bare counter: {} without a lock, {} under one",
                told(self.bare_now, " ticks"),
                told(self.bare_warp, " ticks")
            ),
            format!(
                "not guaranteed: with fence(SeqCst) between a store and a bracketed time, another CPU that read a later time \
                 missed the store in {}{}",
                told(self.fenced, ""),
                if self.fenced.events == 0 {
                    "; on other CPUs it happens"
                } else {
                    ""
                }
            ),
            format!(
                "not guaranteed for load-ordered times: a later load found less than was stored before in {}; a store was \
                 seen after a later time in {}",
                told(self.load_of_load_ordered, ""),
                told(self.store, "")
            ),
        ]
    }
}

/// "3 of 100, by at most 5 ns".
pub(super) fn told(outcome: Outcome, unit: &str) -> String {
    match outcome.events {
        0 => format!("0 of {}", outcome.tries),
        events => format!("{events} of {}, by at most {}{unit}", outcome.tries, outcome.worst),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_breaks_a_promise_and_none_breaks_the_twin_s() {
        let event = Outcome {
            tries: 9,
            events: 1,
            worst: 3,
        };
        let well = Outcome { events: 0, ..event };
        let tested = Tested {
            warp: [well; 3],
            now: [well, event, well],
            load: [well; 2],
            after_stores: event,
            ..Tested::default()
        };
        let holds: Vec<Option<bool>> = tested.checks(1, 2).iter().map(|c| c.holds).collect();
        assert_eq!(holds, [true, false, true, false, false].map(Some));
        assert_eq!(told(event, " ns"), "1 of 9, by at most 3 ns");
    }
}
