//! The command line of a benchmark program: as libtest and criterion have it, and the record's files.

use crate::answer::SlowerLimit;
use crate::error::{Error, Result};
use crate::runner::Mode;
use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Action {
    /// Runs each body once: what `cargo test` asks for, which passes no `--bench`.
    #[default]
    Test,
    Bench,
    /// Names the rows.
    List,
}

/// What a run is compared with, and whether it takes its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Baseline {
    #[default]
    Last,
    /// The run of this name, where there is one; this run takes its place.
    Save(String),
    /// The run of this name, which stays.
    Keep(String),
}

impl Baseline {
    /// This one, or the one that an option names.
    ///
    /// # Errors
    /// Exit 2: it is no file's name, or another option named one.
    fn or(&self, option: &str, name: String, of: impl Fn(String) -> Self) -> Result<Self> {
        if *self != Self::Last {
            return Err(Error::usage(
                "two baselines are named; give --save-baseline or --baseline once",
            ));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match name.chars().all(is_plain) && !name.is_empty() && !name.starts_with('.') && name.len() <= 100 {
            true => Ok(of(name)),
            false => Err(Error::usage(format!(
                "{option} {name}: not a name; give up to 100 letters, digits, dots, dashes and underscores"
            ))
            .in_one_line()),
        }
    }
}

/// The command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) action: Action,
    pub(super) filters: Vec<String>,
    pub(super) skip: Vec<String>,
    pub(super) exact: bool,
    /// Nothing is ignored here, so these are all there are.
    pub(super) only_ignored: bool,
    pub(super) mode: Mode,
    /// The processes that share the time.
    pub(super) runs: u32,
    /// The executable or the revision that this program is compared with.
    pub(super) against: Option<String>,
    /// Arguments of the cargo that builds that revision, in place of those that built this program.
    pub(super) cargo_arguments: Option<String>,
    /// The run that this one is compared with.
    pub(super) baseline: Baseline,
    /// The share of its time beyond which a row that is slower fails the run.
    pub(super) fail_on: Option<SlowerLimit>,
    /// Time for a group, in place of the mode's.
    pub(super) time: Option<Duration>,
    pub(super) seed: u64,
    pub(super) cpu: Option<u32>,
    pub(super) json: Option<PathBuf>,
    pub(super) csv: Option<PathBuf>,
    pub(super) bmf: Option<PathBuf>,
    pub(super) markdown: Option<PathBuf>,
    pub(super) html: Option<PathBuf>,
    /// The longest time of one call.
    pub(super) call_limit: Duration,
    /// The most memory that a body may have at once, if allocations are counted.
    pub(super) memory_limit: Option<usize>,
    /// Colour whatever stdout is, or never.
    pub(super) colour: Option<bool>,
    pub(super) help: bool,
}

/// A call that takes longer is taken to be one that never ends.
const CALL_LIMIT: Duration = Duration::from_secs(300);

/// Between five processes Student's t has four degrees of freedom, so that an interval is 1.2 standard deviations wide on each side; of
/// three it is 2.5.
const RUNS: u32 = 5;

/// The help, in the order of need.
pub const HELP: &str = "\
Usage: cargo bench [--bench NAME] -- [FILTER]... [OPTION]...

Variants are called group/member, or group/member/parameter. With filters, those
run whose name contains one of them.

      --exact               A filter is a whole name
      --skip TEXT           Leave out variants whose name contains TEXT
      --list                Name the variants
      --quick | --full      Less time, or more
      --time SECONDS        Time for each group
      --runs K              Divide the time over K processes, one after the
                            other [5]
      --against REV|PATH    Take turns with this program of another revision, or
                            with an executable, and compare each row
      --against-cargo-args 'ARGS'
                            Build REV by `cargo bench ARGS`, not with features,
                            profile and target of this `cargo bench`
      --save-baseline NAME  Compare with the run that was kept by this name, and
                            keep this one in its place [base]
      --baseline NAME       Compare with the run that was kept by this name, and
                            leave it
      --fail-on slower:N%   Exit with 1 if a row is slower than that of
                            --against by more; with 3 if one may be, or not
      --cpu N               Pin to this CPU, not to the idlest
      --seed N              Seed of the order of rounds [1]
      --call-limit SECONDS  A call that takes longer ends the program [300]
      --memory-limit BYTES  So does a body that has more at once, if allocations
                            are counted [half of what is free]
      --json FILE           The record (cyclewise.record/1); - is stdout
      --csv FILE            A line for each variant
      --bmf FILE            Bencher Metric Format
      --markdown FILE       The sentences and tables
      --html FILE           One page with distributions, by the program
                            `cyclewise`
      --color WHEN          auto, always or never
      --test                Run each body once, as `cargo test --benches` does
      --bench               Measure; cargo bench passes it

Exit status: 0 done; 1 a body panicked, or passed a limit; 2 usage error; 3 this
machine cannot do or tell it.";

/// Options of libtest that say how tests are run or printed, which cargo hands to every target: `true` takes a value.
const OF_LIBTEST: [(&str, bool); 12] = [
    ("--nocapture", false),
    ("--no-capture", false),
    ("--show-output", false),
    ("--include-ignored", false),
    ("--quiet", false),
    ("-q", false),
    ("--verbose", false),
    ("--test-threads", true),
    ("--format", true),
    ("--report-time", false),
    ("--noplot", false),
    ("-Z", true),
];

impl Options {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// Exit 2: an option that there is not, or a value that it does not take.
    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self> {
        let mut options = Options {
            seed: 1,
            runs: RUNS,
            call_limit: CALL_LIMIT,
            ..Options::default()
        };
        let (mut test, mut bench, mut list) = (false, false, false);
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy().into_owned();
            let (name, joined) = match text.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name.to_string(), Some(OsString::from(value))),
                _ => (text, None),
            };
            let mut value = || {
                let value = joined.clone().or_else(|| arguments.next());
                value.ok_or_else(|| Error::usage(format!("{name} needs a value; --help lists the options")))
            };
            match name.as_str() {
                "--" => options.filters.extend(names(arguments.by_ref())?),
                "--bench" => bench = true,
                "--test" => test = true,
                "--list" => list = true,
                "--exact" => options.exact = true,
                "--ignored" => options.only_ignored = true,
                "--help" | "-h" => options.help = true,
                "--quick" => options.mode = Mode::Quick,
                "--full" => options.mode = Mode::Full,
                "--skip" => options.skip.push(text_of(&name, value()?)?),
                "--time" => options.time = Some(seconds(&name, value()?)?),
                "--call-limit" => options.call_limit = seconds(&name, value()?)?,
                "--memory-limit" => options.memory_limit = Some(number(&name, value()?)?),
                "--cpu" => options.cpu = Some(number(&name, value()?)?),
                "--runs" => options.runs = number::<NonZero<u32>>(&name, value()?)?.get(),
                "--against" => options.against = Some(text_of(&name, value()?)?),
                "--against-cargo-args" => options.cargo_arguments = Some(text_of(&name, value()?)?),
                "--save-baseline" => {
                    options.baseline = options.baseline.or(&name, text_of(&name, value()?)?, Baseline::Save)?
                }
                "--baseline" => {
                    options.baseline = options.baseline.or(&name, text_of(&name, value()?)?, Baseline::Keep)?
                }
                "--fail-on" => options.fail_on = Some(limit(&name, value()?)?),
                "--seed" => options.seed = number(&name, value()?)?,
                "--json" => options.json = Some(value()?.into()),
                "--csv" => options.csv = Some(value()?.into()),
                "--bmf" => options.bmf = Some(value()?.into()),
                "--markdown" => options.markdown = Some(value()?.into()),
                "--html" => options.html = Some(value()?.into()),
                "--color" | "--colour" => options.colour = colour(&name, value()?)?,
                other => match OF_LIBTEST.iter().find(|(known, _)| *known == other) {
                    Some((_, true)) => drop(value()?),
                    Some((_, false)) => {}
                    None if other.starts_with('-') && other != "-" => {
                        return Err(
                            Error::usage(format!("there is no option {other}; --help lists them")).in_one_line()
                        );
                    }
                    None => options.filters.push(other.to_string()),
                },
            }
        }
        if options.fail_on.is_some() && options.against.is_none() {
            return Err(Error::usage(
                "--fail-on needs --against, which has the time that is compared with",
            ));
        }
        if options.cargo_arguments.is_some() && options.against.is_none() {
            return Err(Error::usage(
                "--against-cargo-args needs --against, whose revision is built by them",
            ));
        }
        if options.baseline != Baseline::Last && options.against.is_some() {
            return Err(Error::usage(
                "--against and a baseline are two things to compare with; name one",
            ));
        }
        options.action = match (list, bench && !test) {
            (true, _) => Action::List,
            (_, true) => Action::Bench,
            _ => Action::Test,
        };
        Ok(options)
    }

    /// Whether not all rows are asked for.
    pub(super) fn has_filters(&self) -> bool {
        self.only_ignored || !self.filters.is_empty() || !self.skip.is_empty()
    }

    /// Whether a filter names this group or a row of it, or there is none.
    pub(super) fn may_ask_for(&self, group: &str) -> bool {
        let row_of = |filter: &String| filter.strip_prefix(group).is_some_and(|rest| rest.starts_with('/'));
        let names = |filter: &String| row_of(filter) || !self.exact && group.contains(filter.as_str());
        !self.only_ignored && (self.filters.is_empty() || self.filters.iter().any(names))
    }

    pub(super) fn asks_for(&self, name: &str) -> bool {
        let is_it = |filter: &String| match self.exact {
            true => name == filter,
            false => name.contains(filter.as_str()),
        };
        let asked = self.filters.is_empty() || self.filters.iter().any(is_it);
        asked && !self.only_ignored && !self.skip.iter().any(is_it)
    }

    /// The arguments that measure these rows on this CPU, or list those that are asked for.
    pub(super) fn arguments(&self, rows: Option<&[String]>, cpu: u32) -> Vec<String> {
        let mut line = vec!["--bench".to_string()];
        match self.mode {
            Mode::Quick => line.push("--quick".to_string()),
            Mode::Normal => {}
            Mode::Full => line.push("--full".to_string()),
        }
        line.extend(self.time.map(|time| format!("--time={}", time.as_secs_f64())));
        line.extend(self.memory_limit.map(|bytes| format!("--memory-limit={bytes}")));
        line.push(format!("--call-limit={}", self.call_limit.as_secs_f64()));
        line.push(format!("--seed={}", self.seed));
        line.push(format!("--cpu={cpu}"));
        match rows {
            Some(rows) => {
                line.extend(["--exact", "--"].map(str::to_string));
                line.extend(rows.iter().cloned());
            }
            None => {
                line.push("--list".to_string());
                line.extend(self.exact.then(|| "--exact".to_string()));
                line.extend(self.skip.iter().map(|skip| format!("--skip={skip}")));
                line.push("--".to_string());
                line.extend(self.filters.iter().cloned());
            }
        }
        line
    }

    /// The files that are named, each with its option.
    pub(super) fn files(&self) -> [(&'static str, &Option<PathBuf>); 5] {
        [
            ("--json", &self.json),
            ("--csv", &self.csv),
            ("--bmf", &self.bmf),
            ("--markdown", &self.markdown),
            ("--html", &self.html),
        ]
    }
}

/// The names behind `--`, whatever they begin with.
fn names(rest: impl Iterator<Item = OsString>) -> Result<Vec<String>> {
    rest.map(|name| text_of("a name", name)).collect()
}

fn text_of(name: &str, value: OsString) -> Result<String> {
    value
        .into_string()
        .map_err(|_| Error::usage(format!("{name}: the value is not UTF-8; names are")))
}

fn number<T: std::str::FromStr>(name: &str, value: OsString) -> Result<T> {
    let text = text_of(name, value)?;
    text.parse()
        .map_err(|_| Error::usage(format!("{name} {text}: not a number that it takes")).in_one_line())
}

fn limit(name: &str, value: OsString) -> Result<SlowerLimit> {
    let wrong = |why: String| Error::usage(format!("{name}: {why}")).in_one_line();
    text_of(name, value)?.parse().map_err(wrong)
}

fn seconds(name: &str, value: OsString) -> Result<Duration> {
    let seconds: f64 = number(name, value)?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|span| !span.is_zero())
        .ok_or_else(|| Error::usage(format!("{name} {seconds}: not a time; give seconds, such as 0.5")))
}

fn colour(name: &str, value: OsString) -> Result<Option<bool>> {
    match text_of(name, value)?.as_str() {
        "auto" => Ok(None),
        "always" => Ok(Some(true)),
        "never" => Ok(Some(false)),
        other => Err(Error::usage(format!("{name} {other}: give auto, always or never")).in_one_line()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options> {
        Options::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn the_help_fits_a_terminal() {
        assert!(HELP.lines().all(|line| line.chars().count() <= 80), "{HELP}");
    }

    #[test]
    fn cargo_bench_measures_and_cargo_test_runs_each_body_once() {
        assert_eq!(parsed("--bench").unwrap().action, Action::Bench);
        assert_eq!(parsed("").unwrap().action, Action::Test);
        // As criterion: cargo bench -- --test.
        assert_eq!(parsed("--test --bench").unwrap().action, Action::Test);
        assert_eq!(parsed("--list --format terse").unwrap().action, Action::List);
        let passed =
            parsed("--nocapture --test-threads=1 --test-threads 1 -q --show-output --include-ignored").unwrap();
        assert!(passed.filters.is_empty());
    }

    #[test]
    fn filters_are_those_of_libtest() {
        let asks = |line: &str, name: &str| parsed(line).unwrap().asks_for(name);
        assert!(asks("", "sum/iter") && asks("sum", "sum/iter") && asks("loop iter", "sum/iter"));
        assert!(!asks("sort", "sum/iter") && !asks("--exact sum", "sum/iter") && asks("--exact sum/iter", "sum/iter"));
        assert!(!asks("sum --skip iter", "sum/iter") && asks("sum --skip iter", "sum/loop"));
        assert!(asks("--exact --skip sum", "sum/iter"), "an exact name to skip");
        assert!(!asks("--ignored", "sum/iter"));
        let may_ask = |line: &str| parsed(line).unwrap().may_ask_for("sum");
        assert!(may_ask("") && may_ask("su") && may_ask("sort sum/iter") && may_ask("--exact sum/iter"));
        assert!(!may_ask("--ignored") && !may_ask("sort") && !may_ask("--exact sum") && !may_ask("sums/iter"));
    }

    #[test]
    fn a_baseline_is_named_once_and_plainly() {
        let named = |name: &str| Baseline::Last.or("--baseline", name.to_string(), Baseline::Keep);
        assert_eq!(named("v1.2"), Ok(Baseline::Keep("v1.2".to_string())));
        for wrong in ["", "a/b", "..", "x y", "\u{1b}"] {
            assert!(named(wrong).is_err(), "{wrong}");
        }
        assert!(
            named("a")
                .unwrap()
                .or("--save-baseline", "b".to_string(), Baseline::Save)
                .is_err()
        );
    }

    #[test]
    fn what_is_wrong_is_said_in_a_line() {
        for (line, part) in [
            ("--jsn x", "no option --jsn"),
            ("--json", "--json needs a value"),
            ("--seed x", "--seed x"),
            ("--time 0", "--time 0"),
            ("--time -1", "not a time"),
            ("--color red", "auto, always or never"),
        ] {
            let error = parsed(line).unwrap_err();
            assert!(error.message.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn values_stand_behind_a_space_or_a_sign() {
        let options = parsed("--json=a.json --csv b.csv --time=0.5 --memory-limit 4096 --seed 7").unwrap();
        assert_eq!(
            (options.json, options.csv),
            (Some("a.json".into()), Some("b.csv".into()))
        );
        assert_eq!(
            (options.time, options.memory_limit),
            (Some(Duration::from_millis(500)), Some(4096))
        );
        assert_eq!(options.seed, 7);
    }

    #[test]
    fn the_arguments_of_the_processes_that_measure_mean_the_same() {
        let line = "--bench --full --time 0.5 --seed 7 --call-limit 9 --memory-limit 1000 --skip x --exact -- -a b";
        let options = parsed(line).unwrap();
        assert_eq!(options.filters, ["-a", "b"]);
        let again = |rows: Option<&[String]>| {
            let line = options.arguments(rows, 3);
            Options::parse(line.into_iter().map(OsString::from)).unwrap()
        };
        let listed = again(None);
        assert_eq!(listed.action, Action::List);
        assert_eq!(
            (listed.exact, &listed.skip, &listed.filters),
            (true, &options.skip, &options.filters)
        );
        let measured = again(Some(&["-a/b".to_string()]));
        assert_eq!(
            (measured.action, measured.exact, &measured.filters[..]),
            (Action::Bench, true, &["-a/b".to_string()][..])
        );
        for o in [&listed, &measured] {
            assert_eq!(
                (o.mode, o.time, o.seed, o.cpu),
                (options.mode, options.time, 7, Some(3))
            );
            assert_eq!(
                (o.call_limit, o.memory_limit),
                (options.call_limit, options.memory_limit)
            );
        }
    }
}
