//! LKDTM's behaviour tests by name.

use super::counter::Counter;
use crate::verify::Check;

/// The outcomes of tests, each written as its name, the count that it begins with, and steps whose last says whether the others
/// did as they should. A test passes if that is so and the count ends saturated.
macro_rules! pinned {
    ($($name:literal from $start:expr, |$count:ident| { $($steps:tt)* })*) => {
        [$(($name, {
            let $count = C::new($start);
            let is_right: bool = { $($steps)* };
            is_right && $count.read() == C::SATURATED
        })),*]
    };
}

/// LKDTM's behaviour tests.
pub(super) fn misuse<C: Counter>(name: &'static str) -> Check {
    let outcomes = pinned! {
        "REFCOUNT_INC_OVERFLOW" from C::MAX - 1, |c| { c.dec(); c.inc(); c.inc(); c.inc(); true }
        "REFCOUNT_ADD_OVERFLOW" from C::MAX - 1, |c| { c.add(4); true }
        "REFCOUNT_INC_NOT_ZERO_OVERFLOW" from C::MAX, |c| { c.inc_not_zero() }
        "REFCOUNT_ADD_NOT_ZERO_OVERFLOW" from C::MAX, |c| { c.add_not_zero(6) }
        "REFCOUNT_DEC_ZERO" from 2, |c| { c.dec(); let one = c.read() == 1; c.dec(); one }
        "REFCOUNT_DEC_NEGATIVE" from 0, |c| { c.dec(); true }
        "REFCOUNT_DEC_AND_TEST_NEGATIVE" from 0, |c| { !c.dec_and_test() }
        "REFCOUNT_SUB_AND_TEST_NEGATIVE" from 3, |c| { !c.sub_and_test(5) }
        "REFCOUNT_SUB_AND_TEST_ZERO" from 0, |c| { !c.sub_and_test(0) }
        "REFCOUNT_INC_ZERO" from 0, |c| { let stays = !c.inc_not_zero() && c.read() == 0; c.inc(); stays }
        "REFCOUNT_ADD_ZERO" from 0, |c| { let stays = !c.add_not_zero(3) && c.read() == 0; c.add(3); stays }
        "REFCOUNT_INC_SATURATED" from C::SATURATED, |c| { c.inc(); true }
        "REFCOUNT_DEC_SATURATED" from C::SATURATED, |c| { c.dec(); true }
        "REFCOUNT_ADD_SATURATED" from C::SATURATED, |c| { c.add(8); true }
        "REFCOUNT_INC_NOT_ZERO_SATURATED" from C::SATURATED, |c| { c.inc_not_zero() }
        "REFCOUNT_ADD_NOT_ZERO_SATURATED" from C::SATURATED, |c| { c.add_not_zero(7) }
        "REFCOUNT_DEC_AND_TEST_SATURATED" from C::SATURATED, |c| { !c.dec_and_test() }
        "REFCOUNT_SUB_AND_TEST_SATURATED" from C::SATURATED, |c| { !c.sub_and_test(8) }
    };
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
