//! Opens, reads and closes one file on every CPU: the workload of the LKML thread about ThunderX2.
//!
//! Opening takes a reference to the directory entry (a lockref), a reference to the security module's data (a refcount), and a
//! descriptor under the descriptor table's spinlock. Closing releases all three. Each process has its own table; threads share
//! one, whose lock lets only a few at a time reach the entry. The parallel work is the rest of the system calls, in equal parts
//! between the accesses. The critical work is under the table's lock.
//!
//! # References
//! J. Glauber, L. Torvalds, J. C. Nair and others, "Disable lockref on arm64", 2019; Linux 5.2, `fs/file.c`.

use super::lockref::LockRef;
use super::queued::Queued;
use super::refcount;
use super::setup::{Expected, LOW, Lines, Memory, Start, low, start};
use crate::engine::{Cpu, LineId};
use crate::workload::{Job, Workload};

#[derive(Clone)]
struct OpenFile {
    entry: LockRef,
    count: LineId,
    tables: Tables,
    critical: u32,
    parallel: u32,
}

/// The descriptor tables.
#[derive(Clone, Copy)]
enum Tables {
    /// One for all threads.
    Shared(Queued),
    /// One per process.
    Own(Lines),
}

impl Tables {
    fn of(self, thread: u32) -> Queued {
        match self {
            Self::Shared(table) => table,
            Self::Own(words) => Queued::uncontended(words.at(thread)),
        }
    }
}

/// The parallel work has this many parts: before the descriptor is taken, for the path walk, two for the read, and before and
/// after the descriptor is released.
const PARTS: u32 = 6;

/// The initial number of descriptors in use.
const DESCRIPTORS: u64 = 3;

pub(super) fn prepare(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let entry = LockRef::new(job, memory, 1);
    let count = memory.line(1);
    let tables = match job.workload {
        Workload::OpenReadCloseThreads | Workload::OpenReadCloseThreadsQueued => {
            Tables::Shared(Queued::new(job, memory, DESCRIPTORS))
        }
        _ => Tables::Own(memory.lines(job.threads, DESCRIPTORS)),
    };
    let expected = {
        let entry = entry.lock.word;
        move |_| {
            let words: Vec<LineId> = match tables {
                Tables::Shared(table) => vec![table.word],
                Tables::Own(words) => words.iter().collect(),
            };
            let tables = words.into_iter().map(|word| low(word, DESCRIPTORS));
            [low(entry, 1), low(count, 1)].into_iter().chain(tables).collect()
        }
    };
    let file = OpenFile {
        entry,
        count,
        tables,
        critical: job.critical_cycles,
        parallel: job.parallel_cycles / PARTS,
    };
    (start(file, body), Box::new(expected))
}

impl OpenFile {
    /// Takes a descriptor (`by` is 1) or releases it (`by` is −1).
    async fn descriptor(&self, cpu: &Cpu, by: u64) {
        let table = self.tables.of(cpu.thread());
        table.lock(cpu).await;
        let used = cpu.load_to_write(table.word, LOW).await;
        cpu.work(self.critical);
        cpu.store(table.word, LOW, used + by).await;
        table.unlock(cpu).await;
    }

    async fn open(&self, cpu: &Cpu) {
        cpu.work(self.parallel);
        self.descriptor(cpu, 1).await;
        cpu.work(self.parallel);
        self.entry.get(cpu).await;
        refcount::inc(cpu, self.count).await;
    }

    async fn close(&self, cpu: &Cpu) {
        cpu.work(self.parallel);
        self.descriptor(cpu, LOW).await;
        cpu.work(self.parallel);
        refcount::dec_and_test(cpu, self.count).await;
        self.entry.put(cpu).await;
    }
}

async fn body(cpu: Cpu, file: OpenFile) {
    while cpu.again() {
        cpu.begin();
        file.open(&cpu).await;
        // The read.
        cpu.work(file.parallel);
        cpu.work(file.parallel);
        file.close(&cpu).await;
        cpu.end();
    }
}
