//! A row of a lock: threads that increment one counter under it, and do nothing between.
//!
//! The increment is a load and a store, so a count that is lost shows that the lock let two threads in.

use super::locks::{Lock, Mcs, Ticket, Ttas};
use crate::error::{Error, Result};
use crate::runner::crowd::Crowd;
use crate::runner::{Sample, Sampler};
use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Names of the locks, which are also the simulator's workloads, with `-pause` where waiters pause.
pub(super) const NAMES: [&str; 4] = ["lock-ttas", "lock-ttas-pause", "lock-ticket", "lock-mcs"];

/// The rows of `crowd`, in the order of [`NAMES`].
pub(super) fn rows(crowd: &Crowd) -> [Box<dyn Sampler>; 4] {
    let [ttas, pause, ticket, mcs] = NAMES.map(|name| format!("{name}-t{}", crowd.threads));
    [
        row::<Ttas<false>>(ttas, crowd),
        row::<Ttas<true>>(pause, crowd),
        row::<Ticket>(ticket, crowd),
        row::<Mcs>(mcs, crowd),
    ]
}

pub(super) fn row<L: Lock + 'static>(name: String, crowd: &Crowd) -> Box<dyn Sampler> {
    Box::new(LockRow::<L> {
        name,
        crowd: crowd.clone(),
        lock: PhantomData,
    })
}

/// The guarded counter; the alignment keeps the lock out of its lines.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

struct LockRow<L> {
    name: String,
    crowd: Crowd,
    lock: PhantomData<fn() -> L>,
}

impl<L: Lock> Sampler for LockRow<L> {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let (lock, counter) = (Box::new(L::new(self.crowd.threads)), Box::<Counter>::default());
        let name: &str = &self.name;
        let run = self
            .crowd
            .run(name, |thread, stop| sections(&*lock, &counter.0, thread, stop))?;
        let sections: u64 = run.results().sum();
        let counted = counter.0.load(Relaxed);
        if counted != sections {
            return Err(Error::check(format!(
                "{name}: {sections} sections were run, but the counter is {counted}; the lock let two threads in"
            )));
        }
        Ok(Sample::new(1e9 * run.seconds() / sections as f64))
    }
}

/// A thread's sections, at least one. The flag is read after each: if a thread that is waited for loses its CPU, a section takes a time
/// slice.
fn sections<L: Lock>(lock: &L, counter: &AtomicU64, thread: usize, stop: &AtomicBool) -> u64 {
    let mut sections = 0;
    loop {
        // Relaxed: the lock orders it; if it did not, the sum would differ.
        lock.section(thread, || counter.store(counter.load(Relaxed) + 1, Relaxed));
        sections += 1;
        // Relaxed: a flag and nothing else.
        if stop.load(Relaxed) {
            return sections;
        }
    }
}
