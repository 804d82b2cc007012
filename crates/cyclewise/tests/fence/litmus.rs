//! The store-buffer litmus: a reader stores its word and loads the writer's, the writer the other way round. If the writer does
//! not see a store of the reader's, that reader has to see the writer's.

use crate::common::harness::{Check, checks, no_membarrier};
use crate::common::length::rounds;
use cyclewise::fence;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const CHECKS: &[Check] = checks![
    nobody_is_late,
    nobody_is_late_in_a_child_of_fork,
    no_batch_is_late,
    twin_a_writer_whose_barrier_stays_at_home_is_late,
    twin_two_light_fences_are_late,
];

pub(crate) fn missing() -> Option<&'static str> {
    match thread::available_parallelism() {
        Ok(n) if n.get() > 1 => no_membarrier(),
        _ => Some("one CPU runs one thread at a time, which is never late"),
    }
}

/// Lines of their own.
#[repr(align(128))]
struct Word(AtomicU32);

/// Reads in a round: at most 65 536 loads are remembered.
const READS: u32 = 1 << 16;

/// How often both were late, in a round of `writers` threads with `heavy` and one with `light`.
fn round(light: fn(), heavy: fn(), writers: usize) -> usize {
    // Each writer has a word, which the reader loads in turn.
    let of_writers: Vec<_> = (0..writers).map(|_| Word(AtomicU32::new(0))).collect();
    let of_reader = Word(AtomicU32::new(0));
    let start = Barrier::new(writers + 1);
    let seen = Mutex::new(Vec::new());
    let loads = thread::scope(|scope| {
        for (number, word) in of_writers.iter().enumerate() {
            let (start, seen, of_reader) = (&start, &seen, &of_reader);
            scope.spawn(move || {
                let mut mine = Vec::new();
                start.wait();
                for n in 1.. {
                    word.0.store(n, Relaxed);
                    heavy();
                    let reads = of_reader.0.load(Relaxed);
                    if reads >= READS || n == READS {
                        break;
                    }
                    mine.push((number, n, reads));
                }
                seen.lock().unwrap().extend(mine);
            });
        }
        let mut loads = vec![0; READS as usize + 1];
        start.wait();
        for n in 1..=READS {
            of_reader.0.store(n, Relaxed);
            light();
            loads[n as usize] = of_writers[n as usize % writers].0.load(Relaxed);
        }
        loads
    });
    let late = |&&(number, n, reads): &&(usize, u32, u32)| {
        // The first read of this writer's word that the writer did not see.
        let unseen = (reads + 1..).find(|read| *read as usize % writers == number);
        unseen.is_some_and(|read| read <= READS && loads[read as usize] < n)
    };
    seen.into_inner().unwrap().iter().filter(late).count()
}

fn passes(heavy: fn(), writers: usize) {
    assert!(fence::is_asymmetric());
    let rounds = rounds("CYCLEWISE_FENCE_ROUNDS", 10, 1_000);
    let late: usize = (0..rounds).map(|_| round(fence::light, heavy, writers)).sum();
    assert_eq!(late, 0, "both were late");
}

/// Fails where both are late, within a minute.
fn is_caught(light: fn(), heavy: fn()) {
    let begin = Instant::now();
    while round(light, heavy, 1) == 0 {
        assert!(begin.elapsed() < Duration::from_secs(60), "never late");
    }
}

fn nobody_is_late() {
    passes(fence::heavy, 1);
}

/// The kernel's registration is the parent's.
fn nobody_is_late_in_a_child_of_fork() {
    fence::heavy();
    crate::common::child::in_child(|| passes(fence::heavy, 1)).unwrap();
}

fn no_batch_is_late() {
    passes(fence::heavy_batched, 3);
}

fn twin_a_writer_whose_barrier_stays_at_home_is_late() {
    let light = || fence::Asymmetric::get().unwrap().light();
    is_caught(light, || std::sync::atomic::fence(SeqCst));
}

fn twin_two_light_fences_are_late() {
    is_caught(fence::light, fence::light);
}
