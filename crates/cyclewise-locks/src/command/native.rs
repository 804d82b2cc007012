//! The program's own time: runs without counting.
//!
//! They have the same arguments and the same stdin where that is a file, and their output is dropped. A program that does not end
//! as it did when it was counted did something else: neither its time nor its counts say anything of the other run. An emulator may die
//! of a program that runs well without it, and lacks instructions that the CPU has.

use super::program::Program;
use crate::forecast::NativeTime;
use cyclewise_bench::sys::interrupt;
use cyclewise_bench::sys::spawn::{self, Bounds, Finished};
use std::fs::File;
use std::io::{self, IsTerminal, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// No further run is begun if it would end after this.
const AT_MOST: Duration = Duration::from_secs(10);
/// A run has this time at least.
const LEAST_LIMIT: Duration = Duration::from_secs(2);

/// How a counted run ended, and what another run of the program needs.
pub(super) struct CountedEnd {
    pub(super) status: ExitStatus,
    pub(super) elapsed: Duration,
    pub(super) stdin: Stdin,
    /// Whether programs that were not counted used it: no run without counting has them.
    pub(super) has_clients: bool,
    /// Whether no CPU of this machine executes it.
    pub(super) is_foreign: bool,
}

impl CountedEnd {
    /// The time of a run without counting, in whole seconds: it does the same work without an emulator, unless it waits for what does not
    /// come again.
    fn limit(&self) -> Duration {
        Duration::from_secs(self.elapsed.max(LEAST_LIMIT).as_secs_f64().ceil() as u64)
    }

    /// Why no run without counting would be like this one, if that is known.
    fn unlike(&self) -> Option<String> {
        match self.status.signal() {
            Some(signal) if !CRASHES.contains(&signal) => Some(format!("no time: signal {signal} ended the counted run")),
            _ if self.is_foreign => Some("no time: the program is for another architecture".to_owned()),
            _ if self.has_clients => Some(
                "no time: clients from outside used the program, and would not use another run; measure its user time under the same load, \
                 and give it by --user-seconds"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// What stdin is, from before the first run.
pub(super) enum Stdin {
    /// A file, and where in it the first run began.
    File(File, u64),
    /// A terminal, or nothing that can be read.
    Nothing,
    /// A pipe or the like: what the first run read is gone.
    Gone,
}

impl Stdin {
    /// Looks at stdin before the program reads it.
    pub(super) fn before() -> Self {
        if io::stdin().is_terminal() {
            return Self::Nothing;
        }
        // Shares its position with stdin.
        let Ok(mut file) = io::stdin().as_fd().try_clone_to_owned().map(File::from) else {
            return Self::Nothing;
        };
        match (file.metadata().is_ok_and(|m| m.is_file()), file.stream_position()) {
            (true, Ok(position)) => Self::File(file, position),
            _ if is_null(&file) => Self::Nothing,
            _ => Self::Gone,
        }
    }

    /// The same again, as far as that is possible.
    fn again(&self) -> io::Result<Stdio> {
        match self {
            Self::File(file, position) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(*position))?;
                Ok(file.into())
            }
            Self::Nothing | Self::Gone => Ok(Stdio::null()),
        }
    }
}

/// Whether it is /dev/null, which gives everybody the same.
fn is_null(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |null: std::fs::Metadata| {
        file.metadata()
            .is_ok_and(|m| m.rdev() == null.rdev() && m.ino() == null.ino())
    };
    std::fs::metadata("/dev/null").is_ok_and(same)
}

/// Runs the program again, at most `runs` times, for its user time. Where there is no time, the reason is added to `notes`. The second
/// part is why the counts are not those of the program, if they are not.
pub(super) fn time(
    program: &Program,
    runs: u32,
    counted: &CountedEnd,
    notes: &mut Vec<String>,
) -> (Option<NativeTime>, Option<String>) {
    if runs == 0 {
        return (None, crashed(counted.status));
    }
    if let Some(why) = counted.unlike() {
        notes.push(why);
        return (None, None);
    }
    super::tell_again(program, runs, counted.limit());
    let stdin = &counted.stdin;
    // Who reads the rest of the file after us finds it where the counted run left it.
    let left = match stdin {
        Stdin::File(file, _) => file.try_clone().and_then(|mut file| file.stream_position()).ok(),
        Stdin::Nothing | Stdin::Gone => None,
    };
    let times = times(program, runs, counted);
    if let (Stdin::File(file, _), Some(left)) = (stdin, left) {
        // It was sought before, so this does not fail.
        let _ = file.try_clone().and_then(|mut file| file.seek(SeekFrom::Start(left)));
    }
    match times {
        Ok(times) => {
            if matches!(stdin, Stdin::Gone) {
                notes.push(
                    "the runs without counting found no input, because stdin is no file; if the program reads it, redirect a file, or \
                     give its time by --user-seconds"
                        .to_owned(),
                );
            }
            (median(times), None)
        }
        Err(NoTime::OtherEnd(status)) => (
            None,
            Some(format!(
                "the counted run did not end as the program does without counting: {} when counted, {status} without",
                counted.status
            )),
        ),
        Err(NoTime::Other(why)) => {
            notes.push(why);
            (None, crashed(counted.status))
        }
    }
}

/// Why runs have no time.
enum NoTime {
    /// One ended so, and not as the counted one.
    OtherEnd(ExitStatus),
    Other(String),
}

/// Signals by which the kernel ends a program that does what it cannot, or that lacks an instruction.
const CRASHES: [i32; 7] = [
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGSYS,
];

/// What is said of a run that crashed where no other shows whether the program does that by itself.
fn crashed(counted: ExitStatus) -> Option<String> {
    counted.signal().filter(|signal| CRASHES.contains(signal)).map(|_| {
        format!("the counted run crashed ({counted}), and no run without counting shows whether the program does that by itself")
    })
}

/// User times of the runs, seconds.
fn times(program: &Program, runs: u32, counted: &CountedEnd) -> Result<Vec<f64>, NoTime> {
    let mut times = Vec::new();
    let mut taken = Duration::ZERO;
    for _ in 0..runs {
        let no_time = |why: String| NoTime::Other(format!("no time: {why}"));
        let done = once(program, counted).map_err(|e| no_time(format!("the program could not be run again: {e}")))?;
        if interrupt::asked() {
            return Err(no_time("a signal ended a run without counting".to_owned()));
        }
        if done.over_limit {
            return Err(no_time(format!(
                "a run without counting did not end within {} s, and the counted one did: it may wait for what came from outside; give its \
                 time by --user-seconds",
                counted.limit().as_secs()
            )));
        }
        if done.status != counted.status {
            return Err(NoTime::OtherEnd(done.status));
        }
        times.push(done.usage.user_s);
        taken += done.elapsed;
        if taken + done.elapsed > AT_MOST {
            break;
        }
    }
    Ok(times)
}

fn once(program: &Program, counted: &CountedEnd) -> io::Result<Finished> {
    let mut command = Command::new(&program.path);
    command
        .arg0(&program.named)
        .args(&program.arguments)
        .stdin(counted.stdin.again()?)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let bounds = Bounds {
        limit: Some(counted.limit()),
        ..Bounds::default()
    };
    spawn::run(command, bounds, None)
}

/// The median and the range of the runs; `None` of none.
fn median(mut times: Vec<f64>) -> Option<NativeTime> {
    times.sort_by(f64::total_cmp);
    let (least, most) = (*times.first()?, *times.last()?);
    Some(NativeTime {
        user_s: f64::midpoint(times[(times.len() - 1) / 2], times[times.len() / 2]),
        range: [least, most],
        runs: times.len() as u32,
    })
}

/// The time of several programs; `None` if that of one is not known.
pub(super) fn sum(times: impl Iterator<Item = Option<NativeTime>>) -> Option<NativeTime> {
    let times: Vec<NativeTime> = times.collect::<Option<_>>()?;
    let sum = |of: fn(&NativeTime) -> f64| times.iter().map(of).sum();
    Some(NativeTime {
        user_s: sum(|t| t.user_s),
        range: [sum(|t| t.range[0]), sum(|t| t.range[1])],
        runs: times.iter().map(|t| t.runs).min()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::find(&["sh", "-c", script].map(Into::into)).unwrap()
    }

    fn ended(status: i32, stdin: Stdin) -> CountedEnd {
        CountedEnd {
            status: ExitStatus::from_raw(status),
            elapsed: Duration::ZERO,
            stdin,
            has_clients: false,
            is_foreign: false,
        }
    }

    fn timed(script: &str, runs: u32, counted: &CountedEnd) -> (Option<NativeTime>, Vec<String>) {
        let mut notes = Vec::new();
        let (native, otherwise) = time(&shell(script), runs, counted, &mut notes);
        notes.extend(otherwise);
        (native, notes)
    }

    #[test]
    fn a_program_is_run_as_often_as_asked_and_not_for_longer() {
        let (native, notes) = timed("exit 3", 4, &ended(3 << 8, Stdin::Nothing));
        assert_eq!((native.unwrap().runs, notes.len()), (4, 0));
        assert_eq!(timed("exit 0", 0, &ended(0, Stdin::Nothing)), (None, Vec::new()));
    }

    #[test]
    fn another_end_is_another_work_and_no_time() {
        let (native, notes) = timed("exit 1", 3, &ended(0, Stdin::Nothing));
        assert!(native.is_none(), "{notes:?}");
        assert_eq!(
            notes,
            [
                "the counted run did not end as the program does without counting: exit status: 0 when counted, exit status: 1 without"
            ]
        );
    }

    #[test]
    fn a_crash_that_no_other_run_explains_is_told() {
        let of = |signal, runs| time(&shell("exit 0"), runs, &ended(signal, Stdin::Nothing), &mut Vec::new()).1;
        for signal in [libc::SIGSEGV, libc::SIGILL] {
            assert!(of(signal, 0).unwrap().contains("no run without counting shows"));
            assert!(of(signal, 1).unwrap().contains("did not end as the program does"));
        }
        assert_eq!(of(libc::SIGKILL, 0), None, "somebody ended it");
    }

    #[test]
    fn a_run_that_waits_for_what_does_not_come_is_ended_and_one_that_is_known_to_is_not_begun() {
        let (native, notes) = timed("sleep 600", 3, &ended(0, Stdin::Nothing));
        assert!(
            native.is_none() && notes[0].contains("did not end within 2 s"),
            "{notes:?}"
        );
        let mark = tempfile::tempdir().unwrap();
        let mark = mark.path().join("begun");
        let script = format!(": > '{}'; sleep 600", mark.display());
        let served = CountedEnd {
            has_clients: true,
            ..ended(0, Stdin::Nothing)
        };
        let foreign = CountedEnd {
            is_foreign: true,
            ..ended(0, Stdin::Nothing)
        };
        for (counted, says) in [
            (served, "clients"),
            (foreign, "another architecture"),
            (ended(libc::SIGKILL, Stdin::Nothing), "signal 9"),
        ] {
            let (native, notes) = timed(&script, 3, &counted);
            assert!(
                native.is_none() && notes[0].contains(says) && !mark.exists(),
                "{notes:?}"
            );
        }
    }

    #[test]
    fn each_run_reads_the_same_file_and_its_reader_finds_it_where_it_was() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"skipped\nfirst\nrest\n").unwrap();
        file.seek(SeekFrom::Start(14)).unwrap();
        let from = |at| ended(0, Stdin::File(file.try_clone().unwrap(), at));
        let (native, notes) = timed("read a; test \"$a\" = first", 3, &from(8));
        assert_eq!((native.unwrap().runs, notes.len()), (3, 0));
        assert_eq!(file.try_clone().unwrap().stream_position().unwrap(), 14);
        // The twin: from another place, each run reads something else.
        assert!(timed("read a; test \"$a\" = first", 3, &from(0)).0.is_none());
    }

    #[test]
    fn input_that_is_gone_is_told() {
        let (native, notes) = timed("exit 0", 1, &ended(0, Stdin::Gone));
        assert!(native.is_some() && notes[0].contains("stdin is no file"), "{notes:?}");
    }

    #[test]
    fn the_time_is_the_median_and_of_several_programs_the_sum() {
        let one = median(vec![3.0, 1.0, 2.0]).unwrap();
        assert_eq!((one.user_s, one.range, one.runs), (2.0, [1.0, 3.0], 3));
        let two = median(vec![1.0, 2.0]).unwrap();
        assert_eq!(two.user_s, 1.5);
        let both = sum([Some(one), Some(two)].into_iter()).unwrap();
        assert_eq!((both.user_s, both.range, both.runs), (3.5, [2.0, 5.0], 2));
        assert_eq!(sum([Some(one), None].into_iter()), None);
        assert_eq!((median(Vec::new()), sum(std::iter::empty())), (None, None));
    }
}
