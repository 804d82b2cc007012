//! `lockref`: what a lock and a count in one word cost alone, by number of threads, and by retry policy.
//!
//! An operation is a get and a put. With threads, the figure is the time from one pair to the next by any thread: on
//! one contended cache line it is constant at best. Beside it: failed tries for each get or put, and the share of them
//! that went to the lock's queue.
//!
//! # References
//! Linux 893a7d32e8e0 (a limit of 100: +60 to +70 % on `ThunderX2`, 15 to 100 alike, 200 and 500 worse), f5fe24ef17b5
//! (no `cpu_relax`: open3 +134 % on 96 CPUs).

mod alone;
mod counts;
mod retries;

use super::elided::ElidedRows;
use super::open_read_close::OF_BOTH;
use super::{Definition, Mode, Options, Published};
use crate::error::Result;
use crate::record::Unit;
use crate::runner::crowd::Crowd;
use crate::runner::{Guards, Kinds, Sampler, Setup};
use counts::{Apart, CountRow, Locked, counted};
use cyclewise::lock::{Exponential, NoRelax, Pause, Relax};
use cyclewise::refs::lockref::{Adaptive, LockRef, TRIES};
use retries::Limit;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

pub(super) static DEFINITION: Definition = Definition {
    name: "lockref",
    question: "Does an uncontended lockref cost two compare-and-exchanges, and how do the retry limit and the return from the lock perform under contention?",
    source: "Jan Glauber, Linus Torvalds, Jayachandran C. Nair and others, \"Disable lockref on arm64\", April to June 2019",
    unit: Unit::TicksPerOp,
    guards: Guards::WholeMachine,
    published: PUBLISHED,
    setup,
};

/// Ratios between kernels on machines of many CPUs; context, and not our variants.
static PUBLISHED: &[Published] = &published! {
    @[OF_BOTH[0], OF_BOTH[1]]
    "96 CPUs" => {
        _: "open3 of will-it-scale without cpu_relax in the loop (f5fe24ef17b5)", 134.0, "% more";
    }
};

/// Threads for each CPU in the oversubscribed rows.
const OVER: usize = 4;

/// The limits of the sweep; all with `--full`, else every other one.
const LIMITS: [u32; 10] = [1, 2, 5, 10, 15, 25, 50, 100, 200, 500];

/// Alone, every pair changes one word.
const KINDS: Kinds = Kinds::new(
    "lockref cas-pair lockref-ref lockref-lock mutex-count plain-cas-pair lockref-elided",
    "",
);

fn setup(options: &Options) -> Result<Setup> {
    let cpus = options.cpus()?;
    let span = Duration::from_millis(match options.mode {
        Mode::Quick => 8,
        Mode::Normal => 25,
        Mode::Full => 200,
    });
    let mut notes = notes(cpus.len(), span);
    // The last CPU: the first serves most of a machine's interrupts.
    let mut elided = ElidedRows::new();
    let mut samplers = alone::rows(cpus[cpus.len() - 1], &cpus, &mut elided)?;
    let mut missing = Vec::new();
    elided.tell(&mut notes, &mut missing);
    let crowd = |threads| Crowd {
        cpus: cpus.clone(),
        threads,
        pinned: true,
        span,
    };
    let mut compare: Vec<(String, String)> = ALONE.map(|(a, b)| (a.to_string(), b.to_string())).into();
    for count in counts(cpus.len()) {
        samplers.extend(by_threads(&crowd(count)));
        compare.extend(PEERS.map(|peer| (format!("{peer}-t{count}"), format!("lockref-t{count}"))));
    }
    let all = crowd(cpus.len());
    let base = format!("limit-{TRIES}");
    for limit in LIMITS
        .into_iter()
        .enumerate()
        .filter(|(i, limit)| options.mode == Mode::Full || i % 2 == 0 || *limit == TRIES)
    {
        samplers.push(swept::<NoRelax>(format!("limit-{}", limit.1), limit.1, &all));
        compare.push((base.clone(), format!("limit-{}", limit.1)));
    }
    samplers.push(swept::<Pause>("relax-pause".to_string(), TRIES, &all));
    samplers.push(swept::<Exponential>("relax-exponential".to_string(), TRIES, &all));
    compare.extend(["relax-pause", "relax-exponential"].map(|name| (base.clone(), name.to_string())));
    compare.retain(|(a, b)| a != b);
    let compare: Vec<(&str, &str)> = compare.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    Ok(Setup {
        compare: super::pairs(&samplers, &compare),
        control: options.control(0),
        notes,
        samplers,
        missing,
        kinds: KINDS,
        ..Setup::default()
    })
}

const ALONE: [(&str, &str); 5] = [
    ("cas-pair", "lockref"),
    ("lockref", "lockref-elided"),
    ("plain-cas-pair", "lockref-elided"),
    ("lockref-lock", "lockref"),
    ("mutex-count", "lockref"),
];

const PEERS: [&str; 5] = ["bounded", "unbounded", "locked", "mutex", "atomic"];

/// 1, 2, 4, …, the number of CPUs, and oversubscribed.
fn counts(cpus: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |n| Some(2 * n))
        .take_while(|&n| n < cpus)
        .collect();
    counts.extend([cpus, OVER * cpus]);
    counts
}

fn by_threads(crowd: &Crowd) -> Vec<Box<dyn Sampler>> {
    let n = crowd.threads;
    vec![
        CountRow::sampler(format!("lockref-t{n}"), crowd, || counted(Adaptive::<NoRelax>::new())),
        CountRow::sampler(format!("bounded-t{n}"), crowd, || counted(Limit::<NoRelax>::new(TRIES))),
        CountRow::sampler(format!("unbounded-t{n}"), crowd, || {
            counted(Limit::<NoRelax>::new(u32::MAX))
        }),
        CountRow::sampler(format!("locked-t{n}"), crowd, || Locked(Apart(LockRef::new(())))),
        CountRow::sampler(format!("mutex-t{n}"), crowd, || Apart(Mutex::new(0))),
        CountRow::sampler(format!("atomic-t{n}"), crowd, || Apart(AtomicU64::new(0))),
    ]
}

fn swept<R: Relax + 'static>(name: String, limit: u32, crowd: &Crowd) -> Box<dyn Sampler> {
    CountRow::sampler(name, crowd, move || counted(Limit::<R>::new(limit)))
}

fn notes(cpus: usize, span: Duration) -> Vec<String> {
    vec![
        "alone, a sample is the least of three medians; lockref: get and put_or_lock; cas-pair: twice load, add, LOCK CMPXCHG; lockref-ref: a guard that puts on drop; lockref-lock: the two changes under its lock; mutex-count: under std's mutex".to_string(),
        format!(
            "-tN: N threads, pinned round robin to {cpus} CPUs, repeat pairs for {} ms; the figure is the time from one pair to the next, \
             by any thread; retries are failed exchanges and reads of a held lock, fallbacks are turns in the lock's queue, \
             each per get or put; a thread's preemption does not add to the figure",
            span.as_millis()
        ),
        format!("lockref-t: the default policy, with a return from the lock; bounded-t: Linux's, {TRIES} tries; unbounded-t: Linux's before 2019; locked-t: no tries, always the lock; atomic-t: fetch_add and fetch_sub, which no lock can exclude"),
        format!("limit-, relax-: Linux's policy with other limits, or with pauses between {TRIES} tries, on {cpus} threads"),
        format!(
            "the source had 28 to 224 CPUs; {cpus} may be used here, so what happens beyond {cpus} cannot be seen on this machine"
        ),
    ]
}

#[cfg(test)]
mod tests;
