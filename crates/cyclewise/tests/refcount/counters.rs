//! Every counter behind one trait, so that one test table runs against each.
#![allow(dead_code, reason = "each test program uses a part")]

use cyclewise::refs::refcount::{Action, Event, Misuse, on_misuse};
use cyclewise::refs::refcount::{Refcount, Refcount64};
use std::cell::RefCell;

// The lab's baselines: one must pass the same tests, the other must fail them.
#[path = "../../../cyclewise-lab/src/experiment/refcount/cas_full.rs"]
mod cas_full;
#[path = "../../../cyclewise-lab/src/experiment/refcount/unchecked.rs"]
mod unchecked;

pub(crate) use cas_full::{CasFull, CasFull64};
pub(crate) use unchecked::{Unchecked, Unchecked64};

/// Operations of every counter. Counts are widened to 64 bits.
pub(crate) trait Counter: Send + Sync {
    const NAME: &'static str;
    /// The largest exact count.
    const MAX: u64;
    /// The value read from a saturated count.
    const SATURATED: u64;
    const TOP: u64;
    /// Every misuse saturates. If false, misuse may leave the count unchanged, as in `REFCOUNT_FULL`.
    const STRICT: bool;
    /// Misuse is reported.
    const REPORTS: bool;

    fn new(references: u64) -> Self;
    fn set(&self, references: u64);
    fn read(&self) -> u64;
    fn inc(&self);
    fn add(&self, n: u64);
    fn inc_not_zero(&self) -> bool;
    fn add_not_zero(&self, n: u64) -> bool;
    fn dec(&self);
    fn dec_and_test(&self) -> bool;
    fn sub_and_test(&self, n: u64) -> bool;
}

macro_rules! counters {
    ($($type:ty: $value:ident, $max:expr, $saturated:expr, $strict:literal, $reports:literal;)*) => { $(
        impl Counter for $type {
            const NAME: &'static str = stringify!($type);
            const MAX: u64 = $max as u64;
            const SATURATED: u64 = $saturated as u64;
            const TOP: u64 = $value::MAX as u64;
            const STRICT: bool = $strict;
            const REPORTS: bool = $reports;

            fn new(references: u64) -> Self { <$type>::new(references as $value) }
            fn set(&self, references: u64) { self.set(references as $value) }
            fn read(&self) -> u64 { u64::from(self.read()) }
            fn inc(&self) { self.inc() }
            fn add(&self, n: u64) { self.add(n as $value) }
            fn inc_not_zero(&self) -> bool { self.inc_not_zero() }
            fn add_not_zero(&self, n: u64) -> bool { self.add_not_zero(n as $value) }
            fn dec(&self) { self.dec() }
            fn dec_and_test(&self) -> bool { self.dec_and_test() }
            fn sub_and_test(&self, n: u64) -> bool { self.sub_and_test(n as $value) }
        }
    )* };
}

counters! {
    Refcount: u32, Refcount::MAX, Refcount::SATURATED, true, true;
    Refcount64: u64, Refcount64::MAX, Refcount64::SATURATED, true, true;
    CasFull: u32, u32::MAX - 1, u32::MAX, false, false;
    CasFull64: u64, u64::MAX - 1, u64::MAX, false, false;
    // It declares the real counter's values.
    Unchecked: u32, Refcount::MAX, Refcount::SATURATED, true, false;
    Unchecked64: u64, Refcount64::MAX, Refcount64::SATURATED, true, false;
}

/// Operations of the real counters only.
pub(crate) trait Full: Counter {
    fn set_release(&self, references: u64);
    fn is_saturated(&self) -> bool;
    fn inc_not_zero_acquire(&self) -> bool;
    fn add_not_zero_acquire(&self, n: u64) -> bool;
    fn inc_not_zero_limited_acquire(&self, limit: u64) -> bool;
    fn add_not_zero_limited_acquire(&self, n: u64, limit: u64) -> bool;
    fn dec_if_one(&self) -> bool;
    fn dec_not_one(&self) -> bool;
    fn dec_and_lock<G>(&self, lock: impl FnOnce() -> G) -> Option<G>;
    fn inc_old(&self) -> u64;
    fn add_old(&self, n: u64) -> u64;
    fn inc_not_zero_old(&self) -> Option<u64>;
    fn add_not_zero_old(&self, n: u64) -> Option<u64>;
    fn inc_not_zero_acquire_old(&self) -> Option<u64>;
    fn add_not_zero_acquire_old(&self, n: u64) -> Option<u64>;
    fn inc_not_zero_limited_acquire_old(&self, limit: u64) -> Result<u64, u64>;
    fn add_not_zero_limited_acquire_old(&self, n: u64, limit: u64) -> Result<u64, u64>;
    fn dec_old(&self) -> u64;
    fn dec_and_test_old(&self) -> (u64, bool);
    fn sub_and_test_old(&self, n: u64) -> (u64, bool);
}

macro_rules! full {
    ($($type:ty: $value:ident;)*) => { $(
        impl Full for $type {
            fn set_release(&self, references: u64) { self.set_release(references as $value) }
            fn is_saturated(&self) -> bool { self.is_saturated() }
            fn inc_not_zero_acquire(&self) -> bool { self.inc_not_zero_acquire() }
            fn add_not_zero_acquire(&self, n: u64) -> bool { self.add_not_zero_acquire(n as $value) }
            fn inc_not_zero_limited_acquire(&self, limit: u64) -> bool {
                self.inc_not_zero_limited_acquire(limit as $value)
            }
            fn add_not_zero_limited_acquire(&self, n: u64, limit: u64) -> bool {
                self.add_not_zero_limited_acquire(n as $value, limit as $value)
            }
            fn dec_if_one(&self) -> bool { self.dec_if_one() }
            fn dec_not_one(&self) -> bool { self.dec_not_one() }
            fn dec_and_lock<G>(&self, lock: impl FnOnce() -> G) -> Option<G> { self.dec_and_lock(lock) }
            fn inc_old(&self) -> u64 { self.inc_old().into() }
            fn add_old(&self, n: u64) -> u64 { self.add_old(n as $value).into() }
            fn inc_not_zero_old(&self) -> Option<u64> { self.inc_not_zero_old().map(u64::from) }
            fn add_not_zero_old(&self, n: u64) -> Option<u64> { self.add_not_zero_old(n as $value).map(u64::from) }
            fn inc_not_zero_acquire_old(&self) -> Option<u64> { self.inc_not_zero_acquire_old().map(u64::from) }
            fn add_not_zero_acquire_old(&self, n: u64) -> Option<u64> {
                self.add_not_zero_acquire_old(n as $value).map(u64::from)
            }
            fn inc_not_zero_limited_acquire_old(&self, limit: u64) -> Result<u64, u64> {
                let old = self.inc_not_zero_limited_acquire_old(limit as $value);
                old.map(u64::from).map_err(u64::from)
            }
            fn add_not_zero_limited_acquire_old(&self, n: u64, limit: u64) -> Result<u64, u64> {
                let old = self.add_not_zero_limited_acquire_old(n as $value, limit as $value);
                old.map(u64::from).map_err(u64::from)
            }
            fn dec_old(&self) -> u64 { self.dec_old().into() }
            fn dec_and_test_old(&self) -> (u64, bool) {
                let given = self.dec_and_test_old();
                (given.old.into(), given.last)
            }
            fn sub_and_test_old(&self, n: u64) -> (u64, bool) {
                let given = self.sub_and_test_old(n as $value);
                (given.old.into(), given.last)
            }
        }
    )* };
}

full! {
    Refcount: u32;
    Refcount64: u64;
}

thread_local! {
    static SEEN: RefCell<Vec<Event>> = const { RefCell::new(Vec::new()) };
}

fn record(misuse: &Misuse) {
    assert!(
        misuse.caller.file().contains("counters") && misuse.address != 0,
        "{misuse}"
    );
    SEEN.with_borrow_mut(|seen| seen.push(misuse.event));
}

/// Runs it and returns the misuse reported on this thread, ignoring other tests' reports.
pub(crate) fn events_of<T>(run: impl FnOnce() -> T) -> (T, Vec<Event>) {
    on_misuse(Action::Call(record));
    SEEN.with_borrow_mut(Vec::clear);
    let answer = run();
    (answer, SEEN.with_borrow_mut(std::mem::take))
}
