//! Is anything lost or duplicated in per-CPU data? Eight threads for each CPU use it while they are moved, preempted and
//! interrupted, and while children are forked.
//!
//! Each round runs the storm on five new targets: sums, a free list, stacks, rings, a reference count. The same steps
//! also run on a twin of each without restartable sequences: it must fail, or the storm proves nothing.

mod counts;
mod objects;
mod sums;

use super::{Check, SCHEMA, Verification, is_over};
use crate::error::Result;
use crate::runner::Progress;
use crate::sys::percpu::storm::{StormStats, StormTarget, storm};
use cyclewise::percpu::backend;
use std::time::{Duration, Instant};

/// Storm time of one target: long enough for every thread to be preempted, short enough for many rounds.
const STORM: Duration = Duration::from_millis(500);

trait Tried: StormTarget {
    /// The errors of the target and of its twin, after all threads have ended.
    fn wrong(self: Box<Self>) -> (u64, u64);
}

/// A subject and its results.
struct Tally {
    name: &'static str,
    promise: &'static str,
    twin: &'static str,
    what: &'static str,
    new: fn(usize) -> Result<Box<dyn Tried>>,
    weather: StormStats,
    wrong: u64,
    twin_wrong: u64,
    broken: usize,
    bites: usize,
}

impl Tally {
    fn new(
        new: fn(usize) -> Result<Box<dyn Tried>>,
        name: &'static str,
        promise: &'static str,
        twin: &'static str,
        what: &'static str,
    ) -> Self {
        Self {
            name,
            promise,
            twin,
            what,
            new,
            weather: StormStats::default(),
            wrong: 0,
            twin_wrong: 0,
            broken: 0,
            bites: 0,
        }
    }

    fn round(&mut self, cpus: &[u32], time: Duration) -> Result<()> {
        let threads = 8 * cpus.len();
        let subject = (self.new)(cpus.len())?;
        self.weather.add(&storm(&*subject, cpus, threads, time)?);
        let (wrong, twin_wrong) = subject.wrong();
        self.wrong += wrong;
        self.twin_wrong += twin_wrong;
        self.broken += usize::from(wrong > 0);
        self.bites += usize::from(twin_wrong > 0);
        Ok(())
    }

    fn checks(&self, rounds: usize) -> [Check; 2] {
        let StormStats {
            steps, signals, moves, ..
        } = self.weather;
        [
            Check {
                name: self.name,
                promise: self.promise,
                seen: format!(
                    "{} {} in {steps} steps of threads, {signals} of signal handlers, {moves} moves",
                    self.wrong, self.what
                ),
                tries: rounds,
                events: self.broken,
                holds: Some(self.broken == 0),
            },
            Check {
                name: self.twin,
                promise: "the same steps without restartable sequences fail, so the check above can detect errors",
                seen: format!(
                    "{} {}, in {} of {rounds} rounds",
                    self.twin_wrong, self.what, self.bites
                ),
                tries: rounds,
                events: self.bites,
                holds: Some(self.bites > 0),
            },
        ]
    }
}

fn tallies() -> [Tally; 5] {
    [
        Tally::new(
            sums::tried,
            "no-addition-is-lost",
            "sums of per-CPU words, by cpu_id and mm_cid, and of counters are exact",
            "the-storm-bites-sums",
            "additions lost or doubled",
        ),
        Tally::new(
            objects::free_list,
            "no-node-is-lost-or-doubled",
            "a free list hands each object to one taker at a time, and holds every object in the end",
            "the-storm-bites-lists",
            "objects lost or doubled",
        ),
        Tally::new(
            objects::stack,
            "no-value-is-lost-or-doubled",
            "a value that is pushed on a stack is popped exactly once",
            "the-storm-bites-stacks",
            "values lost or doubled",
        ),
        Tally::new(
            objects::ring,
            "no-word-is-lost-or-doubled",
            "a word that is put in a ring comes out exactly once",
            "the-storm-bites-rings",
            "words lost or doubled",
        ),
        Tally::new(
            counts::tried,
            "the-last-releases-once",
            "a killed reference count releases exactly once per life, after the last reference is dropped",
            "the-storm-bites-references",
            "releases too early, too many or missing",
        ),
    ]
}

/// Verifies for about `time` on `cpus` CPUs.
///
/// # Errors
/// If threads or processes cannot be created.
pub(crate) fn verify(cpus: &[u32], progress: &dyn Progress, time: Duration) -> Result<Verification> {
    let begun = Instant::now();
    let mut tallies = tallies();
    let each = (time / tallies.len() as u32).min(STORM);
    let mut rounds = 0;
    while rounds == 0 || !is_over(begun, time) {
        for tally in &mut tallies {
            let share = (begun.elapsed().as_secs_f64() / time.as_secs_f64()).min(1.0);
            progress.step(share, &format!("verify percpu: {}, round {}", tally.name, rounds + 1));
            tally.round(cpus, each)?;
        }
        rounds += 1;
    }
    let mut checks: Vec<Check> = tallies.iter().flat_map(|tally| tally.checks(rounds)).collect();
    let mut all = StormStats::default();
    tallies.iter().for_each(|tally| all.add(&tally.weather));
    checks.push(Check {
        name: "children-go-on",
        promise: "the child of a fork during the test counts exactly, and holds no object twice",
        seen: format!("{} wrong of {} children", all.bad_forks, all.forks),
        tries: all.forks as usize,
        events: all.bad_forks as usize,
        holds: Some(all.bad_forks == 0),
    });
    Ok(Verification {
        schema: SCHEMA,
        what: "percpu",
        checks,
        notes: vec![format!("{} threads; {}", 8 * cpus.len(), backend())],
    })
}
