//! A thread on each CPU, all at one structure.

use crate::arch::stamp;
use crate::error::{Error, Result};
use crate::experiment::gate::Gate;
use crate::runner::{Sample, Sampler};
use crate::sys::affinity;
use std::io;
use std::thread::{self, Builder};

/// Pairs of one thread in a sample: some milliseconds, so that the start does not count.
const PAIRS: u32 = 100_000;

/// A structure under test: its pair of operations, by any thread.
pub(super) trait Shared: Sync + 'static {
    /// One, with what is in it at first.
    fn new(threads: usize) -> Self;
    /// A pop and a push.
    fn pair(&self);
    /// How many are in it. Nobody is at it.
    fn count(self) -> Option<usize>;
    /// How many there have to be.
    fn expected(&self) -> Option<usize>;
}

/// A structure in a crowd.
pub(super) struct Row<S> {
    name: &'static str,
    cpus: Vec<u32>,
    of: std::marker::PhantomData<fn() -> S>,
}

impl<S: Shared> Row<S> {
    pub(super) fn subject(name: &'static str, cpus: &[u32]) -> Box<dyn Sampler> {
        Box::new(Self {
            name,
            cpus: cpus.to_vec(),
            of: std::marker::PhantomData,
        })
    }
}

impl<S: Shared> Sampler for Row<S> {
    fn name(&self) -> &str {
        self.name
    }

    /// Ticks that a pair takes a thread, on average over the threads.
    fn sample(&mut self) -> Result<Sample> {
        let shared = S::new(self.cpus.len());
        let gate = Gate::default();
        let ticks: Option<Vec<u64>> = thread::scope(|scope| {
            let (shared, gate) = (&shared, &gate);
            let run = |cpu: u32| {
                move || {
                    gate.pass(affinity::confine(&[cpu])).then(|| {
                        let from = stamp::start();
                        (0..PAIRS).for_each(|_| shared.pair());
                        stamp::stop() - from
                    })
                }
            };
            let spawn = |&cpu| Builder::new().spawn_scoped(scope, run(cpu));
            let threads: io::Result<Vec<_>> = self.cpus.iter().map(spawn).collect();
            let threads = threads.unwrap_or_else(|e| {
                gate.fail(e);
                Vec::new()
            });
            gate.open(self.cpus.len());
            threads.into_iter().map(|thread| thread.join().ok()?).collect()
        });
        let failure = gate.into_failure();
        let panicked = || io::Error::other("a thread panicked");
        let ticks = ticks.filter(|_| failure.is_none()).ok_or_else(|| {
            let what = format!("percpu-lists {}: cannot run a thread on each CPU", self.name);
            let cause = failure.unwrap_or_else(panicked);
            Error::system(
                &what,
                &cause,
                "raise `ulimit -u`, and do not change the cpuset while it runs",
            )
        })?;
        let expected = shared.expected();
        let found = shared.count();
        if expected.is_some() && expected != found {
            return Err(Error::check(format!(
                "percpu-lists {}: {expected:?} objects went round and {found:?} are left; some were lost or doubled",
                self.name
            )));
        }
        Ok(Sample {
            value: ticks.iter().sum::<u64>() as f64 / (ticks.len() as f64 * f64::from(PAIRS)),
            metrics: Vec::new(),
        })
    }
}
