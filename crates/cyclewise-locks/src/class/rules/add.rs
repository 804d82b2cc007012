//! Additions: counts up and down, and locks that are made of them.

use super::shared::{answer, has_slow_path, is_for, named, own};
use crate::class::facts::{Amount, Effect, Facts};
use crate::class::names::{Purpose, is_go_atomic, purpose, takes_for_reading, unlock_slow, waiting};
use crate::class::reach::{Event, Reach, Test, Tested};
use crate::class::scene::{Answer, Class, Scene};
use crate::class::value::{Value, is_about_word};
use crate::decode::{Cond, Operation};
/// How many instructions a loop has that does nothing but wait.
const TIGHT: usize = 8;

/// An addition whose old value is waited for in another word.
pub(super) fn ticket_lock(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::Add(amount) = facts.effect else { return None };
    let waits = |r: &Reach| {
        let is_busy = |(_, e): &(u64, Event)| matches!(e, Event::Pause | Event::Wait);
        let is_tight = r.visited.len() <= TIGHT || r.events.iter().any(|(_, e)| *e == Event::Pause);
        r.locked == 0 && is_tight && !r.events.is_empty() && r.events.iter().all(is_busy)
    };
    let is_ticket = |t: &&Test| {
        t.tested == Tested::Loaded
            && matches!(t.cond, Cond::Equal | Cond::NotEqual)
            && (waits(&t.taken) || waits(&t.fall))
    };
    let found = !amount.is_down() && facts.value_tests().iter().any(is_ticket);
    found
        .then(|| answer(Class::LockTaken, "draws a number, then waits until it is its turn"))
        .flatten()
}

/// An addition of more than one whose old value says whether it is taken back: a field of a lock's word, and not a count.
pub(super) fn field_taken(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::Add(amount @ Amount::Number(n @ 2..)) = facts.effect else {
        return None;
    };
    let is_asked = facts.locked.operation == Operation::FetchAdd && facts.value_tests().iter().any(|t| !t.is_guard());
    (is_field(amount) && is_asked && facts.after.any(&|r| r.added.contains(&-n)))
        .then(|| {
            answer(
                Class::LockTaken,
                "adds to a field, tests, and takes the same away again",
            )
        })
        .flatten()
}

/// The same number taken away, without a look at what is left.
pub(super) fn field_given_back(_: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::Add(amount @ Amount::Number(n @ ..=-2)) = facts.effect else {
        return None;
    };
    let is_added = facts.added.contains(&-n) || facts.after.any(&|r| r.added.contains(&-n));
    (is_field(amount) && facts.value_tests().is_empty() && is_added)
        .then(|| answer(Class::LockGivenBack, "takes away what was added to a field"))
        .flatten()
}

pub(super) fn count_down(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::Add(amount) = facts.effect else { return None };
    let tests = facts.value_tests();
    let tests_zero = tests
        .iter()
        .any(|t| t.tested == Tested::New && matches!(t.cond, Cond::Equal | Cond::NotEqual));
    // An unknown amount whose sum is tested for zero goes down somewhere.
    let may_go_down = amount == Amount::Unknown && tests_zero;
    if !(amount.is_down() || may_go_down) {
        return None;
    }
    // Go's addition gives the new value, so that the old one in a result's register is left over there.
    let gives_new = scene.functions.iter().any(|f| is_go_atomic(f));
    let is_result = |v: &Value| is_about_word(*v) && !(gives_new && *v == Value::Old(0));
    let is_returned = facts.after.any(&|r| r.returns.iter().any(is_result));
    let is_tested = tests.iter().any(|t| !t.is_guard()) || is_returned;
    let spins = |r: &Reach| r.again().is_some() && r.pauses() && r.locked == 0;
    let unlocks = |t: &&Test| is_for(scene, t, Purpose::Unlock, unlock_slow);
    match named(scene) {
        Some(Purpose::Unlock) if facts.is_second && is_tested && unlocks_itself(scene) && !is_field(amount) => {
            return answer(
                Class::CountDownAndTest,
                "counts down and tests after another count, in a function that unlocks by its name",
            );
        }
        Some(Purpose::Unlock) => {
            return answer(
                Class::LockGivenBack,
                "counts down in a function that unlocks by its name",
            );
        }
        // An instruction that gives no old value back counts something else: waiting threads, or a taking that is undone.
        Some(Purpose::Lock) if asks_for_last(facts, amount) => {}
        Some(Purpose::Lock) if is_tested || facts.locked.operation != Operation::Add => {
            return answer(Class::LockTaken, "counts down in a function that locks by its name");
        }
        _ if tests.iter().any(|t| spins(&t.taken) || spins(&t.fall)) => {
            return answer(Class::LockTaken, "counts down until the lock was free");
        }
        _ if tests.iter().any(unlocks) => {
            return answer(
                Class::LockGivenBack,
                "counts down, or calls a function that unlocks by its name",
            );
        }
        _ => {}
    }
    match is_tested {
        true if tests.iter().all(|t| t.is_guard()) => {
            answer(Class::CountDownAndTest, "counts down and returns the value")
        }
        true => answer(Class::CountDownAndTest, "counts down, and a test follows"),
        false => answer(Class::Other, "counts down, and nothing tests"),
    }
}

/// One, in the upper half of a word of eight bytes.
const ONE_ABOVE: u64 = 1 << 32;

/// Whether more than one is added or taken away: a field of a lock's word, which has others below it. A count in the upper half of
/// a word counts by one as well.
fn is_field(amount: Amount) -> bool {
    matches!(amount, Amount::Number(n) if !matches!(n.unsigned_abs(), 0 | 1 | ONE_ABOVE))
}

/// Whether one is taken away, and all that is asked is whether that was the last one; where it was not, nobody waits.
fn asks_for_last(facts: &Facts, amount: Amount) -> bool {
    let tests = facts.value_tests();
    let is_last = |t: &&Test| {
        let is_zero = matches!(t.tested, Tested::New) || matches!(t.tested, Tested::Number(k, n) if n - k == 1);
        let (last, others) = match t.cond {
            Cond::Equal => (&t.taken, &t.fall),
            Cond::NotEqual => (&t.fall, &t.taken),
            _ => return false,
        };
        is_zero && others.beside(last).is_empty()
    };
    amount == Amount::Number(-1) && !tests.is_empty() && tests.iter().all(is_last)
}

/// Whether all code before the site belongs to one function that unlocks, and not to one that unlocks several locks.
fn unlocks_itself(scene: &Scene<'_>) -> bool {
    scene.functions.last().and_then(|f| purpose(f)) == Some(Purpose::Unlock)
}

pub(super) fn count_up(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let Effect::Add(amount) = facts.effect else { return None };
    let mut tests = facts.value_tests();
    // What a program ends for is no slow path: a count of references that is too large.
    tests.retain(|t| !t.is_guard());
    let slow = tests.iter().any(|t| has_slow_path(t));
    let counts_reader = amount == Amount::Number(1) && own(scene).any(|f| takes_for_reading(f));
    let is_sign = |t: &&&Test| matches!(t.cond, Cond::Sign | Cond::Ordered);
    let waits = |t: &&Test| is_for(scene, t, Purpose::Lock, waiting);
    match named(scene) {
        Some(Purpose::Lock) if slow => {
            return answer(
                Class::LockTaken,
                "counts up and tests, in a function that locks by its name",
            );
        }
        Some(Purpose::Lock) if counts_reader => {
            return answer(
                Class::LockTaken,
                "counts a reader, in a function that locks for reading by its name",
            );
        }
        Some(Purpose::Lock) if is_field(amount) => {
            return answer(
                Class::LockTaken,
                "adds to a field, in a function that locks by its name",
            );
        }
        Some(Purpose::Unlock) if slow || matches!(amount, Amount::Number(_)) => {
            return answer(Class::LockGivenBack, "adds, in a function that unlocks by its name");
        }
        _ if amount == Amount::Number(1) && tests.iter().filter(is_sign).any(waits) => {
            return answer(
                Class::LockTaken,
                "counts up, or calls a function that waits by its name",
            );
        }
        _ => {}
    }
    match amount {
        Amount::Number(n) => Some((Class::CountUp, format!("adds {n}"))),
        _ => answer(Class::CountUp, "adds a register"),
    }
}
