//! A suite for a program that has its own command line, and prints and writes the record itself.

use super::options::{Action, Options};
use super::state::{Shared, State};
use super::{Observer, Suite};
use crate::error::Result;
use crate::record::Estimator;
use crate::runner::parts::Part;
use crate::runner::{CpuChoice, Mode, Progress, Session};
use std::rc::Rc;
use std::time::Duration;

/// How a suite measures.
pub struct Settings {
    /// How much time it may take.
    pub mode: Mode,
    /// The most time for an experiment, where that is less than the mode's.
    pub time: Option<Duration>,
    /// The seed of the run.
    pub seed: u64,
    /// The CPU of rows that one thread runs; `None`: the idlest.
    pub cpu: Option<u32>,
    /// What verdicts are given by.
    pub estimator: Estimator,
    /// The part of the run that this process is.
    pub part: Part,
    /// Gets the progress.
    pub progress: Rc<dyn Progress>,
    /// Gets each experiment that has no result, and why. The record has it, too.
    pub observer: Observer,
}

/// Measures what `define` defines, on the CPU that it is told. Interrupts are to be listened to already.
///
/// # Errors
/// Nothing can be measured: no CPU can be chosen.
pub fn session(settings: Settings, define: impl FnOnce(&mut Suite, &CpuChoice)) -> Result<Session> {
    let options = Options {
        action: Action::Bench,
        mode: settings.mode,
        time: settings.time,
        seed: settings.seed,
        cpu: settings.cpu,
        ..Options::default()
    };
    let shared = Shared::new(State {
        session: None,
        failures: Vec::new(),
        options: options.clone(),
    });
    let mut suite = Suite {
        observer: Some(settings.observer),
        ..Suite::new(options, shared.clone(), settings.progress)
    };
    let place = suite.begin(settings.part, settings.estimator)?;
    suite.place = Some(place.clone());
    define(&mut suite, &place.choice);
    Ok(shared.take_session().expect("it has begun, and no limit ends it"))
}
