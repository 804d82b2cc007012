//! The test-and-set lock, which exchanges until the lock was free, and the test-and-test-and-set lock, which loads until the lock
//! is free before each exchange.

use super::super::setup::Memory;
use super::SpinLock;
use crate::engine::{Backoff, Cpu, LineId};
use crate::workload::{Job, Relax, Workload};

const LOCKED: u64 = 1 << 32;

#[derive(Clone)]
pub(in super::super) struct TestAndSetLock {
    word: LineId,
    relax: Relax,
    tests_first: bool,
}

impl SpinLock for TestAndSetLock {
    type Held = ();

    fn allocate(job: &Job, memory: &mut Memory) -> Self {
        Self {
            word: memory.line(0),
            relax: job.relax,
            tests_first: job.workload == Workload::LockTtas,
        }
    }

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

    async fn unlock(&self, cpu: &Cpu, (): ()) {
        cpu.store(self.word, LOCKED, 0).await;
    }
}
