//! Operations on bits: flags, and locks of one bit.

use super::shared::{answer, named};
use crate::class::facts::{Effect, Facts};
use crate::class::names::Purpose;
use crate::class::scene::{Answer, Class, Scene};
use crate::decode::Operation;
/// A bit that is set until it was clear.
pub(super) fn bit_lock(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::Bits { clears } = facts.effect else {
        return None;
    };
    let tests = facts.value_tests();
    if clears {
        return (named(scene) == Some(Purpose::Unlock))
            .then(|| {
                answer(
                    Class::LockGivenBack,
                    "clears bits in a function that unlocks by its name",
                )
            })
            .flatten();
    }
    let spins = tests
        .iter()
        .any(|t| t.taken.again().is_some() || t.fall.again().is_some());
    let is_lock = facts.locked.operation == Operation::Bit && (spins || named(scene) == Some(Purpose::Lock));
    (is_lock && !tests.is_empty())
        .then(|| answer(Class::LockTaken, "sets a bit until it was clear"))
        .flatten()
}

pub(super) fn bits(_: &Scene<'_>, facts: &Facts) -> Answer {
    match facts.effect {
        Effect::Bits { clears: true } => answer(Class::Flag, "clears bits"),
        Effect::Bits { clears: false } => answer(Class::Flag, "sets bits"),
        _ => None,
    }
}
