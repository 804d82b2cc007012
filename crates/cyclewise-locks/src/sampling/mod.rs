//! Runs a program and samples its locked instructions by an event of the PMU.
//!
//! How often they and all instructions were executed is counted; only where is sampled. Threads and children are followed. The program
//! keeps its input, output and status.
//!
//! `session.rs` has the events of every CPU, `order.rs` brings their records into the order of time, `tally` and `image.rs` keep what they
//! say of processes, `locked` finds the instruction, `scale.rs` says what a sample stands for, `result` makes the counts,
//! `missing.rs` says what they leave out, `overhead.rs` what it cost.
//!
//! Not seen on hardware with a PMU by us; the tests run everything here on the kernel's task clock instead of an event of locked
//! instructions.

mod image;
mod locked;
mod missing;
mod order;
mod overhead;
mod refusal;
mod result;
mod scale;
mod session;
mod tally;
mod totals;

pub use overhead::Overhead;

use crate::counts::{Arch, Counts};
use crate::error::Result;
use cyclewise_bench::machine::lock_event::{self, LockEvent};
use cyclewise_bench::machine::{CpuInfo, online_cpus};
use cyclewise_bench::sys::interrupt;
use cyclewise_bench::sys::process;
use cyclewise_bench::sys::procfs::Sysfs;
use order::Order;
use session::Session;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use tally::{Begun, Tally};

/// What a run gave.
#[derive(Debug)]
pub struct Sampled {
    /// The counts, of an interrupted run those so far.
    pub counts: Counts,
    /// How the program ended; none if it had to be left running.
    pub status: Option<ExitStatus>,
    /// What the sampling cost.
    pub overhead: Overhead,
}

/// The longest time between two looks at the rings. A ring holds several seconds of samples at the highest rate.
const LOOK: Duration = Duration::from_millis(20);
/// After Ctrl-C, how long the program may take to end by itself; the terminal has sent it the signal too.
const GRACE: Duration = Duration::from_secs(1);

/// Runs `command` and counts its locked instructions by this machine's PMU.
///
/// # Errors
/// Exit 3 where no event of this machine sees locked instructions, or the kernel refuses it; exit 2 where the program cannot be started.
/// Each in one line, with what to do.
pub fn run(command: &mut Command) -> Result<Sampled> {
    let fs = Sysfs::machine();
    run_with(&fs, command, &events(&fs)?)
}

/// Whether this machine has an event that sees locked instructions, which the kernel lets this process sample.
///
/// # Errors
/// Exit 3: none has, and why.
pub fn available() -> Result<()> {
    events(&Sysfs::machine()).map(drop)
}

fn events(fs: &Sysfs) -> Result<Vec<LockEvent>> {
    let cpuinfo = CpuInfo::parse(&fs.text("/proc/cpuinfo").unwrap_or_default());
    let survey = lock_event::survey(fs, std::env::consts::ARCH, &cpuinfo);
    let events = survey.offered();
    if events.is_empty() {
        return Err(refusal::nothing_to_sample(&survey.why_not()));
    }
    Ok(events)
}

fn run_with(fs: &Sysfs, command: &mut Command, events: &[LockEvent]) -> Result<Sampled> {
    let cost = overhead::calibrate(&events[0]);
    let mut session = Session::open(&online_cpus(fs), events, &cost).map_err(|e| refusal::of(fs, e))?;
    let mut order = Order::default();
    let mut tally = Tally::new(session.names());
    let begun = Begun::by_command(command);
    interrupt::listen();
    let mut child = command.spawn().map_err(|e| refusal::not_started(command, &e))?;
    tally.expect(child.id(), begun);
    let status = follow(&mut child, &mut session, &mut order, &mut tally).map_err(|e| refusal::of_reading(&e))?;
    session.disable();
    session.drain(&mut order);
    order
        .rest()
        .into_iter()
        .for_each(|record| tally.take(record, &arguments_of));
    tally.ended(status);
    let totals = session.totals();
    let overhead = overhead::Overhead::of_sampling(&cost, tally.samples(), session.reading(), &totals);
    let counts = result::counts(tally, &totals, events, arch());
    Ok(Sampled {
        counts,
        status,
        overhead,
    })
}

/// Reads the rings until the program ends, or has to be left.
fn follow(
    child: &mut Child,
    session: &mut Session,
    order: &mut Order,
    tally: &mut Tally,
) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_millis(1);
    let mut asked: Option<Instant> = None;
    let mut sent = 0;
    loop {
        session.drain(order);
        order
            .ready()
            .into_iter()
            .for_each(|record| tally.take(record, &arguments_of));
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if interrupt::asked() {
            let waited = asked.get_or_insert_with(Instant::now).elapsed();
            if waited >= GRACE * (sent + 1) {
                match sent {
                    // Whoever interrupted this program alone meant the other one too.
                    0 => process::send(child, libc::SIGINT),
                    1 => child.kill()?,
                    _ => return Ok(None),
                }
                sent += 1;
            }
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LOOK);
    }
}

/// The arguments of a process, without its name; empty if it has ended.
fn arguments_of(pid: u32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = bytes.split(|&b| b == 0).skip(1);
    let mut words: Vec<String> = words.map(|w| String::from_utf8_lossy(w).into_owned()).collect();
    // The text ends with a NUL, behind which there is no word.
    words.pop();
    words
}

fn arch() -> Arch {
    if cfg!(target_arch = "aarch64") {
        Arch::Aarch64
    } else {
        Arch::X86_64
    }
}

#[cfg(test)]
mod tests;
