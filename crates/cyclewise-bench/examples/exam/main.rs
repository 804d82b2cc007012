//! A side-by-side exam: does a harness find 1 % more work, and how often does it see a change where there is none?
//!
//! Six bodies from 1 ns to 1 ms, each compared with itself and with itself with 1, 2 and 5 % more work, by four harnesses in turns, while the
//! machine is quiet and beside a busy loop. It prints for each harness its false verdicts (on a body against itself, or of the wrong sign),
//! the share of more work that it found, and the seconds of a comparison. `tools.rs` says how each is asked.
//!
//!     cargo run --release -p cyclewise-bench --example exam                    # 20 repetitions: about six hours
//!     cargo run --release -p cyclewise-bench --example exam -- --repetitions 1 --bodies '250 ns' --load quiet
//!     cargo run --release -p cyclewise-bench --example exam -- --quick         # one body, once, by cyclewise alone

mod bodies;
mod tools;

use bodies::{BODIES, Pair, WORK, Work};
use cyclewise_bench::Suite;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;
use tools::{Asked, PERCENTS, Programs, Said, Tool};

/// In a child that keeps a CPU busy.
const SPIN: &str = "CYCLEWISE_EXAM_SPIN";

fn main() -> ExitCode {
    if std::env::var_os(WORK).is_some() {
        cyclewise_bench::main(ours);
        return ExitCode::SUCCESS;
    }
    if std::env::var_os(SPIN).is_some() {
        spin();
    }
    let ours = |arguments: &[OsString]| {
        let mut command = this_program();
        command.args(arguments);
        command
    };
    match exam(std::env::args().skip(1), ours) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("exam: {why}");
            ExitCode::from(2)
        }
    }
}

fn this_program() -> Command {
    Command::new(std::env::current_exe().unwrap_or_else(|_| "exam".into()))
}

/// The benchmark program of cyclewise.
pub(crate) fn ours(s: &mut Suite) {
    match Pair::asked() {
        Some(Pair::Short(pair)) => group(s, pair),
        Some(Pair::Long(pair)) => group(s, pair),
        None => {}
    }
}

fn group<const IS_SHORT: bool>(s: &mut Suite, [mut base, mut changed]: [Work<IS_SHORT>; 2]) {
    s.group("work")
        .bench("base", move || base.call())
        .bench("changed", move || changed.call());
}

/// Keeps a CPU busy until the end of the input, which is that of the parent.
fn spin() -> ! {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    loop {
        std::hint::spin_loop();
    }
}

/// The command line.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    repetitions: usize,
    bodies: Vec<(&'static str, u64)>,
    tools: Vec<Tool>,
    loads: Vec<&'static str>,
    quick: bool,
}

const QUIET: &str = "quiet";
const BUSY: &str = "beside a busy loop";

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            repetitions: 20,
            bodies: BODIES.to_vec(),
            tools: Tool::ALL.to_vec(),
            loads: vec![QUIET, BUSY],
            quick: false,
        };
        while let Some(word) = words.next() {
            if word == "--quick" {
                options = Self {
                    repetitions: 1,
                    bodies: vec![BODIES[2]],
                    tools: vec![Tool::Cyclewise],
                    loads: vec![QUIET],
                    quick: true,
                };
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--repetitions" => {
                    options.repetitions = value
                        .parse()
                        .map_err(|_| format!("--repetitions {value}: not a number"))?;
                }
                "--bodies" => options.bodies = chosen("--bodies", &value, BODIES, |body| body.0)?,
                "--tools" => options.tools = chosen("--tools", &value, Tool::ALL, Tool::name)?,
                "--load" => options.loads = chosen("--load", &value, [QUIET, BUSY], |load| load)?,
                _ => {
                    return Err(format!(
                        "there is no option {word}; there are --quick, --repetitions, --bodies, --tools and --load"
                    ));
                }
            }
        }
        Ok(options)
    }
}

fn chosen<T: Copy>(
    option: &str,
    list: &str,
    all: impl IntoIterator<Item = T> + Clone,
    name: fn(T) -> &'static str,
) -> Result<Vec<T>, String> {
    let one = |wanted: &str| {
        let found = all.clone().into_iter().find(|one| name(*one) == wanted.trim());
        let names: Vec<_> = all.clone().into_iter().map(name).collect();
        found.ok_or_else(|| {
            format!(
                "{option} {wanted}: name one of {}, or several with commas",
                names.join(", ")
            )
        })
    };
    list.split(',').map(one).collect()
}

/// What a harness has said under one load.
#[derive(Clone, Copy, Default)]
struct Score {
    comparisons: usize,
    /// Comparisons of each share of more work, and those in which it was found.
    found: [(usize, usize); PERCENTS.len()],
    wrong: usize,
    failed: usize,
    seconds: f64,
}

impl Score {
    fn add(&mut self, percent: u64, said: &Result<Said, String>, seconds: f64) {
        let at = PERCENTS.iter().position(|p| *p == percent).unwrap_or_default();
        self.comparisons += 1;
        self.seconds += seconds;
        self.found[at].0 += 1;
        match said {
            Ok(Said::Slower) if percent > 0 => self.found[at].1 += 1,
            Ok(Said::Nothing) => {}
            Ok(_) => self.wrong += 1,
            Err(_) => self.failed += 1,
        }
    }

    fn line(&self, tool: Tool) -> String {
        let share = |(asked, found): (usize, usize)| format!("{:.0} %", 100.0 * found as f64 / asked.max(1) as f64);
        let [_, rest @ ..] = self.found;
        // It compares nothing.
        let [wrong, one, two, five] = match tool {
            Tool::Divan => ["none"; 4].map(String::from),
            _ => {
                let [one, two, five] = rest.map(share);
                [format!("{} of {}", self.wrong, self.comparisons), one, two, five]
            }
        };
        let seconds = self.seconds / self.comparisons.max(1) as f64;
        let failed = match self.failed {
            0 => String::new(),
            n => format!("  ({n} failed)"),
        };
        let name = tool.name();
        format!("{name:<10}  {wrong:>14}  {one:>9}  {two:>9}  {five:>9}  {seconds:>20.2}{failed}\n")
    }
}

/// The whole exam; returns its tables. `ours` makes the command of a program whose `main` is [`ours`].
pub(crate) fn exam(words: impl Iterator<Item = String>, ours: fn(&[OsString]) -> Command) -> Result<String, String> {
    let options = Options::parse(words)?;
    let programs = Programs {
        folder: folder()?,
        ours,
        options: if options.quick {
            vec!["--time", "0.1"]
        } else {
            Vec::new()
        },
    };
    if options.tools.iter().any(|tool| *tool != Tool::Cyclewise) {
        eprintln!("building the other harnesses in {}", programs.folder.display());
        programs.build()?;
    }
    let mut text = String::new();
    for load in &options.loads {
        let mut spinning = (*load == BUSY).then(busy).transpose()?;
        let scores = one_load(&options, &programs, load);
        if let Some(child) = &mut spinning {
            let _ = child.kill();
            let _ = child.wait();
        }
        text.push_str(&format!(
            "{load}\nharness     false verdicts  1 % found  2 % found  5 % found  seconds a comparison\n"
        ));
        for (tool, score) in options.tools.iter().zip(scores) {
            text.push_str(&score.line(*tool));
        }
        text.push('\n');
    }
    Ok(text)
}

/// Every comparison by each harness in turn, so that all meet the same minutes.
fn one_load(options: &Options, programs: &Programs, load: &str) -> Vec<Score> {
    let mut scores = vec![Score::default(); options.tools.len()];
    for repetition in 1..=options.repetitions {
        for &body in &options.bodies {
            for percent in PERCENTS {
                for (tool, score) in options.tools.iter().zip(&mut scores) {
                    let begun = Instant::now();
                    let said = programs.compare(*tool, Asked { body, percent });
                    let seconds = begun.elapsed().as_secs_f64();
                    score.add(percent, &said, seconds);
                    // The whole protocol, for whoever doubts the table.
                    let (name, body) = (tool.name(), body.0);
                    eprintln!("{load}, {repetition}, {body}, {percent} %, {name}: {said:?}, {seconds:.2} s");
                }
            }
        }
    }
    scores
}

fn busy() -> Result<Child, String> {
    let mut command = this_program();
    let child = command.env(SPIN, "1").stdin(Stdio::piped()).spawn();
    child.map_err(|e| format!("the busy loop: {e}"))
}

/// `exam` in the folder of builds, beside the folder `examples` or `deps` that this program is in.
fn folder() -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let builds = this
        .ancestors()
        .nth(3)
        .ok_or("this program is in no folder of builds")?;
    let folder = builds.join("exam");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &[&str]) -> Result<Options, String> {
        Options::parse(line.iter().map(|word| (*word).to_string()))
    }

    #[test]
    fn a_wrong_option_is_one_line() {
        let all = parsed(&[]).unwrap();
        assert_eq!((all.repetitions, all.bodies.len(), all.tools.len()), (20, 6, 4));
        let some = parsed(&["--tools", "tango,divan", "--bodies", "1 ms", "--repetitions", "3"]).unwrap();
        assert_eq!((some.tools, some.bodies[0].0), (vec![Tool::Tango, Tool::Divan], "1 ms"));
        for (line, part) in [
            (&["--load", "windy"][..], "name one of quiet"),
            (&["--tools"], "needs a value"),
            (&["--repetitions", "x"], "not a number"),
            (&["--what", "x"], "there is no option --what"),
        ] {
            let why = parsed(line).unwrap_err();
            assert!(why.contains(part), "{why}");
        }
    }

    #[test]
    fn a_verdict_is_false_on_the_same_work_or_of_the_wrong_sign() {
        let mut score = Score::default();
        for (percent, said) in [
            (0, Ok(Said::Slower)),
            (0, Ok(Said::Nothing)),
            (1, Ok(Said::Faster)),
            (1, Ok(Said::Slower)),
            (5, Err("gone".to_string())),
        ] {
            score.add(percent, &said, 2.0);
        }
        assert_eq!((score.wrong, score.failed, score.comparisons), (2, 1, 5));
        assert_eq!(score.found, [(2, 0), (2, 1), (0, 0), (1, 0)]);
        let line = score.line(Tool::Criterion);
        assert!(
            line.contains("2 of 5") && line.contains("50 %") && line.contains("2.00  (1 failed)"),
            "{line}"
        );
        assert!(score.line(Tool::Divan).contains("none"));
    }
}
