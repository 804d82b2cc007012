//! Random operations on a container of words and on its oracle.

use proptest::prelude::*;
use std::vec::Vec;

/// One operation.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Push(u64),
    PushMany(Vec<u64>),
    Pop,
    PopMany(usize),
}

/// A sequence of operations.
pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        any::<u64>().prop_map(Step::Push),
        prop::collection::vec(any::<u64>(), 0..12).prop_map(Step::PushMany),
        Just(Step::Pop),
        (0usize..12).prop_map(Step::PopMany),
    ];
    prop::collection::vec(step, 0..80)
}
