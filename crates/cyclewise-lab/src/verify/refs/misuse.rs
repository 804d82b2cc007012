//! LKDTM's behaviour tests by name.

use super::counter::Counter;
use crate::verify::Check;

/// LKDTM's behaviour tests: each has a start value and steps, and passes if the steps return true and the count ends
/// saturated.
pub(super) fn misuse<C: Counter>(name: &'static str) -> Check {
    let pinned = |start: u64, run: fn(&C) -> bool| {
        let count = C::new(start);
        run(&count) && count.read() == C::SATURATED
    };
    let outcomes = [
        (
            "REFCOUNT_INC_OVERFLOW",
            pinned(C::MAX - 1, |c| {
                c.dec();
                c.inc();
                c.inc();
                c.inc();
                true
            }),
        ),
        (
            "REFCOUNT_ADD_OVERFLOW",
            pinned(C::MAX - 1, |c| {
                c.add(4);
                true
            }),
        ),
        ("REFCOUNT_INC_NOT_ZERO_OVERFLOW", pinned(C::MAX, |c| c.inc_not_zero())),
        ("REFCOUNT_ADD_NOT_ZERO_OVERFLOW", pinned(C::MAX, |c| c.add_not_zero(6))),
        (
            "REFCOUNT_DEC_ZERO",
            pinned(2, |c| {
                c.dec();
                let one = c.read() == 1;
                c.dec();
                one
            }),
        ),
        (
            "REFCOUNT_DEC_NEGATIVE",
            pinned(0, |c| {
                c.dec();
                true
            }),
        ),
        ("REFCOUNT_DEC_AND_TEST_NEGATIVE", pinned(0, |c| !c.dec_and_test())),
        ("REFCOUNT_SUB_AND_TEST_NEGATIVE", pinned(3, |c| !c.sub_and_test(5))),
        ("REFCOUNT_SUB_AND_TEST_ZERO", pinned(0, |c| !c.sub_and_test(0))),
        (
            "REFCOUNT_INC_ZERO",
            pinned(0, |c| {
                let stays = !c.inc_not_zero() && c.read() == 0;
                c.inc();
                stays
            }),
        ),
        (
            "REFCOUNT_ADD_ZERO",
            pinned(0, |c| {
                let stays = !c.add_not_zero(3) && c.read() == 0;
                c.add(3);
                stays
            }),
        ),
        (
            "REFCOUNT_INC_SATURATED",
            pinned(C::SATURATED, |c| {
                c.inc();
                true
            }),
        ),
        (
            "REFCOUNT_DEC_SATURATED",
            pinned(C::SATURATED, |c| {
                c.dec();
                true
            }),
        ),
        (
            "REFCOUNT_ADD_SATURATED",
            pinned(C::SATURATED, |c| {
                c.add(8);
                true
            }),
        ),
        (
            "REFCOUNT_INC_NOT_ZERO_SATURATED",
            pinned(C::SATURATED, |c| c.inc_not_zero()),
        ),
        (
            "REFCOUNT_ADD_NOT_ZERO_SATURATED",
            pinned(C::SATURATED, |c| c.add_not_zero(7)),
        ),
        (
            "REFCOUNT_DEC_AND_TEST_SATURATED",
            pinned(C::SATURATED, |c| !c.dec_and_test()),
        ),
        (
            "REFCOUNT_SUB_AND_TEST_SATURATED",
            pinned(C::SATURATED, |c| !c.sub_and_test(8)),
        ),
    ];
    let broken: Vec<&str> = outcomes
        .iter()
        .filter(|(_, kept)| !kept)
        .map(|(name, _)| *name)
        .collect();
    let seen = match &broken[..] {
        [] => format!("{} of {} pass", outcomes.len(), outcomes.len()),
        names => format!("broken: {}", names.join(", ")),
    };
    Check {
        name,
        promise: "each of LKDTM's behaviour tests ends saturated and returns the right result",
        seen,
        tries: outcomes.len(),
        events: broken.len(),
        holds: Some(broken.is_empty()),
    }
}
