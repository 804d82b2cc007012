//! Open, read and close one file from every CPU: the three lines that the mail on ThunderX2 is about.
//!
//! Opening takes a reference to the directory entry, which is a lockref; a reference to what the security module keeps,
//! which is a refcount; and a descriptor, under the table's spinlock. Closing gives all three back. Processes have a table
//! each, threads share one, and then its lock lets them come to the entry few at a time. The parallel work is
//! what the system calls do besides, in equal parts between what they share. The critical work is done under the
//! table's lock.
//!
//! # References
//! J. Glauber, L. Torvalds, J. C. Nair and others, "Disable lockref on arm64", 2019; Linux 5.2, `fs/file.c`.

use super::lockref::LockRef;
use super::queued::Queued;
use super::{After, LOW, Memory, Start, low, refcount, start};
use crate::engine::{Cpu, Line};
use crate::workload::{Job, Relax, Workload};

#[derive(Clone)]
struct Shared {
    entry: LockRef,
    count: Line,
    count_loops: bool,
    /// One for each, or one for all.
    tables: Vec<Queued>,
    relax: Relax,
    critical: u32,
    parallel: u32,
}

/// The parallel work is in so many parts: before the descriptor is taken, for the path's walk, twice for the read, and
/// before and after the descriptor is given back.
const PARTS: u32 = 6;

/// Descriptors in use are counted from here.
const DESCRIPTORS: u64 = 3;

pub(super) fn plan(job: &Job, memory: &mut Memory) -> (Start, After) {
    let entry = LockRef::new(job, memory, 1);
    let count = memory.line(1);
    let tables: Vec<_> = match job.workload {
        Workload::OpenReadCloseThreads | Workload::OpenReadCloseThreadsQueued => {
            vec![Queued::new(job, memory, DESCRIPTORS)]
        }
        _ => (0..job.threads).map(|_| Queued::alone(memory, DESCRIPTORS)).collect(),
    };
    let after = {
        let entry = entry.lock.word;
        let words: Vec<_> = tables.iter().map(|table| table.word).collect();
        move |_| {
            let tables = words.iter().map(|&word| low(word, DESCRIPTORS));
            [low(entry, 1), low(count, 1)].into_iter().chain(tables).collect()
        }
    };
    let shared = Shared {
        entry,
        count,
        count_loops: matches!(
            job.workload,
            Workload::OpenReadCloseFull | Workload::OpenReadCloseQueuedFull
        ),
        tables,
        relax: job.relax,
        critical: job.critical_cycles,
        parallel: job.parallel_cycles / PARTS,
    };
    (start(shared, body), Box::new(after))
}

impl Shared {
    /// Takes a descriptor, or with the count less than one, gives it back.
    async fn descriptor(&self, cpu: &Cpu, by: u64) {
        let table = &self.tables[cpu.thread() as usize % self.tables.len()];
        table.lock(cpu).await;
        let used = cpu.load_to_write(table.word).await;
        cpu.work(self.critical);
        cpu.store(table.word, LOW, used + by).await;
        table.unlock(cpu).await;
    }

    async fn open(&self, cpu: &Cpu) {
        cpu.work(self.parallel);
        self.descriptor(cpu, 1).await;
        cpu.work(self.parallel);
        self.entry.get(cpu).await;
        if self.count_loops {
            refcount::add_not_zero(cpu, self.count, self.relax).await;
        } else {
            refcount::inc(cpu, self.count).await;
        }
    }

    async fn close(&self, cpu: &Cpu) {
        cpu.work(self.parallel);
        self.descriptor(cpu, LOW).await;
        cpu.work(self.parallel);
        if self.count_loops {
            refcount::sub_and_test(cpu, self.count, self.relax).await;
        } else {
            refcount::dec_and_test(cpu, self.count).await;
        }
        self.entry.put(cpu).await;
    }
}

async fn body(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        shared.open(&cpu).await;
        // The read.
        cpu.work(shared.parallel);
        cpu.work(shared.parallel);
        shared.close(&cpu).await;
        cpu.end();
    }
}
