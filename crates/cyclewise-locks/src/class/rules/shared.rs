//! What several rules ask: what names say of a site and of its slow paths.

use crate::class::facts::Facts;
use crate::class::names::{Purpose, is_atomic, is_once, parks, purpose, unparks};
use crate::class::reach::{Call, Event, Test, Tested};
use crate::class::scene::{Answer, Class, Scene};
use crate::class::value::Value;

pub(super) fn answer(class: Class, why: &str) -> Answer {
    Some((class, why.to_owned()))
}

/// How many functions around the atomic operation may say what it is for: further out, they are about something else.
const CLOSE: usize = 2;

/// What the function, or one that was inlined here, is for by its name.
pub(super) fn named(scene: &Scene<'_>) -> Option<Purpose> {
    own(scene).find_map(|f| purpose(f))
}

/// The functions that may say it.
pub(super) fn own<'a>(scene: &'a Scene<'_>) -> impl Iterator<Item = &'a String> + Clone {
    scene.functions.iter().filter(|f| !is_atomic(f)).take(CLOSE)
}

/// Whether the word is no lock's by the names: that of something done once, or of a thread that parks or is woken.
pub(in crate::class) fn is_no_lock(scene: &Scene<'_>) -> bool {
    // The operation's own name has the type of its word.
    let of_once = scene
        .functions
        .first()
        .into_iter()
        .chain(own(scene))
        .any(|f| is_once(f));
    named(scene).is_none() && (of_once || own(scene).any(|f| parks(f) || unparks(f)))
}

/// Whether an exchange asks for some bits of what the word held: it takes a mark beside the lock.
pub(super) fn tests_a_mark(facts: &Facts) -> bool {
    let tests = facts.value_tests();
    let is_of_bits = |t: &&Test| matches!(t.tested, Tested::Bit | Tested::Derived);
    facts.locked.width >= 4 && !tests.is_empty() && tests.iter().all(is_of_bits)
}

/// What a slow path is for, by the names of the functions that it calls.
pub(super) fn slow_name(scene: &Scene<'_>, events: &[Event], by: fn(&str) -> Option<Purpose>) -> Option<Purpose> {
    events.iter().find_map(|event| match event {
        Event::Call(Call {
            target: Some(target), ..
        }) => by(&scene.names.function(*target)?),
        _ => None,
    })
}

/// The calls that may be about the word: those whose arguments lead to it, and all other events.
pub(super) fn about_word(mut events: Vec<Event>) -> Vec<Event> {
    events.retain(|e| !matches!(e, Event::Call(call) if call.is_elsewhere));
    events
}

/// Whether a store of a value undoes a compare-and-exchange that expected one value and put another there: of a number by that number, of any
/// state that is not the one of somebody who has the word by another state.
pub(super) fn gives_back([expected, new]: [Value; 2], stored: Value) -> bool {
    match (expected, new) {
        (Value::Const(_), new) => stored == expected && new != expected,
        (_, Value::Const(_)) => stored != new,
        _ => false,
    }
}

/// Whether one side of a test has a slow path that the other one has not, of that purpose.
pub(super) fn is_for(scene: &Scene<'_>, test: &Test, want: Purpose, by: fn(&str) -> Option<Purpose>) -> bool {
    let mut sides = test.sides().into_iter();
    sides.any(|(side, other)| slow_name(scene, &about_word(side.beside(other)), by) == Some(want))
}

/// Whether one side of a test has a slow path that the other one has not.
pub(super) fn has_slow_path(test: &Test) -> bool {
    test.sides().iter().any(|(side, other)| !side.beside(other).is_empty())
}

/// Whether a slow path may be that of a lock, for all that the names say: it waits in the kernel, or calls something unknown.
pub(super) fn may_wait(scene: &Scene<'_>, events: &[Event]) -> bool {
    events.iter().any(|event| match event {
        Event::Call(Call {
            target: Some(target), ..
        }) => scene.names.function(*target).is_none(),
        Event::Call(_) | Event::SystemCall | Event::Pause | Event::Wait => true,
    })
}
