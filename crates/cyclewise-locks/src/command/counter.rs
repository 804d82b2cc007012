//! Counting by an event of the PMU: sampled, with almost no slowdown, where this machine has such an event.

use super::args::By;
use super::program::Program;
use super::way::{CountedRun, Launch, Way};
use crate::emulator;
use crate::error::{Error, Result};
use crate::sampling::{self, Overhead};
use cyclewise_bench::sys::interrupt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

/// The PMU of this machine.
pub(super) struct ByCounter;

impl Way for ByCounter {
    fn by(&self) -> By {
        By::Counter
    }

    fn ready(&self) -> Result<()> {
        sampling::available()
    }

    fn check(&self, program: &Program) -> Result<()> {
        // What an emulator cannot run as it is, the kernel does not let an ordinary user sample either.
        emulator::check_program(&program.named, super::emulator::MACHINE, None)
            .map(drop)
            .map_err(Error::in_one_line)
    }

    fn run(&self, launch: &Launch<'_>) -> Result<CountedRun> {
        let mut command = Command::new(&launch.program.path);
        command.args(&launch.program.arguments);
        std::os::unix::process::CommandExt::arg0(&mut command, &launch.program.named);
        let sampled = sampling::run(&mut command)?;
        let mut notes = vec![cost(&sampled.overhead)];
        let status = sampled.status.unwrap_or_else(|| {
            notes.push("the program did not end when it was interrupted, and was left running".to_owned());
            ExitStatus::from_raw(libc::SIGINT)
        });
        Ok(CountedRun {
            status,
            asked_to_end: interrupt::asked(),
            counts: sampled.counts,
            notes,
        })
    }
}

/// What the sampling cost the program.
fn cost(overhead: &Overhead) -> String {
    let how = if overhead.measured {
        "measured before the run"
    } else {
        "a guess, since it could not be measured"
    };
    format!(
        "sampling took {:.1} % of the program's time: {} samples of {:.1} µs each ({how}), and {:.1} ms of reading them",
        100.0 * overhead.share(),
        overhead.samples,
        overhead.sample_ns / 1e3,
        overhead.reading_ns as f64 / 1e6
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_has_the_share_and_its_parts() {
        let mut overhead = Overhead {
            samples: 1000,
            sample_ns: 2000.0,
            measured: true,
            reading_ns: 8_000_000,
            program_ns: 1_000_000_000,
        };
        let note = cost(&overhead);
        assert!(
            note.starts_with("sampling took 1.0 % of the program's time: 1000 samples of 2.0 µs"),
            "{note}"
        );
        overhead.measured = false;
        assert!(cost(&overhead).contains("a guess"));
    }

    #[test]
    fn without_an_event_the_way_is_refused_with_its_reason_and_the_other_way() {
        match ByCounter.ready() {
            Ok(()) => println!("skipped: this machine has an event of locked instructions"),
            Err(why) => assert!(why.to_string().contains("--by emulator"), "{why}"),
        }
    }
}
