//! The rules that say what a site is for, in the order in which they are asked; the first that answers decides.
//!
//! A rule looks at what the instruction does, at what follows it, and at the function's name. Where the shape of the code
//! is the same for two purposes (a flag that is swapped and a lock that is taken), the name decides; without a name, the
//! purpose that promises less: a flag.

mod add;
mod bits;
mod compare;
mod exchange;
mod shared;

use super::facts::{Amount, Effect, Facts};
use super::outlined;
use super::scene::{Answer, Class, Scene};
use super::value::Value;
use crate::decode::Operation;
use shared::{answer, tests_a_mark};

pub(super) use shared::is_no_lock;

pub(super) struct Rule {
    /// Its name, for tests that switch it off.
    pub(super) name: &'static str,
    /// Whether it finds nothing but locks by the shape of the code: it is not asked where a name says that the word is something else.
    pub(super) of_locks: bool,
    pub(super) ask: fn(&Scene<'_>, &Facts) -> Answer,
}

pub(super) const RULES: &[Rule] = &[
    rule("fence", fence),
    rule("outlined", outlined_atomic),
    rule("known-function", known_function),
    rule("ticket-lock", add::ticket_lock),
    rule("field-taken", add::field_taken),
    rule("field-given-back", add::field_given_back),
    rule("count-down", add::count_down),
    rule("count-up", add::count_up),
    of_locks("unlock-by-exchange", exchange::unlock_by_exchange),
    of_locks("given-back", exchange::given_back),
    of_locks("lock-by-exchange", exchange::lock_by_exchange),
    rule("swap", exchange::swap),
    rule("installed", compare::installed),
    rule("named-lock", compare::named_lock),
    of_locks("spin", compare::spin),
    of_locks("given-back-later", compare::given_back_later),
    rule("busy-mark", compare::busy_mark),
    rule("wait-for-state", compare::wait_for_state),
    rule("exchange-loop", compare::exchange_loop),
    rule("only-one", compare::only_one),
    rule("of-lock", compare::of_lock),
    of_locks("lock-by-compare", compare::lock_by_compare),
    of_locks("unlock-by-compare", compare::unlock_by_compare),
    rule("tried-once", compare::tried_once),
    rule("bit-lock", bits::bit_lock),
    rule("bits", bits::bits),
];

const fn rule(name: &'static str, ask: fn(&Scene<'_>, &Facts) -> Answer) -> Rule {
    Rule {
        name,
        of_locks: false,
        ask,
    }
}

const fn of_locks(name: &'static str, ask: fn(&Scene<'_>, &Facts) -> Answer) -> Rule {
    Rule {
        of_locks: true,
        ..rule(name, ask)
    }
}

fn fence(_: &Scene<'_>, facts: &Facts) -> Answer {
    if facts.effect != Effect::Fence {
        return None;
    }
    match facts.locked.place {
        Some(_) => answer(Class::Fence, "changes nothing on the stack"),
        None => answer(Class::Fence, "orders memory"),
    }
}

fn outlined_atomic(scene: &Scene<'_>, _: &Facts) -> Answer {
    scene.functions.last().and_then(|name| outlined::by_name(name))
}

/// A function of the table, where its class is one that the instruction can serve.
fn known_function(scene: &Scene<'_>, facts: &Facts) -> Answer {
    let (class, pattern) = scene.known.as_ref()?;
    if *class == Class::LockTaken && compare::is_mark(scene, facts) {
        return None;
    }
    can_serve(*class, facts).then(|| (*class, format!("in `{pattern}` of the table")))
}

fn can_serve(class: Class, facts: &Facts) -> bool {
    match (class, facts.effect) {
        (_, Effect::Fence) => class == Class::Fence,
        (Class::LockTaken, Effect::Add(amount)) => {
            let is_used = facts.locked.operation == Operation::FetchAdd || !facts.after.tests.is_empty();
            !amount.is_down() && is_used || facts.locked.width == 4 && !facts.value_tests().is_empty()
        }
        (Class::LockTaken, Effect::Exchange(value)) => value != Value::Const(0),
        (Class::LockTaken, Effect::Bits { clears }) => !clears && facts.locked.operation == Operation::Bit,
        (Class::LockGivenBack, Effect::Add(amount)) => !matches!(amount, Amount::Number(1)),
        (Class::LockGivenBack, Effect::Exchange(value)) => !matches!(value, Value::Const(1..)) && !tests_a_mark(facts),
        (Class::CountUp, Effect::Add(amount)) => !amount.is_down(),
        (Class::CountDownAndTest, Effect::Add(amount)) => amount.is_down() || amount == Amount::Unknown,
        (Class::CountUp | Class::CountDownAndTest, Effect::CompareExchange { .. }) => false,
        (Class::CountUp | Class::CountDownAndTest, _) => false,
        (Class::Fence, _) => false,
        (Class::ExchangeLoop, Effect::CompareExchange { .. } | Effect::Unknown) => true,
        (Class::ExchangeLoop, _) => false,
        (Class::Other, Effect::Add(_)) => true,
        (Class::Other, _) => false,
        _ => true,
    }
}
