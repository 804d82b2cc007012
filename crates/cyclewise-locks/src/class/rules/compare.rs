//! Compare-and-exchanges: loops, locks, and what is tried once.

use super::shared::{about_word, answer, gives_back, may_wait, named, slow_name};
use crate::class::facts::{Effect, Facts};
use crate::class::far::comes_back;
use crate::class::names::{Purpose, counts_references, is_of_lock, parks, purpose, slow_purpose};
use crate::class::reach::{Again, Call, Event, Reach};
use crate::class::scene::{Answer, Class, Scene};
use crate::class::value::Value;
use crate::decode::Form;
/// Whether a thread waits after the exchange and does not return: it has marked the lock, and does not hold it.
pub(super) fn is_mark(scene: &Scene<'_>, facts: &Facts) -> bool {
    let Effect::CompareExchange { .. } = facts.effect else {
        return false;
    };
    // What an inlined lock is followed by is about something else.
    let is_own = scene.functions.last().and_then(|f| purpose(f)) == Some(Purpose::Lock);
    let waits = |(_, event): &(u64, Event)| match event {
        Event::SystemCall | Event::Call(Call { target: None, .. }) => true,
        // A function without a name may be the one that waits: nothing else is called before a lock's function returns.
        Event::Call(Call {
            target: Some(target), ..
        }) => scene.names.function(*target).is_none_or(|n| parks(&n)),
        _ => false,
    };
    let marks = |made: &Reach| {
        let distances = made.distances();
        let events = made.all().into_iter().flat_map(|r| &r.events);
        let wait = events
            .filter(|e| waits(e))
            .filter_map(|(at, _)| distances.get(at))
            .min();
        let back = made.all().into_iter().filter_map(|r| r.returns_after).min();
        wait.is_some_and(|wait| back.is_none_or(|back| *wait < back))
    };
    is_own && facts.failures().iter().any(|(_, made)| marks(made))
}

/// Something that was made for the word, and is handed to a function, mostly one that frees it, where another thread was first.
pub(super) fn installed(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::CompareExchange {
        expected: Value::Const(0),
        new: Value::Symbol(..),
    } = facts.effect
    else {
        return None;
    };
    let discards = |e: Event| matches!(e, Event::Call(call) if call.has_new && call.is_elsewhere);
    let is_discarded = |(failed, made): &(&Reach, &Reach)| failed.beside(made).into_iter().any(discards);
    facts
        .failures()
        .iter()
        .any(is_discarded)
        .then(|| {
            answer(
                Class::Flag,
                "installs what was made for it, and gives that up where another was first",
            )
        })
        .flatten()
}

/// A compare-and-exchange in a function that locks or unlocks by its name.
pub(super) fn named_lock(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let new = match facts.effect {
        Effect::CompareExchange { new, .. } => new,
        Effect::Unknown => Value::Unknown,
        _ => return None,
    };
    if marks_held(scene, facts) {
        return answer(Class::ExchangeLoop, "marks a lock that another thread holds, and waits");
    }
    match named(scene)? {
        Purpose::Lock if new != Value::Const(0) && !is_mark(scene, facts) => answer(
            Class::LockTaken,
            "compares and exchanges in a function that locks by its name",
        ),
        Purpose::Unlock => answer(
            Class::LockGivenBack,
            "compares and exchanges in a function that unlocks by its name",
        ),
        // A mark in the lock's word.
        Purpose::Lock => None,
    }
}

/// Whether one number that is not 0 takes the place of another, again and again, in a function that locks and waits.
fn marks_held(scene: &Scene<'_>, facts: &Facts) -> bool {
    let Effect::CompareExchange {
        expected: Value::Const(1..),
        new: Value::Const(1..),
    } = facts.effect
    else {
        return false;
    };
    named(scene) == Some(Purpose::Lock) && retries(facts).is_some() && is_mark(scene, facts)
}

/// The way back to the site after a failure, or to a copy of it: compilers peel the first round of a loop.
fn retries(facts: &Facts) -> Option<Again> {
    let failures = facts.failures();
    let mut back = failures.iter();
    back.find_map(|(failed, made)| failed.again().or_else(|| failed.copy(made)))
}

/// A compare-and-exchange of 0 with a number, again and again, or with an identifier such as the process's that was loaded. What was made
/// for the word is put there once.
pub(super) fn spin(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::CompareExchange { expected, new } = facts.effect else {
        return None;
    };
    match (expected, new) {
        (Value::Const(0), Value::Const(1..)) => {}
        (Value::Const(0), Value::Symbol(..)) if facts.is_new_loaded => {}
        _ => return None,
    }
    // What is done once ends in a state of its own, and a lock in the one that was expected.
    let ends = |(_, made): &(&Reach, &Reach)| made.any(&|r| r.stored.iter().any(|v| matches!(v, Value::Const(1..))));
    let is_once = facts.failures().iter().any(ends);
    (retries(facts)?.expected == Value::Const(0) && !is_once)
        .then(|| answer(Class::LockTaken, "tries until the word is 0"))
        .flatten()
}

/// A compare-and-exchange whose word the same function gives back: what is between is done by one thread. A value that was expected whatever
/// it is makes a lock only where the exchange is tried until it was made.
pub(super) fn given_back_later(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::CompareExchange { expected, new } = facts.effect else {
        return None;
    };
    let undone = |stored: &Value| gives_back([expected, new], *stored);
    let is_cleared =
        |mask: &i64| matches!((expected, new), (Value::Const(free), Value::Const(held)) if held & !free & !mask != 0);
    let undoes =
        |(_, made): &(&Reach, &Reach)| made.any(&|r| r.stored.iter().any(undone) || r.masks.iter().any(is_cleared));
    let is_tried = matches!(expected, Value::Const(_)) || retries(facts).is_some();
    (is_tried && facts.failures().iter().any(undoes))
        .then(|| answer(Class::LockTaken, "takes the word, and the same function gives it back"))
        .flatten()
}

/// A number in the place of whatever was there, again and again: who waits for another value than that number takes a lock.
pub(super) fn busy_mark(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::CompareExchange { expected, new } = facts.effect else {
        return None;
    };
    let is_mark = matches!(new, Value::Const(n) if n != 0) && !matches!(expected, Value::Const(_));
    let waits = |(failed, _): &(&Reach, &Reach)| failed.again().is_some() && failed.any(&|r| has_pause(r));
    (is_mark && facts.failures().iter().any(waits))
        .then(|| answer(Class::LockTaken, "waits until its mark is in the word"))
        .flatten()
}

fn has_pause(reach: &Reach) -> bool {
    reach.events.iter().any(|(_, e)| *e == Event::Pause)
}

pub(super) fn exchange_loop(scene: &Scene<'_>, facts: &Facts) -> Answer {
    match facts.effect {
        Effect::CompareExchange { expected, new } => {
            if retries(facts).is_some() {
                return answer(Class::ExchangeLoop, "tries again where the word has changed");
            }
            if !matches!(expected, Value::Const(_)) && facts.failures().iter().any(|sides| is_far_loop(scene, sides)) {
                return answer(Class::ExchangeLoop, "a long way leads back where the word has changed");
            }
            // The way back may be in code that is not known.
            let is_cut = facts.failures().iter().any(|(failed, _)| failed.any(&|r| r.cut));
            (is_cut && is_from_old(expected) && is_from_old(new))
                .then(|| answer(Class::ExchangeLoop, "computes the new value from the old one"))
                .flatten()
        }
        Effect::Unknown => answer(Class::ExchangeLoop, "an exclusive store whose load is not known"),
        _ => None,
    }
}

/// Whether the walk after a failed exchange ended before it came back.
fn is_far_loop(scene: &Scene<'_>, (failed, made): &(&Reach, &Reach)) -> bool {
    let (Some((failed_at, _)), Some((made_at, _))) = (failed.visited.first(), made.visited.first()) else {
        return false;
    };
    failed.any(&|r| r.cut) && comes_back(scene, *failed_at, *made_at)
}

fn is_from_old(value: Value) -> bool {
    matches!(value, Value::Old(_) | Value::Raised | Value::Lowered | Value::Derived)
}

/// A compare-and-exchange that is tried again and again with the same expected number: it waits for a state.
pub(super) fn wait_for_state(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::CompareExchange { expected, .. } = facts.effect else {
        return None;
    };
    let again = retries(facts)?;
    // An exclusive loop compares with the same operand each time.
    let is_same = facts.locked.form == Form::Exclusive || again.expected == expected;
    (matches!(expected, Value::Const(_)) && is_same)
        .then(|| answer(Class::Flag, "waits until the word holds a number"))
        .flatten()
}

/// A compare-and-exchange of 1 with 0, once, in a type that counts references: is this the only one?
pub(super) fn only_one(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::CompareExchange { expected, new } = facts.effect else {
        return None;
    };
    let counts = scene.functions.iter().any(|f| counts_references(f));
    ((expected, new) == (Value::Const(1), Value::Const(0)) && counts)
        .then(|| answer(Class::CountDownAndTest, "the only reference is given up"))
        .flatten()
}

pub(super) fn lock_by_compare(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::CompareExchange { expected, new } = facts.effect else {
        return None;
    };
    let slow = about_word(facts.slow_paths());
    let is_named = slow_name(scene, &slow, slow_purpose) == Some(Purpose::Lock);
    if is_named && !matches!((expected, new), (_, Value::Const(0)) | (Value::Const(1..), _)) {
        return answer(
            Class::LockTaken,
            "where it fails, a function is called that locks by its name",
        );
    }
    let (Value::Const(0), Value::Const(_)) = (expected, new) else {
        return None;
    };
    // The next word, and not this one again, is tried in a loop over flags.
    let is_search = facts
        .failures()
        .iter()
        .any(|(failed, _)| failed.any(&|r| r.again.is_some_and(|a| a.moved)));
    (may_wait(scene, &slow) && !is_search)
        .then(|| answer(Class::LockTaken, "0 becomes a number, or a slow path follows"))
        .flatten()
}

/// A compare-and-exchange of 0 with a number in a function of a lock, whatever its name says that it does.
pub(super) fn of_lock(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::CompareExchange {
        expected: Value::Const(0),
        new: Value::Const(1..),
    } = facts.effect
    else {
        return None;
    };
    let is_of_lock = scene.functions.last().is_some_and(|f| is_of_lock(f));
    is_of_lock
        .then(|| {
            answer(
                Class::LockTaken,
                "0 becomes a number in a function that is a lock's by its name",
            )
        })
        .flatten()
}

pub(super) fn unlock_by_compare(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::CompareExchange { expected, new } = facts.effect else {
        return None;
    };
    let slow = about_word(facts.slow_paths());
    if new == Value::Const(0) && slow_name(scene, &slow, slow_purpose) == Some(Purpose::Unlock) {
        return answer(
            Class::LockGivenBack,
            "where it fails, a function is called that unlocks by its name",
        );
    }
    let (Value::Const(held), Value::Const(0)) = (expected, new) else {
        return None;
    };
    (held > 0 && may_wait(scene, &slow))
        .then(|| answer(Class::LockGivenBack, "a number becomes 0, or a slow path follows"))
        .flatten()
}

pub(super) fn tried_once(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::CompareExchange { .. } = facts.effect else {
        return None;
    };
    answer(Class::Flag, "compares and exchanges once")
}
