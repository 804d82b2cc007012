//! The 18 behaviour tests of Linux's `drivers/misc/lkdtm/refcount.c` by name, against every counter in both widths.
//!
//! The unchecked counter is the twin: it runs the same tests as the real ones, and must fail all of them.

use crate::counters::{CasFull, CasFull64, Counter, Unchecked, Unchecked64, events_of};
use cyclewise::refs::refcount::Event::{
    self, AddNotZeroOverflow, AddOverflow, AddUseAfterFree, DecLeak, SubUseAfterFree,
};
use cyclewise::refs::refcount::{Refcount, Refcount64};

type Outcome = Result<(), String>;

/// A test: its name, its body, the expected report.
type Test<C> = (&'static str, fn(&C) -> Outcome, &'static [Event]);

fn is<C: Counter>(count: &C, expected: u64) -> Outcome {
    let found = count.read();
    (found == expected)
        .then_some(())
        .ok_or_else(|| format!("is {found:#x}, not {expected:#x}"))
}

/// Saturated; or, where that is how the counter refuses, left at `start`.
fn refused<C: Counter>(count: &C, start: u64) -> Outcome {
    if !C::STRICT && count.read() == start {
        return Ok(());
    }
    is(count, C::SATURATED)
}

fn answered(answer: bool, expected: bool) -> Outcome {
    (answer == expected)
        .then_some(())
        .ok_or_else(|| format!("answered {answer}"))
}

/// Each: its name, the count at first, what is done to it and what it then is, and what is reported.
macro_rules! tests {
    ($count:ident: $($name:literal from $start:expr, $does:block then $end:expr, $event:ident;)*) => {
        [$((
            concat!("REFCOUNT_", $name),
            |$count| {
                $count.set($start);
                $does;
                $end
            },
            &[$event],
        )),*]
    };
}

fn table<C: Counter>() -> [Test<C>; 18] {
    tests! { c:
        "INC_OVERFLOW" from C::MAX - 1, { c.dec(); c.inc(); is(c, C::MAX - 1)?; c.inc(); c.inc() } then is(c, C::SATURATED), AddOverflow;
        "ADD_OVERFLOW" from C::MAX - 1, { (0..4).for_each(|_| c.dec()); c.add(4); is(c, C::MAX - 1)?; c.add(4) } then is(c, C::SATURATED), AddOverflow;
        "INC_NOT_ZERO_OVERFLOW" from C::MAX, { answered(c.inc_not_zero(), true)? } then is(c, C::SATURATED), AddNotZeroOverflow;
        "ADD_NOT_ZERO_OVERFLOW" from C::MAX, { answered(c.add_not_zero(6), true)? } then is(c, C::SATURATED), AddNotZeroOverflow;
        "DEC_ZERO" from 2, { c.dec(); is(c, 1)?; c.dec() } then refused(c, 0), DecLeak;
        "DEC_NEGATIVE" from 0, { c.dec() } then refused(c, 0), DecLeak;
        "DEC_AND_TEST_NEGATIVE" from 0, { answered(c.dec_and_test(), false)? } then refused(c, 0), SubUseAfterFree;
        "SUB_AND_TEST_NEGATIVE" from 3, { answered(c.sub_and_test(5), false)? } then refused(c, 3), SubUseAfterFree;
        // REFCOUNT_FULL reports zero minus zero as the last reference.
        "SUB_AND_TEST_ZERO" from 0, { answered(c.sub_and_test(0), !C::STRICT)? } then refused(c, 0), SubUseAfterFree;
        "INC_ZERO" from 0, { answered(c.inc_not_zero(), false)?; is(c, 0)?; c.inc() } then refused(c, 0), AddUseAfterFree;
        "ADD_ZERO" from 0, { answered(c.add_not_zero(3), false)?; is(c, 0)?; c.add(3) } then refused(c, 0), AddUseAfterFree;
        "INC_SATURATED" from C::SATURATED, { c.inc() } then is(c, C::SATURATED), AddOverflow;
        "DEC_SATURATED" from C::SATURATED, { c.dec() } then is(c, C::SATURATED), DecLeak;
        "ADD_SATURATED" from C::SATURATED, { c.add(8) } then is(c, C::SATURATED), AddOverflow;
        "INC_NOT_ZERO_SATURATED" from C::SATURATED, { answered(c.inc_not_zero(), true)? } then is(c, C::SATURATED), AddNotZeroOverflow;
        "ADD_NOT_ZERO_SATURATED" from C::SATURATED, { answered(c.add_not_zero(7), true)? } then is(c, C::SATURATED), AddNotZeroOverflow;
        "DEC_AND_TEST_SATURATED" from C::SATURATED, { answered(c.dec_and_test(), false)? } then is(c, C::SATURATED), SubUseAfterFree;
        "SUB_AND_TEST_SATURATED" from C::SATURATED, { answered(c.sub_and_test(8), false)? } then is(c, C::SATURATED), SubUseAfterFree;
    }
}

/// Runs the table; returns the names and reasons of the failures.
fn failures<C: Counter>() -> Vec<(&'static str, String)> {
    let run = |(name, test, expected): Test<C>| {
        let count = C::new(1);
        let (outcome, seen) = events_of(|| test(&count));
        let reported = if C::REPORTS && seen != expected {
            Err(format!("reported {seen:?}, not {expected:?}"))
        } else {
            Ok(())
        };
        let failure = outcome.and(reported).err()?;
        Some((name, failure))
    };
    table::<C>().into_iter().filter_map(run).collect()
}

fn passes<C: Counter>() {
    let failed = failures::<C>();
    assert!(failed.is_empty(), "{}: {failed:?}", C::NAME);
}

fn fails_all<C: Counter>() {
    let failed: Vec<_> = failures::<C>().into_iter().map(|(name, _)| name).collect();
    let all: Vec<_> = table::<C>().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(failed, all, "{} passes what it must not", C::NAME);
}

#[test]
fn refcounts_pass_lkdtm() {
    passes::<Refcount>();
    passes::<Refcount64>();
}

#[test]
fn cas_full_passes_lkdtm() {
    passes::<CasFull>();
    passes::<CasFull64>();
}

#[test]
fn unchecked_counters_fail_every_test() {
    fails_all::<Unchecked>();
    fails_all::<Unchecked64>();
}
