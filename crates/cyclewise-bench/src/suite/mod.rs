//! The harness: a user's own functions, measured as the lab measures its experiments.
#![warn(missing_docs)]

mod against;
mod as_built;
mod baseline;
mod body;
mod caught;
mod compiled;
mod experiment;
mod group;
mod measure;
mod options;
mod output;
mod pin;
mod processes;
mod ready;
mod row;
mod sentence;
mod session;
mod state;
mod table;
mod together;
mod watch;

pub use compiled::Compiled;
pub use group::{Group, Over};
pub use options::HELP;
pub use session::{Settings, session};

use crate::error::{Error, Result};
use crate::record::Estimator;
use crate::runner::parts::{self, Part};
use crate::runner::turns::Turns;
use crate::runner::{Bar, Bench, CpuChoice, Guards, Progress, Session, tick_rate};
use crate::sys::{allocations, crash, interrupt, procfs};
use options::{Action, Options};
use state::{Shared, State};
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The counter's rate is measured this long before the first sample; the record has the rate over the whole run.
const FIRST_RATE: Duration = Duration::from_millis(50);

/// The groups of a benchmark program.
pub struct Suite {
    options: Options,
    shared: Shared,
    bench: Bench,
    bar: Rc<dyn Progress>,
    /// What the record names as the source of its groups.
    program: String,
    /// Names of the groups so far.
    names: BTreeSet<String>,
    rows: usize,
    /// What this process measures, until the session has it.
    part: Option<Part>,
    place: Option<Place>,
    /// The other program of `--against`.
    turns: Option<Rc<Turns>>,
    listed: Vec<String>,
    /// Whether the other program is gone, so that nothing more is measured.
    is_alone: bool,
    /// Whether it was told that no thread can be pinned.
    told_unpinned: std::cell::Cell<bool>,
    /// What the experiments that follow are guarded by, as far as it was told.
    left: VecDeque<Guards>,
    /// Who tells what has no result, in place of this program.
    observer: Option<Observer>,
}

/// Gets the name of an experiment and why it has no result.
type Observer = Box<dyn Fn(&str, &Error)>;

/// Where and by which clock rows are measured.
#[derive(Clone)]
struct Place {
    choice: CpuChoice,
    tsc_hz: f64,
    seed: u64,
    parts: u32,
    begun: Instant,
}

impl Suite {
    fn new(options: Options, shared: Shared, bar: Rc<dyn Progress>) -> Self {
        Self {
            options,
            shared,
            bench: Bench::new(),
            bar,
            program: program(),
            names: BTreeSet::new(),
            rows: 0,
            part: None,
            place: None,
            turns: None,
            listed: Vec::new(),
            is_alone: false,
            told_unpinned: std::cell::Cell::new(false),
            left: VecDeque::new(),
            observer: None,
        }
    }

    /// Functions that are compared with the first of them. They are measured where the statement ends:
    ///
    /// ```no_run
    /// # cyclewise_bench::main(|s: &mut cyclewise_bench::Suite| {
    /// # let data = vec![1u64, 2];
    /// s.group("sum")
    ///     .bench("iter", || data.iter().sum::<u64>())
    ///     .bench("fold", || data.iter().fold(0, |sum, x| sum + x));
    /// # });
    /// ```
    pub fn group<'b>(&mut self, name: impl Into<String>) -> Group<'_, 'b> {
        Group::new(self, name.into())
    }

    /// The groups that follow are code of another compiler, from this file: the record names it as their source, and a crash ends the
    /// program as a limit does, with what there is.
    pub fn foreign(&mut self, file: impl Into<String>) {
        self.program = file.into();
        watch::crashes();
    }

    /// Whether no group or experiment before has this name; it is told.
    fn claim(&mut self, name: &str) -> bool {
        let is_new = self.names.insert(name.to_string());
        if !is_new {
            let why = "there is a group of this name already, and a record keeps them apart by name; give it another";
            self.fail(Error::usage(format!("{name}: {why}")));
        }
        is_new
    }

    /// Tells a failure in one line, and goes on.
    fn fail(&self, error: Error) {
        self.bar.clear();
        self.shared.fail(error);
    }

    fn list(&mut self, row: String) {
        if self.part.is_none() {
            println!("{row}: benchmark");
        }
        self.listed.push(row);
    }

    /// Ends the run of two programs: the other is gone, or no longer at the same place.
    fn alone(&mut self, group: &str, error: Error) {
        self.shared.miss(group, None, &error.message);
        self.fail(Error {
            message: format!("{group}: {error}"),
            ..error
        });
        self.shared.end_run();
        // Closed, it ends the other's waiting.
        self.turns = None;
        self.is_alone = true;
    }

    fn warn_unpinned(&self, error: &Error) {
        if !self.told_unpinned.replace(true) {
            output::tell(&format!("cyclewise-bench: {error}"));
        }
    }

    /// The number of CPUs that this process may use.
    fn cpus(&self) -> usize {
        std::thread::available_parallelism().map_or(1, |n| n.get())
    }

    /// Where rows are measured; `None` where the machine cannot, which is told.
    fn place(&mut self) -> Option<Place> {
        if self.place.is_none() {
            let part = self.part.take().unwrap_or_else(Part::whole);
            match self.begin(part, Estimator::Median) {
                Ok(place) => self.place = Some(place),
                Err(error) => self.fail(error),
            }
        }
        self.place.clone()
    }

    /// Begins the session of this part of a run.
    fn begin(&self, part: Part, estimator: Estimator) -> Result<Place> {
        let choice = CpuChoice::new(self.options.cpu.or(part.cpu()))?;
        let (seed, parts) = (part.seed(self.options.seed), part.of);
        let session = Session::begin(seed, estimator, Some(choice.cpu), part);
        self.shared.change(|state| state.session = Some(session));
        Ok(Place {
            choice,
            tsc_hz: tick_rate(FIRST_RATE),
            seed,
            parts,
            begun: Instant::now(),
        })
    }
}

/// Runs a benchmark program: see the [front page](crate). Reads the command line, and ends the process with its status
/// unless that is 0.
pub fn main(define: impl FnOnce(&mut Suite)) {
    let status = run(std::env::args_os().skip(1), define);
    if interrupt::asked() {
        interrupt::end();
    }
    if status != 0 {
        std::process::exit(i32::from(status));
    }
}

/// As [`main`], with these arguments in place of the command line's; returns the exit status. The processes that measure are started with
/// the command line, which has to lead here too.
pub fn run(arguments: impl IntoIterator<Item = OsString>, define: impl FnOnce(&mut Suite)) -> u8 {
    let refused = |error: Error| {
        output::tell(&format!("cyclewise-bench: {error}"));
        error.status as u8
    };
    let mut part = match Part::of_this_process() {
        Ok(part) => part,
        Err(error) => return refused(error),
    };
    let given = part.as_ref().and_then(Part::arguments);
    let options = match Options::parse(given.unwrap_or_else(|| arguments.into_iter().collect())) {
        Ok(options) if options.help => {
            println!("{HELP}");
            return 0;
        }
        Ok(options) => options,
        Err(error) => return refused(error),
    };
    if let Err(error) = output::check(&options) {
        return refused(error);
    }
    let measures = options.action == Action::Bench;
    let alone = |line: &str| output::tell(&format!("cyclewise-bench: {line}"));
    if measures
        && part.is_none()
        && let Some(against) = &options.against
    {
        return processes::against(&options, against).unwrap_or_else(refused);
    }
    if measures && part.is_none() && parts::possible(options.runs, alone) > 1 {
        return processes::parent(&options).unwrap_or_else(refused);
    }
    let turns = part.as_mut().and_then(Part::take_turns).map(Rc::new);
    let shared = Shared::new(State {
        session: None,
        failures: Vec::new(),
        options: options.clone(),
    });
    if measures {
        match part {
            Some(_) => interrupt::listen_with_parent(),
            None => interrupt::listen(),
        }
    }
    if options.action != Action::List {
        watch_limits(&options, shared.clone());
    }
    let mut suite = Suite {
        part,
        turns,
        ..Suite::new(options, shared.clone(), Rc::new(Bar::on_stderr()))
    };
    // Once for all groups, so that what a machine cannot do is told once.
    if measures && suite.place().is_none() {
        return shared.end();
    }
    if let Err(why) = caught::caught(|| define(&mut suite)) {
        suite.fail(Error::check(format!("outside of any function that is measured: {why}")));
        shared.end_run();
    }
    if measures && suite.rows == 0 {
        shared.end_run();
        output::tell("cyclewise-bench: no variant has a name that was asked for; --list shows them");
    }
    allocations::unlimited();
    if suite.options.action == Action::List
        && let Some(part) = suite.part.take()
        && let Err(error) = part.answer(std::mem::take(&mut suite.listed))
    {
        suite.fail(error);
    }
    shared.end()
}

/// Ends the process with what there is where a body passes a limit.
fn watch_limits(options: &Options, shared: Shared) {
    let memory = allocations::are_counted()
        .then(|| options.memory_limit.or_else(half_of_what_is_free))
        .flatten();
    watch::begin(options.call_limit, memory, move |why| {
        shared.fail(Error::check(why));
        shared.end_run();
        let status = shared.end();
        let _ = std::io::stdout().flush();
        // A body may be in exit(3) already, which is not for two threads.
        crash::leave(status)
    });
}

/// Half of the memory that is free now; `None` where the kernel does not tell.
fn half_of_what_is_free() -> Option<usize> {
    let text = procfs::Sysfs::machine().text("/proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: usize = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024 / 2)
}

/// The program's name, without the digest that cargo gives it.
fn program() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&path)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let digest = |end: &str| end.len() == 16 && end.bytes().all(|b| b.is_ascii_hexdigit());
    match name.rsplit_once('-') {
        Some((name, end)) if digest(end) => name.to_string(),
        _ => name,
    }
}
