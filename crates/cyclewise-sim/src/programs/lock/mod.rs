//! Locks around a section that adds to a counter on a line of its own, and works for the critical time.

pub(super) mod mcs;
pub(super) mod queue;
pub(super) mod test_and_set;
pub(super) mod ticket;

use super::queued::Queued;
use super::{After, Holds, Memory, Start, start};
use crate::engine::{ALL, Cpu, Line};
use crate::workload::Job;

/// What every section does.
#[derive(Clone, Copy)]
struct Section {
    counter: Line,
    critical: u32,
    parallel: u32,
}

impl Section {
    fn new(job: &Job, memory: &mut Memory) -> Self {
        Self {
            counter: memory.line(0),
            critical: job.critical_cycles,
            parallel: job.parallel_cycles,
        }
    }

    /// Not atomic: what it counts shows whether the lock excludes.
    async fn run(&self, cpu: &Cpu) {
        let count = cpu.load_to_write(self.counter).await;
        cpu.work(self.critical);
        cpu.store(self.counter, ALL, count + 1).await;
    }

    fn after(&self) -> After {
        let counter = self.counter;
        Box::new(move |ops| {
            vec![Holds {
                line: counter,
                mask: ALL,
                value: ops,
            }]
        })
    }
}

#[derive(Clone)]
struct Shared<L> {
    lock: L,
    section: Section,
}

/// The library's queued spinlock.
pub(super) fn queued(job: &Job, memory: &mut Memory) -> (Start, After) {
    let lock = queue::Lock::new(job, memory, 0);
    let section = Section::new(job, memory);
    (start(Shared { lock, section }, run_queued), section.after())
}

async fn run_queued(cpu: Cpu, shared: Shared<queue::Lock>) {
    while cpu.again() {
        cpu.begin();
        shared.lock.lock(&cpu).await;
        shared.section.run(&cpu).await;
        shared.lock.unlock(&cpu).await;
        cpu.end();
        cpu.work(shared.section.parallel);
    }
}

/// The kernel's.
pub(super) fn qspinlock(job: &Job, memory: &mut Memory) -> (Start, After) {
    let lock = Queued::new(job, memory, 0);
    let section = Section::new(job, memory);
    (start(Shared { lock, section }, run_qspinlock), section.after())
}

async fn run_qspinlock(cpu: Cpu, shared: Shared<Queued>) {
    while cpu.again() {
        cpu.begin();
        shared.lock.lock(&cpu).await;
        shared.section.run(&cpu).await;
        shared.lock.unlock(&cpu).await;
        cpu.end();
        cpu.work(shared.section.parallel);
    }
}
