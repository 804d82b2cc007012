//! The MCS lock: a queue of waiters, each of which looks at a line of its own until the one before hands on.
//!
//! # References
//! J. Mellor-Crummey and M. Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors", 1991.

use super::super::{After, LOW, Memory, Start, start};
use super::Section;
use crate::engine::{Cpu, Line};
use crate::workload::{Job, Relax};

/// The high half of the lock's line: the last of the queue, by number and one.
const TAIL: u64 = !LOW;
const TAIL_SHIFT: u32 = 32;
/// In a waiter's own line: the one before has handed on.
const HANDED_ON: u64 = 1 << 32;
/// In a waiter's own line: the one behind, by number and one.
const NEXT: u64 = LOW;

#[derive(Clone)]
struct Shared {
    word: Line,
    nodes: Vec<Line>,
    relax: Relax,
    section: Section,
}

pub(in super::super) fn plan(job: &Job, memory: &mut Memory) -> (Start, After) {
    let word = memory.line(0);
    let section = Section::new(job, memory);
    let shared = Shared {
        word,
        nodes: memory.lines(job.threads, 0),
        relax: job.relax,
        section,
    };
    (start(shared, body), section.after())
}

async fn body(cpu: Cpu, shared: Shared) {
    let number = u64::from(cpu.thread()) + 1;
    let node = shared.nodes[cpu.thread() as usize];
    let line = |number: u64| shared.nodes[usize::try_from(number - 1).expect("a thread's number")];
    while cpu.again() {
        cpu.begin();
        cpu.store(node, NEXT | HANDED_ON, 0).await;
        let before = cpu.swap(shared.word, TAIL, number << TAIL_SHIFT).await >> TAIL_SHIFT;
        if before != 0 {
            cpu.store(line(before), NEXT, number).await;
            let handed_on = |own| own & HANDED_ON != 0;
            cpu.wait_until(node, HANDED_ON, shared.relax, handed_on).await;
        }
        shared.section.run(&cpu).await;
        let mut own = cpu.load(node).await;
        if own & NEXT == 0 && cpu.cas(shared.word, TAIL, number << TAIL_SHIFT, 0).await.is_err() {
            own = cpu.wait_until(node, NEXT, shared.relax, |own| own & NEXT != 0).await;
        }
        if own & NEXT != 0 {
            cpu.store(line(own & NEXT), HANDED_ON, HANDED_ON).await;
        }
        cpu.end();
        cpu.work(shared.section.parallel);
    }
}
