//! Two threads on two CPUs that pass a flag back and forth.
//!
//! # States
//! The flag is `COMING` until the second thread is in place, then alternates between `HERE` and `THERE`, and ends as
//! `OVER`.

use super::home::Homed;
use crate::error::{Error, Result};
use crate::record::core_to_core::Pair;
use crate::runner::{Sample, Sampler};
use crate::sys::shared_atomics::SharedAtomics;
use crate::sys::{affinity, clock};
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::Builder;
use std::time::Duration;

const COMING: u32 = 0; // the second thread is not in place
const HERE: u32 = 1; // the first thread's turn
const THERE: u32 = 2; // the second thread's turn
const OVER: u32 = 3; // the threads end

/// Batches of a median: a thread that is preempted once spoils one batch.
pub(super) const BATCHES: usize = 9;
/// Medians of a sample, which is their least: if both CPUs have other work, the threads may not run at the same time
/// for a while.
const MEDIANS: usize = 3;
pub(super) const ALL_BATCHES: usize = BATCHES * MEDIANS;

/// A sample that takes longer ends with the batches it has: threads that share a CPU with others, or with each other
/// under a hypervisor, may take a time slice for each turn.
const PATIENCE: Duration = Duration::from_millis(40);

/// Sleep between two checks of a flag that is not being timed.
const PAUSE: Duration = Duration::from_micros(20);

/// Alone in its page, which is at the node of the CPU that first wrote to it.
struct Flag<'a>(&'a AtomicU32);

impl Flag<'_> {
    /// Waits for `from` and sets `to`; `false` if the flag is `OVER`. Relaxed: the flag publishes nothing.
    #[inline(always)]
    fn hand_over(&self, from: u32, to: u32) -> bool {
        loop {
            match self.0.compare_exchange(from, to, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(OVER) => return false,
                Err(_) => {}
            }
        }
    }
}

/// A pair of CPUs.
pub(super) struct PingPong {
    name: String,
    cpus: [u32; 2],
    home: u32,
    round_trips: u64,
}

impl PingPong {
    /// The flag is at the first CPU's node.
    pub(super) fn new(pair: Pair, round_trips: u64) -> Self {
        Self {
            name: pair.name(),
            cpus: pair.cpus,
            home: pair.cpus[0],
            round_trips,
        }
    }

    /// The flag is at the node of a CPU that may be another.
    pub(super) fn homed(homed: Homed, round_trips: u64) -> Self {
        Self {
            name: homed.name(),
            home: homed.home,
            ..Self::new(homed.pair, round_trips)
        }
    }
}

impl Sampler for PingPong {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let one_way = one_way_ns(self.cpus, self.home, self.round_trips).map_err(|e| {
            let [a, b] = self.cpus;
            Error::system(
                &format!("cannot run a thread on CPU {a} and one on CPU {b}"),
                &e,
                "raise `ulimit -u`, and do not change the cpuset while it runs",
            )
        })?;
        Ok(Sample::new(one_way))
    }
}

/// Half a round trip, in nanoseconds, of a flag whose page is first written by CPU `home`.
///
/// # Errors
/// If memory cannot be mapped, or a thread not be created or pinned.
pub(super) fn one_way_ns([first, second]: [u32; 2], home: u32, round_trips: u64) -> io::Result<f64> {
    let page = SharedAtomics::<AtomicU32>::zeroed(1)?;
    place(&page[0], home)?;
    let flag = Flag(&page[0]);
    let batch = (round_trips / ALL_BATCHES as u64).max(1);
    std::thread::scope(|scope| {
        let flag = &flag;
        let there = Builder::new().spawn_scoped(scope, move || answer(flag, second))?;
        let here = Builder::new().spawn_scoped(scope, move || ask(flag, first, batch));
        if here.is_err() {
            // Relaxed, as in `hand_over`.
            flag.0.store(OVER, Relaxed);
        }
        let gone = || io::Error::other("a thread panicked");
        let answered = there.join().map_err(|_| gone())?;
        let asked = here?.join().map_err(|_| gone())?;
        answered.and(asked)
    })
}

/// Writes the flag's first value from CPU `home`, which places its page.
fn place(flag: &AtomicU32, home: u32) -> io::Result<()> {
    std::thread::scope(|scope| {
        let write = move || {
            affinity::confine(&[home])?;
            // Relaxed: the threads that use the flag are created after this one is joined.
            flag.store(COMING, Relaxed);
            Ok(())
        };
        let writer = Builder::new().spawn_scoped(scope, write)?;
        writer.join().map_err(|_| io::Error::other("a thread panicked"))?
    })
}

/// The second thread: returns the flag until it is `OVER`.
fn answer(flag: &Flag, cpu: u32) -> io::Result<()> {
    if let Err(e) = affinity::confine(&[cpu]) {
        flag.0.store(OVER, Relaxed);
        return Err(e);
    }
    if flag.hand_over(COMING, HERE) {
        while flag.hand_over(THERE, HERE) {}
    }
    Ok(())
}

/// The first thread: times batches of round trips.
fn ask(flag: &Flag, cpu: u32, batch: u64) -> io::Result<f64> {
    if let Err(e) = affinity::confine(&[cpu]) {
        flag.0.store(OVER, Relaxed);
        return Err(e);
    }
    while flag.0.load(Relaxed) == COMING {
        std::thread::sleep(PAUSE);
    }
    let mut one_way: Vec<f64> = Vec::with_capacity(ALL_BATCHES);
    let begun = clock::monotonic_ns();
    // The first batch warms up and is left out.
    for timed in (0..=ALL_BATCHES).map(|i| i > 0) {
        let start = clock::monotonic_ns();
        for _ in 0..batch {
            // `OVER` only if the other thread could not be pinned, which it reports itself.
            if !flag.hand_over(HERE, THERE) {
                return Ok(f64::NAN);
            }
        }
        let ns = clock::monotonic_ns() - start;
        if timed {
            one_way.push(ns as f64 / (2 * batch) as f64);
            if start + ns - begun > PATIENCE.as_nanos() as u64 {
                break;
            }
        }
    }
    flag.hand_over(HERE, OVER);
    let medians = one_way.chunks_mut(BATCHES).map(|batches| {
        batches.sort_by(f64::total_cmp);
        batches[batches.len() / 2]
    });
    Ok(medians.fold(f64::INFINITY, f64::min))
}
