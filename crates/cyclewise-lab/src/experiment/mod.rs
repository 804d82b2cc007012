//! The experiments: each answers one question, and lists the figures that its source published.

/// Figures that a source published: by machine, a line each for the variant (or `_`), what it is, the figure and its unit. Those of
/// another table may come before.
macro_rules! published {
    (@variant _) => { None };
    (@variant $name:literal) => { Some($name) };
    ($(@[$($before:expr),*])? $($machine:expr => { $($variant:tt: $what:literal, $figure:expr, $unit:expr;)* })*) => {
        [$($($before,)*)? $($($crate::record::Published {
            variant: published!(@variant $variant),
            what: $what,
            figure: $figure,
            unit: $unit,
            machine: $machine,
        },)*)*]
    };
}

mod arc;
mod atomics;
mod c_rows;
mod clock;
pub(crate) mod core_to_core;
pub(crate) mod elided;
pub mod hackbench;
mod in_context;
mod lock_prefix;
mod lockref;
pub(crate) mod meanings;
mod null_syscall;
mod open_read_close;
mod patch;
mod percpu;
mod percpu_lists;
mod percpu_shared;
mod popf;
mod rdtsc;
mod read_sides;
pub(crate) mod refcount;
mod ring0;
pub(crate) mod spinlock;
mod static_key;
pub(crate) mod time;
mod width;

pub use crate::record::Published;
pub use crate::runner::Mode;

use crate::error::{Error, Result};
use crate::record::Unit;
use crate::runner::{Control, Guards, Heading, Kinds, MissingVariant, Sampler, Setup};
use crate::sys::affinity;
use std::fmt::Display;

/// Options of an experiment, from the command line.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much time a run may take.
    pub mode: Mode,
    /// `hackbench`: pipes as well as socket pairs.
    pub pipe: bool,
    /// `hackbench`: groups of 20 senders and 20 receivers.
    pub groups: Option<u32>,
    /// `hackbench`: messages from each sender to each receiver.
    pub loops: Option<u32>,
    /// `open-read-close`: counts of processes.
    pub threads: Vec<u32>,
    /// Whether the experiment was named: then it shows what it has where it cannot measure.
    pub named: bool,
    /// CPUs that the process may use; a pinned thread can no longer query them. Empty: those that this thread may use.
    pub cpus: Vec<u32>,
}

impl Options {
    /// The noise floor of samples that take long, by this row: a full run has rounds enough to split.
    fn control(&self, of: usize) -> Control {
        match self.mode {
            Mode::Quick | Mode::Normal => Control::Repeat(of),
            Mode::Full => Control::Split(of),
        }
    }

    fn cpus(&self) -> Result<Vec<u32>> {
        if !self.cpus.is_empty() {
            return Ok(self.cpus.clone());
        }
        affinity::allowed().map_err(|e| Error::system("sched_getaffinity", &e, "use a machine of at most 1024 CPUs"))
    }
}

/// An experiment: a question, and how to answer it on this machine.
pub struct Definition {
    /// The name scripts use.
    pub name: &'static str,
    /// The question, as one sentence that ends with a question mark.
    pub question: &'static str,
    /// Where the question comes from: author, date, subject of the mail.
    pub source: &'static str,
    /// What its samples count.
    pub unit: Unit,
    /// What spoils a sample: on its own CPU, or on any CPU.
    pub guards: Guards,
    pub published: &'static [Published],
    /// Prepares it, or returns the reason why this machine cannot run it.
    pub setup: fn(&Options) -> Result<Setup>,
}

impl Definition {
    pub fn heading(&self) -> Heading<'static> {
        Heading {
            name: self.name,
            question: self.question,
            source: self.source,
            unit: self.unit,
            guards: self.guards,
        }
    }
}

/// Every experiment, in the order in which `run` takes them.
pub static ALL: &[&Definition] = &[
    &lock_prefix::DEFINITION,
    &popf::DEFINITION,
    &rdtsc::DEFINITION,
    &null_syscall::DEFINITION,
    &percpu::DEFINITION,
    &ring0::POPF,
    &ring0::PERCPU,
    &ring0::LOCK_PREFIX,
    &ring0::RDTSC,
    &arc::DEFINITION,
    &atomics::DEFINITION,
    &refcount::DEFINITION,
    &static_key::DEFINITION,
    &patch::DEFINITION,
    &clock::DEFINITION,
    &core_to_core::DEFINITION,
    &width::DEFINITION,
    &spinlock::DEFINITION,
    &lockref::DEFINITION,
    &percpu_lists::DEFINITION,
    &percpu_shared::DEFINITION,
    &read_sides::DEFINITION,
    &hackbench::DEFINITION,
    &open_read_close::DEFINITION,
    &in_context::DEFINITION,
];

/// The experiments with these names; all if `names` is empty.
///
/// # Errors
/// Exit 2 for an unknown name; the error lists the known ones.
pub fn select(names: &[String]) -> Result<Vec<&'static Definition>> {
    if names.is_empty() {
        return Ok(ALL.to_vec());
    }
    let mut chosen: Vec<&Definition> = Vec::new();
    for name in names {
        let found = find(name)?;
        // Twice in a record, the two could not be told apart.
        if chosen.iter().all(|d| d.name != found.name) {
            chosen.push(found);
        }
    }
    Ok(chosen)
}

fn find(name: &str) -> Result<&'static Definition> {
    ALL.iter().find(|d| d.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|d| d.name).collect();
        Error::usage(format!(
            "there is no experiment {name:?}; the experiments are: {}",
            names.join(", ")
        ))
    })
}

/// The figures that the source of experiment `name` published; empty for an unknown name.
pub fn published(name: &str) -> &'static [Published] {
    find(name).map_or(&[], |d| d.published)
}

/// Records variants that this machine cannot run.
fn left_out(notes: &mut Vec<String>, missing: &mut Vec<MissingVariant>, names: &[&str], why: impl Display) {
    notes.push(format!("{} left out: {why}", names.join(", ")));
    missing.extend(names.iter().map(|name| MissingVariant {
        name: name.to_string(),
        why: why.to_string(),
        possible: false,
    }));
}

/// Index of the subject called `name`.
fn index(samplers: &[Box<dyn Sampler>], name: &str) -> Option<usize> {
    samplers.iter().position(|s| s.name() == name)
}

/// The pairs of a list of comparisons, which has references, each with the names of what is compared with it.
fn each_pair<'n>(compare: &[(&'n str, &'n str)]) -> impl Iterator<Item = (&'n str, &'n str)> {
    let of_reference = |(reference, names): &(&'n str, &'n str)| {
        let reference = *reference;
        names.split(' ').map(move |name| (name, reference))
    };
    compare.iter().flat_map(of_reference)
}

/// Pairs of indices, without pairs that name a variant this machine lacks.
fn pairs(samplers: &[Box<dyn Sampler>], compare: &[(&str, &str)]) -> Vec<(usize, usize)> {
    each_pair(compare)
        .filter_map(|(a, b)| Some((index(samplers, a)?, index(samplers, b)?)))
        .collect()
}

/// What to measure by these rows' names; the noise floor is that of `control`.
fn by_name(samplers: Vec<Box<dyn Sampler>>, compare: &[(&str, &str)], control: &str, kinds: Kinds) -> Setup {
    Setup {
        compare: pairs(&samplers, compare),
        control: Control::Repeat(index(&samplers, control).unwrap_or(0)),
        samplers,
        kinds,
        ..Setup::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_questions_ask() {
        for (i, d) in ALL.iter().enumerate() {
            assert!(d.question.ends_with('?'), "{}", d.name);
            assert!(ALL[..i].iter().all(|other| other.name != d.name), "{}", d.name);
        }
    }

    #[test]
    fn what_is_named_twice_is_run_once() {
        let names = ["popf", "rdtsc", "popf"].map(String::from);
        let chosen: Vec<&str> = select(&names).unwrap().iter().map(|d| d.name).collect();
        assert_eq!(chosen, ["popf", "rdtsc"]);
    }

    #[test]
    fn published_figures_answer_to_variants_that_exist() {
        for found in crate::names_in_reports::names() {
            let d = found.definition;
            let is_row = |name: &str| found.rows.iter().any(|row| row == name);
            // Variants that the machine lacks are left out, with a note.
            let complete = !found.notes.iter().any(|note| note.contains("left out"));
            for p in d.published.iter().filter_map(|p| p.variant).filter(|_| complete) {
                assert!(is_row(p), "{}: {p}", d.name);
            }
            // Names of the other architecture are in some of the tables.
            for name in found.kinds.iter().filter(|_| complete) {
                let elsewhere = ["cntvct", "isb-cntvct", "portable-add", "portable-add-64"];
                let known = is_row(name) || elsewhere.contains(name);
                assert!(known || cfg!(not(target_arch = "x86_64")), "{}: {name}", d.name);
            }
            assert!(found.compares, "{} compares nothing", d.name);
        }
    }
}
