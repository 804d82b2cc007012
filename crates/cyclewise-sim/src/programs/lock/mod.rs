//! Locks around a critical section that does the critical work, and increments a counter on a line of its own unless the job has none.

pub(super) mod mcs;
pub(super) mod queue;
pub(super) mod test_and_set;
pub(super) mod ticket;

use super::queued::Queued;
use super::setup::{Expected, Memory, Start, counts_operations, start};
use crate::engine::{ALL, Cpu, LineId};
use crate::workload::Job;

/// The critical section.
#[derive(Clone, Copy)]
struct Section {
    counter: Option<LineId>,
    critical: u32,
    parallel: u32,
}

impl Section {
    fn new(job: &Job, memory: &mut Memory) -> Self {
        Self {
            counter: job.counter.then(|| memory.line(0)),
            critical: job.critical_cycles,
            parallel: job.parallel_cycles,
        }
    }

    /// The increment is not atomic, so the count shows whether the lock excludes.
    async fn run(&self, cpu: &Cpu) {
        let Some(counter) = self.counter else {
            return cpu.work(self.critical);
        };
        let count = cpu.load_to_write(counter, ALL).await;
        cpu.work(self.critical);
        cpu.store(counter, ALL, count + 1).await;
    }

    fn expected(&self) -> Expected {
        match self.counter {
            Some(counter) => counts_operations(counter),
            None => Box::new(|_| Vec::new()),
        }
    }
}

#[derive(Clone)]
struct LockedSection<L> {
    lock: L,
    section: Section,
}

/// The library's queued spinlock.
pub(super) fn queued(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let lock = queue::Lock::new(job, memory, 0);
    let section = Section::new(job, memory);
    (start(LockedSection { lock, section }, run_queued), section.expected())
}

async fn run_queued(cpu: Cpu, locked: LockedSection<queue::Lock>) {
    while cpu.again() {
        cpu.begin();
        locked.lock.lock(&cpu).await;
        locked.section.run(&cpu).await;
        locked.lock.unlock(&cpu).await;
        cpu.end();
        cpu.work(locked.section.parallel);
    }
}

/// The kernel's queued spinlock.
pub(super) fn qspinlock(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let lock = Queued::new(job, memory, 0);
    let section = Section::new(job, memory);
    (
        start(LockedSection { lock, section }, run_qspinlock),
        section.expected(),
    )
}

async fn run_qspinlock(cpu: Cpu, locked: LockedSection<Queued>) {
    while cpu.again() {
        cpu.begin();
        locked.lock.lock(&cpu).await;
        locked.section.run(&cpu).await;
        locked.lock.unlock(&cpu).await;
        cpu.end();
        cpu.work(locked.section.parallel);
    }
}
