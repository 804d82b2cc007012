//! The test-and-set lock, which exchanges until the lock was free, and the test-and-test-and-set lock, which loads until the lock
//! is free before each exchange.

use super::super::setup::{Expected, Memory, Start, start};
use super::Section;
use crate::engine::{Backoff, Cpu, LineId};
use crate::workload::{Job, Relax, Workload};

const LOCKED: u64 = 1 << 32;

#[derive(Clone)]
struct TestAndSetLock {
    word: LineId,
    relax: Relax,
    tests_first: bool,
    section: Section,
}

pub(in super::super) fn prepare(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let word = memory.line(0);
    let section = Section::new(job, memory);
    let lock = TestAndSetLock {
        word,
        relax: job.relax,
        tests_first: job.workload == Workload::LockTtas,
        section,
    };
    (start(lock, body), section.expected())
}

impl TestAndSetLock {
    async fn lock(&self, cpu: &Cpu) {
        let mut backoff = Backoff::new(self.relax);
        loop {
            if self.tests_first {
                let free = |word| word & LOCKED == 0;
                cpu.wait_until(self.word, LOCKED, self.relax, free).await;
            }
            if cpu.swap(self.word, LOCKED, LOCKED).await & LOCKED == 0 {
                return cpu.won();
            }
            cpu.retried();
            backoff.relax(cpu);
        }
    }
}

async fn body(cpu: Cpu, lock: TestAndSetLock) {
    while cpu.again() {
        cpu.begin();
        lock.lock(&cpu).await;
        lock.section.run(&cpu).await;
        cpu.store(lock.word, LOCKED, 0).await;
        cpu.end();
        cpu.work(lock.section.parallel);
    }
}
