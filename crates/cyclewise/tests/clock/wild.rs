//! A clock whose source says anything: no reading panics or goes round for ever, whatever the time is that it gives.

use crate::common::harness::{Check, checks};
use cyclewise::clock::{Bracketed, Clock, DependentLoad, LoadOrdered, PerTask, Reason, Source};
use std::cell::Cell;

pub(crate) const CHECKS: &[Check] = checks![a_source_that_says_anything_is_read_to_the_end,];

/// Numbers at random: small ones, large ones, those at the limits, and those a little above or below the last.
struct Wild {
    random: Cell<u64>,
    last: Cell<u64>,
}

impl Wild {
    fn next(&self) -> u64 {
        // xorshift64.
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        let last = self.last.get();
        let value = match x % 16 {
            0 => u64::MAX - x % 3,
            1 => x % 3,
            2 => x,
            3 => 1 << 63,
            4 => last.wrapping_sub(x >> 40),
            5 => last.wrapping_add(x >> 30),
            6 => x >> (x % 64),
            7..12 => last.wrapping_add(x >> 54),
            _ => last.wrapping_add(x >> 44),
        };
        self.last.set(value);
        value
    }
}

macro_rules! any {
    ($($method:ident)*) => { $(fn $method(&self) -> u64 { self.next() })* };
}

impl Source for Wild {
    any! { bare load_ordered dependent_load bracketed monotonic_ns raw_ns boottime_ns }
    fn examine(&self) -> Result<(), Reason> {
        if self.next().is_multiple_of(8) {
            Err(Reason::NotExamined)
        } else {
            Ok(())
        }
    }
    fn disruptions(&self) -> Option<u64> {
        let said = self.next();
        said.is_multiple_of(4).then_some(said % 2)
    }
    fn raise_floor(&self, _: u64) -> u64 {
        self.next()
    }
}

fn a_source_that_says_anything_is_read_to_the_end() {
    let clocks = 20_000;
    for seed in 1..clocks {
        let source = Wild {
            random: Cell::new(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15)),
            last: Cell::new(seed),
        };
        let clock = Clock::new(source);
        for _ in 0..50 {
            let from = clock.ticks::<LoadOrdered>();
            clock.now();
            clock.now_as::<PerTask>();
            clock.now_as::<DependentLoad>();
            clock.reading::<Bracketed>();
            clock.reading::<PerTask>();
            clock.refresh();
            clock.recent();
            clock.status();
            clock.between(from, clock.ticks::<LoadOrdered>());
        }
    }
}
