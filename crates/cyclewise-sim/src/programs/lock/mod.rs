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

/// A lock, as a program takes it and gives it back.
pub(super) trait SpinLock: Clone + 'static {
    /// What its holder must know to give it back.
    type Held;

    fn allocate(job: &Job, memory: &mut Memory) -> Self;

    async fn lock(&self, cpu: &Cpu) -> Self::Held;

    async fn unlock(&self, cpu: &Cpu, held: Self::Held);
}

pub(super) fn prepare<L: SpinLock>(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let lock = L::allocate(job, memory);
    let section = Section::new(job, memory);
    (start((lock, section), run::<L>), section.expected())
}

async fn run<L: SpinLock>(cpu: Cpu, (lock, section): (L, Section)) {
    while cpu.again() {
        cpu.begin();
        let held = lock.lock(&cpu).await;
        section.run(&cpu).await;
        lock.unlock(&cpu, held).await;
        cpu.end();
        cpu.work(section.parallel);
    }
}

/// The library's queued spinlock.
impl SpinLock for queue::Lock {
    type Held = ();

    fn allocate(job: &Job, memory: &mut Memory) -> Self {
        Self::new(job, memory, 0)
    }

    async fn lock(&self, cpu: &Cpu) {
        self.lock(cpu).await;
    }

    async fn unlock(&self, cpu: &Cpu, (): ()) {
        self.unlock(cpu).await;
    }
}

/// The kernel's queued spinlock.
impl SpinLock for Queued {
    type Held = ();

    fn allocate(job: &Job, memory: &mut Memory) -> Self {
        Self::new(job, memory, 0)
    }

    async fn lock(&self, cpu: &Cpu) {
        self.lock(cpu).await;
    }

    async fn unlock(&self, cpu: &Cpu, (): ()) {
        self.unlock(cpu).await;
    }
}
