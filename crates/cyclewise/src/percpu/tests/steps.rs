//! What is done to a container of words by chance, and to the oracle beside it.

use proptest::prelude::*;
use std::vec::Vec;

/// One call.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Push(u64),
    PushMany(Vec<u64>),
    Pop,
    PopMany(usize),
}

/// Some calls, one after the other.
pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        any::<u64>().prop_map(Step::Push),
        prop::collection::vec(any::<u64>(), 0..12).prop_map(Step::PushMany),
        Just(Step::Pop),
        (0usize..12).prop_map(Step::PopMany),
    ];
    prop::collection::vec(step, 0..80)
}
