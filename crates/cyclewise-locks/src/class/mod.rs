//! What a site is for: by its instruction, by what stands around it, and by the function's name.
//!
//! `rules` asks one rule after the other. Each looks at `facts`: `state` evaluates the code before the site, and `explore` walks
//! the code after it. [`known`] is the table of functions that people can extend.

mod approach;
mod code;
mod explore;
mod facts;
mod far;
pub mod known;
mod names;
mod outlined;
mod reach;
mod rules;
mod scene;
mod state;
#[cfg(test)]
mod tests;
mod value;

pub use code::{Code, ReadCode};
pub(crate) use names::{counts_references, is_primitive};
pub use scene::{Class, Names, Scene};

use crate::decode::What;

/// The class of a site, and by which rule.
pub fn classify(scene: &Scene<'_>) -> (Class, String) {
    classify_without(scene, "")
}

/// The same with one rule switched off, so that tests can show that they notice it.
fn classify_without(scene: &Scene<'_>, off: &str) -> (Class, String) {
    let step = scene.code.step(scene.site);
    let Some((step, What::Locked(locked))) = step.map(|s| (s, s.what)) else {
        return (Class::Other, "not a locked instruction that is known".to_owned());
    };
    let facts = facts::facts(scene, locked, step, scene.before);
    let is_no_lock = rules::is_no_lock(scene);
    rules::RULES
        .iter()
        .filter(|r| r.name != off && !(r.of_locks && is_no_lock))
        .find_map(|r| (r.ask)(scene, &facts))
        .unwrap_or_else(|| (Class::Other, "no rule applies".to_owned()))
}
