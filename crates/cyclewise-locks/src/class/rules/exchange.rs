//! Exchanges: locks, flags, swaps.

use super::shared::{about_word, answer, gives_back, is_for, may_wait, named, slow_name, tests_a_mark};
use crate::class::facts::{Effect, Facts};
use crate::class::names::{Purpose, purpose, slow_purpose, waiting};
use crate::class::reach::{Reach, Test, Tested};
use crate::class::scene::{Answer, Class, Scene};
use crate::class::value::{Value, is_about_word};
use crate::decode::Cond;
pub(super) fn unlock_by_exchange(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::Exchange(value) = facts.effect else {
        return None;
    };
    if matches!(value, Value::Const(n) if n != 0) {
        return None;
    }
    if named(scene) == Some(Purpose::Unlock) && value == Value::Const(0) && !tests_a_mark(facts) {
        return answer(Class::LockGivenBack, "stores 0 in a function that unlocks by its name");
    }
    let wakes = |t: &Test| {
        let may = t
            .sides()
            .iter()
            .any(|(side, other)| may_wait(scene, &side.beside(other)));
        may || is_for(scene, t, Purpose::Unlock, slow_purpose)
    };
    let has_waiters = |t: &&Test| match t.tested {
        // More than "held": 2 is "held, and others wait" in every lock of three states.
        Tested::Number(0, 2) => wakes(t),
        Tested::Number(-1, 0) | Tested::Number(0, 1) if t.cond == Cond::Ordered => wakes(t),
        Tested::Number(-1, 0) | Tested::Number(0, 0 | 1) => is_for(scene, t, Purpose::Unlock, purpose),
        _ => false,
    };
    let found = facts.value_tests().iter().any(has_waiters);
    found
        .then(|| answer(Class::LockGivenBack, "stores 0, and wakes others if they wait"))
        .flatten()
}

/// A store in a word that the same function took by a compare-and-exchange.
pub(super) fn given_back(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::Exchange(value) = facts.effect else {
        return None;
    };
    let is_used = !facts.value_tests().is_empty() || facts.after.keeps;
    (!is_used && facts.taken.is_some_and(|taken| gives_back(taken, value)))
        .then(|| answer(Class::LockGivenBack, "gives back a word that the same function took"))
        .flatten()
}

pub(super) fn lock_by_exchange(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::Exchange(value) = facts.effect else {
        return None;
    };
    let tests = facts.value_tests();
    let is_returned = facts.after.any(&|r| r.returns.iter().any(|v| is_about_word(*v)));
    if value == Value::Const(0) || tests.is_empty() && !is_returned {
        return None;
    }
    let again = |r: &Reach| {
        r.again()
            .is_some_and(|a| a.new == value && matches!(value, Value::Const(_)))
    };
    let is_copied = |t: &&Test| {
        matches!(value, Value::Const(_)) && t.sides().iter().any(|(side, other)| side.copy(other).is_some())
    };
    let spins = tests.iter().any(|t| again(&t.taken) || again(&t.fall) || is_copied(t));
    if spins {
        return answer(
            Class::LockTaken,
            "stores a number until the old one shows that the lock was free",
        );
    }
    let is_waiting = |t: &&Test| is_for(scene, t, Purpose::Lock, waiting) || locks_where_held(scene, t);
    if named(scene) == Some(Purpose::Lock) {
        return answer(
            Class::LockTaken,
            "stores a number and tests the old one, in a function that locks by its name",
        );
    }
    tests
        .iter()
        .any(is_waiting)
        .then(|| {
            answer(
                Class::LockTaken,
                "stores a number, and waits by a function that locks by its name",
            )
        })
        .flatten()
}

/// Whether a function that locks by its name is called where the old value is not 0, and not where it is: the slow path of a lock, and not
/// what is done once under another lock.
fn locks_where_held(scene: &Scene<'_>, test: &Test) -> bool {
    let (held, free) = match (test.tested, test.cond) {
        (Tested::Number(0, 0), Cond::Equal) => (&test.fall, &test.taken),
        (Tested::Number(0, 0), Cond::NotEqual) => (&test.taken, &test.fall),
        _ => return false,
    };
    slow_name(scene, &about_word(held.beside(free)), slow_purpose) == Some(Purpose::Lock)
}

pub(super) fn swap(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::Exchange(value) = facts.effect else {
        return None;
    };
    let is_used = !facts.value_tests().is_empty() || facts.after.keeps;
    match (value, is_used) {
        (Value::Const(_), false) => answer(Class::Flag, "stores a number"),
        (Value::Const(_), true) => answer(Class::Flag, "stores a number and tests the old one once"),
        _ => answer(Class::Flag, "swaps a value, once"),
    }
}
