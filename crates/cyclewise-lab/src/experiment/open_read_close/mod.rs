//! `open-read-close`: processes, each on its own CPU, that all open, read and close one file.
//!
//! Opening a file read-only takes a reference to its directory entry, which is a lockref, and to the file, which is a
//! refcount: the more CPUs, the more contention for those two cache lines. This is the workload on which unbounded
//! compare-and-swap loops were found to collapse on ThunderX2.
//!
//! The rows with a `t` are the same in userspace: as many threads, and a cache whose entries count their users with a
//! `LockRef` or a mutex, or do not count them and use a reader lock.
//!
//! # References
//! Jayachandran C. Nair, refcount-test: `otest` does 500 000 iterations of open, read 64 bytes, close; `runtest.sh`
//! starts 1, 2, 4, ... of them on one 512-byte file. There, each process times itself; here, one interval spans them
//! all.

mod cache;
mod processes;
mod target;

use super::{Definition, Mode, Options, Published};
use crate::error::{Error, Result};
use crate::record::Unit;
use crate::runner::crowd::Crowd;
use crate::runner::{Guards, Sample, Sampler, Setup};
use cache::{ByLockRef, ByMutex, ByRwLock, CacheRow};
use processes::Processes;
use std::sync::Arc;
use std::time::Duration;
use target::Target;

/// The counts of `runtest.sh`.
const COUNTS: &[u32] = &[
    1, 2, 4, 8, 10, 16, 20, 27, 32, 40, 50, 55, 64, 80, 96, 100, 111, 128, 150, 180, 200, 223,
];

/// A larger count is taken for a typing error.
const MOST: u32 = 4096;

const THUNDERX2: &str = "ThunderX2 (SMT 4, 28 cores, 2 sockets: 224 CPUs)";

pub(super) static DEFINITION: Definition = Definition {
    name: "open-read-close",
    question: "How does opening, reading and closing one file scale with the number of processes, and one cache entry with the number of threads?",
    source: "Jan Glauber, Linus Torvalds, Jayachandran C. Nair and others, \"Disable lockref on arm64\", April to June 2019",
    unit: Unit::OpsPerSecond,
    guards: Guards::WholeMachine,
    published: PUBLISHED,
    setup,
};

/// What the experiment `lockref` shows too.
pub(super) const OF_BOTH: [Published; 2] = published! {
    "ThunderX2" => {
        _: "retries for one cmpxchg to succeed, 28 threads on one file, unbounded lockref loop", 25.0, "retries";
        _: "open-close with lockref disabled (queued spinlock) against the unbounded loop", 2.0, "times the rate";
    }
};

/// Published in the thread on lockref: ratios between kernels that we do not have. Context, not our variants.
static PUBLISHED: &[Published] = &published! {
    @[OF_BOTH[0], OF_BOTH[1]]
    "ThunderX2" => {
        _: "open-close with at most 100 retries against the unbounded loop, lower end", 60.0, "% more";
        _: "open-close with at most 100 retries against the unbounded loop, upper end", 70.0, "% more";
    }
    THUNDERX2 => {
        _: "open-read-close, queued spinlock against the unbounded loop, 224 CPUs", 2.5, "times as fast";
    }
    "Kunpeng 920, 96 CPUs" => {
        _: "open-read-close with the refcount patch and its fixes, about", 50.0, "% more";
    }
};

/// Prepares the experiment: the file, the counts, and the mode's number of iterations.
///
/// # Errors
/// Exit 2 if a count is out of range; exit 3 if the file cannot be created or read.
fn setup(options: &Options) -> Result<Setup> {
    let cpus = options.cpus()?;
    let counts = counts(&options.threads, cpus.len())?;
    let target = Arc::new(Target::create(&std::env::temp_dir())?);
    let iterations = iterations(options.mode, &target, &cpus)?;
    let span = Duration::from_millis(match options.mode {
        Mode::Quick => 20,
        Mode::Normal => 100,
        Mode::Full => 1000,
    });
    let notes = notes(&counts, cpus.len(), iterations, span, &target);

    // The others are compared with p1; if it is not among the counts, with the first.
    let base = counts.iter().position(|&c| c == 1).unwrap_or(0);
    let fits = |&(_, &count): &(usize, &u32)| count as usize <= cpus.len();
    let control = counts
        .iter()
        .enumerate()
        .filter(fits)
        .max_by_key(|&(_, &count)| count)
        .map_or(base, |(i, _)| i);
    let mut compare: Vec<_> = (0..counts.len()).filter(|&i| i != base).map(|i| (i, base)).collect();
    let mut samplers: Vec<_> = counts
        .iter()
        .map(|&count| {
            let processes = Processes::new(Arc::clone(&target), cpus.clone(), count, iterations);
            Box::new(ProcessRow {
                name: format!("p{count}"),
                processes,
            }) as Box<dyn Sampler>
        })
        .collect();
    for &count in &counts {
        let crowd = Crowd {
            cpus: cpus.clone(),
            threads: count as usize,
            pinned: true,
            span,
        };
        let lockref = samplers.len();
        compare.extend([(lockref, lockref + 1), (lockref, lockref + 2)]);
        samplers.push(CacheRow::<ByLockRef>::sampler(crowd.clone()));
        samplers.push(CacheRow::<ByMutex>::sampler(crowd.clone()));
        samplers.push(CacheRow::<ByRwLock>::sampler(crowd));
    }
    Ok(Setup {
        compare,
        samplers,
        control: options.control(control),
        notes,
        ..Setup::default()
    })
}

struct ProcessRow {
    name: String,
    processes: Processes,
}

impl Sampler for ProcessRow {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let run = self.processes.run()?;
        Ok(Sample::new(run.ops as f64 / run.seconds))
    }
}

/// The requested counts, or the source's up to the number of CPUs.
fn counts(asked: &[u32], cpus: usize) -> Result<Vec<u32>> {
    if asked.is_empty() {
        return Ok(COUNTS.iter().copied().filter(|&c| c as usize <= cpus).collect());
    }
    let mut counts = Vec::new();
    for &count in asked {
        if !(1..=MOST).contains(&count) {
            return Err(Error::usage(format!("--threads {count}: give counts from 1 to {MOST}")));
        }
        // A count given twice is one variant.
        if !counts.contains(&count) {
            counts.push(count);
        }
    }
    Ok(counts)
}

/// Iterations of each process: as many as fill a sample when one process runs alone.
fn iterations(mode: Mode, target: &Arc<Target>, cpus: &[u32]) -> Result<u64> {
    let sample_s = match mode {
        Mode::Quick => 0.03,
        Mode::Normal => 0.15,
        Mode::Full => return Ok(500_000), // runtest.sh
    };
    const TRIAL: u64 = 2000;
    let trial = Processes::new(Arc::clone(target), cpus.to_vec(), 1, TRIAL).run()?;
    let fill = sample_s / (trial.seconds / TRIAL as f64);
    // Rounded to two digits, for the reader.
    let step = 10f64.powf(fill.log10().floor() - 1.0);
    Ok(((fill / step).round() * step).clamp(1000.0, 500_000.0) as u64)
}

fn notes(counts: &[u32], cpus: usize, iterations: u64, span: Duration, target: &Target) -> Vec<String> {
    let mut notes = vec![
        format!(
            "{iterations} times in each process: open(O_RDONLY), read 64 bytes, close, of one {}-byte file on {}; the rate \
             is over the interval from the earliest start to the latest end",
            target::SIZE,
            target.file_system()
        ),
        format!(
            "-tN: N threads, pinned round robin, for {} ms, on one entry of a cache of their own: find it by name and take a \
             reference, copy 64 bytes, drop the reference; lockref: get_not_dead and put_or_lock; mutex: a count in std's mutex; \
             rwlock: std's, read-locked from open to close",
            span.as_millis()
        ),
        format!(
            "the source had 28 to 224 CPUs of ThunderX2; {cpus} may be used here, so what happens beyond {cpus} \
             cannot be seen on this machine"
        ),
    ];
    let over: Vec<String> = counts
        .iter()
        .filter(|&&c| c as usize > cpus)
        .map(|c| format!("p{c}"))
        .collect();
    if !over.is_empty() {
        notes.push(format!(
            "over-subscribed, so that processes share a CPU: {}",
            over.join(", ")
        ));
    }
    notes
}

#[cfg(test)]
mod tests;
