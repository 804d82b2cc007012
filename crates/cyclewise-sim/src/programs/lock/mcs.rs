//! The MCS lock: a queue of waiters, each of which spins on its own line until its predecessor hands over the lock.
//!
//! # References
//! J. Mellor-Crummey and M. Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors", 1991.

use super::super::setup::{Expected, LOW, Lines, Memory, Start, start};
use super::Section;
use crate::engine::{Cpu, LineId};
use crate::workload::{Job, Relax};

/// In the lock's line: the number of the queue's last waiter, plus one.
const TAIL: u64 = !LOW;
const TAIL_SHIFT: u32 = 32;
/// In a waiter's own line: the predecessor has handed over the lock.
const HANDED_OVER: u64 = 1 << 32;
/// In a waiter's own line: the successor's number plus one.
const NEXT: u64 = LOW;

#[derive(Clone)]
struct McsLock {
    word: LineId,
    nodes: Lines,
    relax: Relax,
    section: Section,
}

pub(in super::super) fn prepare(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let word = memory.line(0);
    let section = Section::new(job, memory);
    let lock = McsLock {
        word,
        nodes: memory.lines(job.threads, 0),
        relax: job.relax,
        section,
    };
    (start(lock, body), section.expected())
}

async fn body(cpu: Cpu, lock: McsLock) {
    let number = u64::from(cpu.thread()) + 1;
    let node = lock.nodes.at(cpu.thread());
    let line = |number: u64| lock.nodes.at(u32::try_from(number - 1).expect("a thread's number"));
    while cpu.again() {
        cpu.begin();
        cpu.store(node, NEXT | HANDED_OVER, 0).await;
        let before = cpu.swap(lock.word, TAIL, number << TAIL_SHIFT).await >> TAIL_SHIFT;
        if before != 0 {
            cpu.store(line(before), NEXT, number).await;
            let handed_over = |own| own & HANDED_OVER != 0;
            cpu.wait_until(node, HANDED_OVER, lock.relax, handed_over).await;
        }
        lock.section.run(&cpu).await;
        let mut own = cpu.load(node, NEXT).await;
        if own & NEXT == 0 && cpu.cas(lock.word, TAIL, number << TAIL_SHIFT, 0).await.is_err() {
            own = cpu.wait_until(node, NEXT, lock.relax, |own| own & NEXT != 0).await;
        }
        if own & NEXT != 0 {
            cpu.store(line(own & NEXT), HANDED_OVER, HANDED_OVER).await;
        }
        cpu.end();
        cpu.work(lock.section.parallel);
    }
}
