//! Experiments: rows that sample themselves. A group is made into one; the lab's are written as such.

use super::caught::caught;
use super::options::{Action, Options};
use super::row::{self, Panicked};
use super::{Place, Suite, pin};
use crate::error::{Error, Result, Status};
use crate::record::{self, Missing};
use crate::runner::turns::Turns;
use crate::runner::{Budget, Guards, Heading, Measurement, Runner, Sampler, SetupOf};
use crate::sys::interrupt;
use std::rc::Rc;

/// Why an experiment is not compared with that of another program.
const ALONE_ONLY: &str =
    "samples itself, and --against compares functions of groups only; leave it out by --skip, or --against";

impl Suite {
    /// Rows that sample themselves, with what is compared by which names: for what functions of a [group](Suite::group)
    /// cannot be, such as code in assembly, several threads in one sample, or a figure that is no time. `prepare` makes them,
    /// on the CPU that they are measured on, or says why this machine cannot. They are measured where the call stands:
    ///
    /// ```no_run
    /// use cyclewise_bench::black_box;
    /// use cyclewise_bench::record::Unit;
    /// use cyclewise_bench::runner::{Bench, Control, Guards, Heading, Setup};
    /// use std::time::{Instant, SystemTime};
    ///
    /// # cyclewise_bench::main(|s: &mut cyclewise_bench::Suite| {
    /// let heading = Heading {
    ///     name: "stamps",
    ///     question: "Which of the standard library's stamps is the quicker one?",
    ///     source: "a note of ours",
    ///     unit: Unit::TicksPerOp,
    ///     guards: Guards::ThisThread,
    /// };
    /// s.experiment(heading, || {
    ///     let mut bench = Bench::new();
    ///     let monotonic = bench.calls("monotonic", || _ = black_box(Instant::now()));
    ///     let wall = bench.calls("wall", || _ = black_box(SystemTime::now()));
    ///     Ok(Setup {
    ///         samplers: vec![monotonic, wall],
    ///         compare: vec![(1, 0)],
    ///         control: Control::Repeat(0),
    ///         ..Setup::default()
    ///     })
    /// });
    /// # });
    /// ```
    pub fn experiment<'a>(&mut self, heading: Heading<'_>, prepare: impl FnOnce() -> Result<SetupOf<'a>>) {
        if !self.claim(heading.name) {
            return;
        }
        let left = self.left.clone();
        self.left.pop_front();
        match self.options.action {
            Action::List | Action::Test => self.without_measuring(heading, prepare),
            Action::Bench if self.turns.is_some() || self.is_alone => {
                self.no_result(heading.name, &Error::unsupported(ALONE_ONLY));
            }
            Action::Bench if interrupt::asked() => self.not_begun(heading.name),
            Action::Bench => {
                let left: Vec<Guards> = left.into();
                let mode = self.options.mode;
                let time = |place: &Place| place.begun.elapsed() * place.parts;
                let budget = |place: &Place| Budget::of_mode(mode, heading.guards).among(mode, &left, time(place));
                self.measure_experiment(heading, budget, prepare);
            }
        }
    }

    /// The experiments that follow are guarded so, in this order: those of a quick run share its minute.
    pub fn expect(&mut self, guards: impl IntoIterator<Item = Guards>) {
        self.left = guards.into_iter().collect();
    }

    /// Names the rows, or samples each once.
    fn without_measuring<'a>(&mut self, heading: Heading<'_>, prepare: impl FnOnce() -> Result<SetupOf<'a>>) {
        let setup = match prepared(&self.options, heading.name, prepare, &Panicked::default()) {
            Ok(setup) => setup,
            Err(error) if error.possible => return self.no_result(heading.name, &error),
            Err(error) if self.options.action == Action::Test && self.options.may_ask_for(heading.name) => {
                return println!("test {} ... ignored, {error}", heading.name);
            }
            Err(_) => return,
        };
        self.rows += setup.samplers.len();
        for mut sampler in setup.samplers {
            let name = format!("{}/{}", heading.name, sampler.name());
            match self.options.action {
                Action::List => self.list(name),
                _ => self.tried(&name, sampler.sample()),
            }
        }
    }

    fn measure_experiment<'a>(
        &mut self,
        heading: Heading<'_>,
        budget: impl FnOnce(&Place) -> Budget,
        prepare: impl FnOnce() -> Result<SetupOf<'a>>,
    ) {
        let Some(place) = self.place() else { return };
        let budget = budget(&place);
        let (mut asked, panicked) = (0, Panicked::default());
        let options = &self.options;
        let measured = self.at(&place, heading.guards, || {
            let mut setup = prepared(options, heading.name, prepare, &panicked)?;
            asked = setup.samplers.len();
            setup.most_time = setup.most_time.into_iter().chain(options.time).min();
            let measured = self.runner(&place, None).measure(heading, &mut setup, budget);
            // What was set up can be measured here: a failure from now on is one.
            let could = |error: Error| Error {
                possible: true,
                ..error
            };
            Ok((setup, measured.map_err(could)?))
        });
        self.rows += asked;
        match measured {
            Ok((setup, _)) if asked == 0 && setup.missing.is_empty() && self.options.has_filters() => {}
            Ok((setup, measured)) => self.enter(heading, &setup, measured, &panicked, |e| e),
            Err(error) => self.failed(heading.name, &panicked, error),
        }
    }

    /// Runs `work` where rows that are guarded so are measured.
    pub(super) fn at<T>(&self, place: &Place, guards: Guards, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let done = match guards {
            Guards::WholeMachine => work(),
            Guards::ThisThread => pin::pinned(&place.choice, pin::confine, |e| self.warn_unpinned(e), work),
        };
        self.bar.clear();
        done
    }

    pub(super) fn runner<'r>(&'r self, place: &Place, turns: Option<&'r Turns>) -> Runner<'r> {
        Runner {
            cpu: place.choice.cpu,
            cpus: place.choice.allowed.len(),
            tsc_hz: place.tsc_hz,
            seed: place.seed,
            parts: place.parts,
            turns,
            progress: &*self.bar,
        }
    }

    /// Enters what was measured in the record, and tells what is missing.
    pub(super) fn enter(
        &self,
        heading: Heading<'_>,
        setup: &SetupOf<'_>,
        measured: Measurement,
        panicked: &Panicked,
        complete: impl Fn(record::Experiment) -> record::Experiment,
    ) {
        let name = heading.name;
        for missing in &measured.missing {
            self.shared.enter_missing(missing.clone());
            let row = missing.variant.as_deref().unwrap_or_default();
            let status = match panicked.borrow().iter().any(|p| p == row) {
                true => Status::CheckFailed,
                false => Status::Unsupported,
            };
            // What the machine lacks is among the notes.
            if missing.possible && self.observer.is_none() {
                self.shared.fail(Error {
                    status,
                    ..Error::check(format!("{name}/{row}: {}", missing.why))
                });
            }
        }
        let interrupted = measured.interrupted;
        match self.shared.add(heading, setup, measured, complete) {
            Ok(rounds) if interrupted => {
                let why = format!(
                    "cut short by {} after {rounds} rounds, which are kept",
                    interrupt::name()
                );
                self.shared.miss(name, None, &why);
            }
            Ok(_) => {}
            Err(error) => self.failed(name, panicked, error),
        }
    }

    /// Enters that an experiment has no result, and why: an interrupt, or the row that panicked, if one did.
    pub(super) fn failed(&self, name: &str, panicked: &Panicked, error: Error) {
        if interrupt::asked() {
            let why = format!("cut short by {} before its first result", interrupt::name());
            return self.shared.miss(name, None, &why);
        }
        match panicked.borrow().first() {
            Some(row) => self.no_result(name, &Error::check(format!("{row}: {error}"))),
            None => self.no_result(name, &error),
        }
    }

    fn no_result(&self, name: &str, error: &Error) {
        if !self.options.may_ask_for(name) {
            return;
        }
        self.shared.enter_missing(Missing {
            experiment: name.to_string(),
            variant: None,
            why: error.message.clone(),
            possible: error.possible,
        });
        let told = Error {
            message: format!("{name}: {error}"),
            ..error.clone()
        };
        match &self.observer {
            Some(observer) => observer(name, error),
            // What the machine lacks fails a run only where it was named.
            None if error.possible || self.options.has_filters() => self.fail(told),
            None => self.shared.tell(&told),
        }
    }

    /// An interrupt came before it.
    pub(super) fn not_begun(&self, name: &str) {
        let why = format!("not begun before {}", interrupt::name());
        self.shared.miss(name, None, &why);
    }

    /// Tells whether the first call of a row went well.
    pub(super) fn tried<T, E: std::fmt::Display>(&self, name: &str, outcome: std::result::Result<T, E>) {
        match outcome {
            Ok(_) => println!("test {name} ... ok"),
            Err(why) => {
                println!("test {name} ... FAILED");
                self.fail(Error::check(format!("{name}: {why}")));
            }
        }
    }
}

/// The rows that are asked for, each of which may panic.
fn prepared<'a>(
    options: &Options,
    name: &str,
    prepare: impl FnOnce() -> Result<SetupOf<'a>>,
    panicked: &Panicked,
) -> Result<SetupOf<'a>> {
    let mut setup = caught(prepare).unwrap_or_else(|why| Err(Error::check(why)))?;
    setup.retain(|row| options.asks_for(&format!("{name}/{row}")));
    let guarded = |inner: Box<dyn Sampler + 'a>| row::guarded(name, inner, Rc::clone(panicked));
    setup.samplers = setup.samplers.into_iter().map(guarded).collect();
    Ok(setup)
}
