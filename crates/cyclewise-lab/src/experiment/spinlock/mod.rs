//! `spinlock`: what a lock costs alone, with a thread on each CPU, and with eight.
//!
//! Alone, an operation is an uncontended lock and unlock. In a crowd, each thread repeats a short section under the
//! lock and a little work outside; an operation is one such iteration by any thread, and the figure is the time from
//! one to the next. With eight threads for each CPU, most threads that hold or await the lock are not running, which is
//! the worst case for a queue of spinning waiters.
//!
//! # References
//! J. Mellor-Crummey and M. Scott, 1991, for the queue lock. R. Jain, D. Chiu and W. Hawe, "A quantitative measure of
//! fairness", DEC-TR-301, 1984: (Σx)² / (n Σx²), 1 if all threads did the same amount.

mod contention;
mod locks;
mod mcs;

use super::elided::ElidedRows;
use super::{Definition, Mode, Options};
use crate::error::Result;
use crate::record::Unit;
use crate::runner::crowd::Crowd;
use crate::runner::{Bench, Guards, Kinds, Sample, Sampler, Setup, metrics};
use contention::{LockRun, Work, contend};
use locks::{Cyclewise, CyclewiseSpinOnly, Lock, ParkingLot, Spin, SpinTicket, StdMutex};
use mcs::Mcs;
use std::time::Duration;

pub(super) static DEFINITION: Definition = Definition {
    name: "spinlock",
    question: "What does a queued spinlock cost alone, with one thread per CPU and with eight, compared with common locks?",
    source: "Jan Glauber, Linus Torvalds, Jayachandran C. Nair and others, \"Disable lockref on arm64\", April to June 2019, about queued spinlocks under contention",
    unit: Unit::TicksPerOp,
    guards: Guards::WholeMachine,
    published: &[],
    setup,
};

/// Threads for each CPU in the oversubscribed rows.
const OVER: usize = 8;

/// The peers, in the order of the table.
const PEERS: [&str; 5] = ["parking-lot", "std-mutex", "spin", "spin-ticket", "mcs"];

/// Every pair of a free lock changes its word. Under contention, other threads decide.
const KINDS: Kinds = Kinds::new(
    "cyclewise parking-lot std-mutex spin spin-ticket mcs cyclewise-elided",
    "",
);

fn setup(options: &Options) -> Result<Setup> {
    let span = match options.mode {
        Mode::Quick => 20,
        Mode::Normal => 100, // some time slices of 3 or 4 ms for each CPU
        Mode::Full => 500,
    };
    with_span(options, Duration::from_millis(span))
}

pub(crate) fn with_span(options: &Options, span: Duration) -> Result<Setup> {
    let cpus = options.cpus()?;
    let work = Work::measured();
    let mut notes = vec![work.describe(), crowds(cpus.len(), span)];
    let mut elided = ElidedRows::new();
    let mut samplers = alone(&mut elided);
    let mut missing = Vec::new();
    elided.tell(&mut notes, &mut missing);
    let crowd = |threads, pinned| Crowd {
        cpus: cpus.clone(),
        threads,
        pinned,
        span,
    };
    for (suffix, crowd) in [
        ("cpus", crowd(cpus.len(), true)),
        ("8x", crowd(OVER * cpus.len(), false)),
    ] {
        notes.push(fairness(suffix, &crowd)?);
        samplers.extend(crowded(suffix, &crowd, options.mode));
    }
    Ok(Setup {
        compare: super::pairs(
            &samplers,
            &comparisons().each_ref().map(|(a, b)| (a.as_str(), b.as_str())),
        ),
        control: options.control(0),
        notes,
        samplers,
        missing,
        kinds: KINDS,
        ..Setup::default()
    })
}

/// By reference: ours against each peer, alone and under contention; and LOCK elided against locked.
fn comparisons() -> [(String, String); 17] {
    let all = ["", "-cpus", "-8x"]
        .into_iter()
        .flat_map(|suffix| PEERS.map(|peer| (format!("{peer}{suffix}"), format!("cyclewise{suffix}"))));
    let ways = [
        ("cyclewise", "cyclewise-elided"),
        ("cyclewise-8x", "cyclewise-spin-only-8x"),
    ];
    let mut all = all.chain(ways.map(|(a, b)| (a.to_string(), b.to_string())));
    std::array::from_fn(|_| all.next().unwrap_or_default())
}

/// A lock and an unlock without contention, with a lock of its own at each call.
fn pair<L: Lock>() -> impl FnMut() + 'static {
    let lock = Box::new(L::new(1));
    move || lock.section(0, || ())
}

/// A lock and an unlock of each lock, without contention.
pub(super) fn free_locks(bench: &mut Bench) -> Vec<Box<dyn Sampler>> {
    vec![
        bench.calls("cyclewise", pair::<Cyclewise>()),
        bench.calls("parking-lot", pair::<ParkingLot>()),
        bench.calls("std-mutex", pair::<StdMutex>()),
        bench.calls("spin", pair::<Spin>()),
        bench.calls("spin-ticket", pair::<SpinTicket>()),
        bench.calls("mcs", pair::<Mcs>()),
    ]
}

/// The same, and ours without LOCK.
fn alone(elided: &mut ElidedRows) -> Vec<Box<dyn Sampler>> {
    let mut bench = Bench::new();
    let mut samplers = free_locks(&mut bench);
    let row = elided.row("cyclewise-elided", || {
        bench.calls("cyclewise-elided", pair::<Cyclewise>())
    });
    samplers.extend(row);
    samplers
}

/// Every lock in one crowd. With too many threads, locks that only spin are slow: quick mode runs only one of them.
fn crowded(suffix: &str, crowd: &Crowd, mode: Mode) -> Vec<Box<dyn Sampler>> {
    fn row<L: Lock>(suffix: &str, crowd: &Crowd) -> Box<dyn Sampler> {
        Box::new(LockRow::<L> {
            name: format!("{}-{suffix}", L::NAME),
            crowd: crowd.clone(),
            lock: std::marker::PhantomData,
        })
    }
    let mut rows = vec![
        row::<Cyclewise>(suffix, crowd),
        row::<ParkingLot>(suffix, crowd),
        row::<StdMutex>(suffix, crowd),
        row::<Mcs>(suffix, crowd),
    ];
    let over = crowd.threads > crowd.cpus.len();
    if !over || mode != Mode::Quick {
        rows.push(row::<Spin>(suffix, crowd));
        rows.push(row::<SpinTicket>(suffix, crowd));
    }
    if over {
        rows.push(row::<CyclewiseSpinOnly>(suffix, crowd));
    }
    rows
}

/// A lock in a crowd.
struct LockRow<L> {
    name: String,
    crowd: Crowd,
    lock: std::marker::PhantomData<fn() -> L>,
}

impl<L: Lock> Sampler for LockRow<L> {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let run = contend::<L>(&self.crowd)?;
        Ok(Sample {
            value: run.ticks_per_op(),
            metrics: metrics([("fairness", "1", run.fairness()), ("longest", "ms", run.longest_ms)]),
            ..Sample::default()
        })
    }
}

fn crowds(cpus: usize, span: Duration) -> String {
    format!(
        "-cpus: {cpus} threads, each on its own CPU; -8x: {} threads, not pinned; a sample lasts {} ms, \
         plus the time until the last thread has stopped",
        OVER * cpus,
        span.as_millis()
    )
}

/// Runs of each lock for the note on fairness: an odd number, for the median.
const FAIRNESS_RUNS: usize = 5;

/// Some runs of each lock before the samples: each thread's share.
fn fairness(suffix: &str, crowd: &Crowd) -> Result<String> {
    fn of<L: Lock>(crowd: &Crowd) -> Result<String> {
        let runs = (0..FAIRNESS_RUNS).map(|_| contend::<L>(crowd));
        let runs = runs.collect::<Result<Vec<_>>>()?;
        let spread = |value: fn(&LockRun) -> f64, digits: usize| {
            let mut all: Vec<f64> = runs.iter().map(value).collect();
            all.sort_by(f64::total_cmp);
            let [least, median, most] = [0, FAIRNESS_RUNS / 2, FAIRNESS_RUNS - 1].map(|at| all[at]);
            format!("{median:.digits$} [{least:.digits$}, {most:.digits$}]")
        };
        let (index, longest) = (spread(LockRun::fairness, 2), spread(|run| run.longest_ms, 1));
        Ok(format!("{} {index} and {longest} ms", L::NAME))
    }
    let all = [
        of::<Cyclewise>(crowd)?,
        of::<ParkingLot>(crowd)?,
        of::<StdMutex>(crowd)?,
        of::<Mcs>(crowd)?,
    ];
    Ok(format!(
        "-{suffix}, {FAIRNESS_RUNS} runs, median [least, most]: Jain's index of the threads' shares, and the longest time a thread took for {} operations: {}",
        contention::STRIDE,
        all.join(", ")
    ))
}

#[cfg(test)]
mod tests;
