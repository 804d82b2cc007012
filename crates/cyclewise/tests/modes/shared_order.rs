//! Two processes order std's atomics in shared memory by our fence and by our sequentially consistent store, while both
//! have LOCK elided.
//!
//! Store buffering: each process stores to its own word and then loads the other's. With a barrier between them at least
//! one sees the other's store. The twin has an elided read-modify-write there, which is no barrier. All three take turns
//! in one run, so reordering that the twin shows would also have shown without the others' barriers.

use crate::common::child::{fork, wait_for};
use crate::common::cpu::{allowed_cpus, pin};
use crate::common::harness::{Check, checks};
use cyclewise::atomic;
use cyclewise::patch::{Mode, state};
use std::hint::spin_loop;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::time::{Duration, Instant};

pub(crate) const CHECKS: &[Check] = checks![fences_and_stores_order_shared_memory_while_elided,];

/// The operation between the store and the load; the last is the twin.
const KINDS: [&str; 3] = ["fence", "store", "read-modify-write"];
const TWIN: usize = 2;

/// How often the twin must reorder before the result counts.
const ENOUGH: u32 = 100;

/// When the machine is assumed not to reorder, like an emulator that runs one processor at a time.
const LIMIT: Duration = Duration::from_secs(120);

/// A word on its own cache lines.
#[repr(align(256))]
struct Line(AtomicU32);

/// Memory that the processes share. The kernel's zeroes are the initial state.
struct Shared {
    /// Each process's store, the number of the round.
    words: [Line; 2],
    /// The round that each process has reached.
    arrived: [Line; 2],
    /// The round that each process has completed, and whether it saw the other's store.
    done: [Line; 2],
    saw: [Line; 2],
    over: Line,
}

impl Shared {
    fn map() -> &'static Self {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let prot = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a free address.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<Self>(), prot, flags, -1, 0) };
        assert_ne!(at, libc::MAP_FAILED);
        // SAFETY: mapped for ever, aligned to a page and zero; the words are atomics of std's.
        unsafe { &*at.cast::<Self>() }
    }

    fn round(&self, me: usize, round: u32, own: &atomic::AtomicU32) {
        let other = 1 - me;
        self.arrived[me].0.store(round, SeqCst);
        wait(|| self.arrived[other].0.load(SeqCst) >= round);
        self.words[me].0.store(round, Relaxed);
        match round as usize % KINDS.len() {
            0 => atomic::fence(SeqCst),
            1 => own.store(1, SeqCst),
            _ => own.or(0, SeqCst),
        }
        let saw = self.words[other].0.load(Relaxed) == round;
        self.saw[me].0.store(u32::from(saw), Relaxed);
        // Release: pairs with the Acquire in `saw_nothing`.
        self.done[me].0.store(round, Release);
    }

    /// Whether neither saw the other in this round, which the other process has begun.
    fn saw_nothing(&self, round: u32) -> bool {
        // Acquire: pairs with the Release in `round`.
        wait(|| self.done.iter().all(|done| done.0.load(Acquire) >= round));
        self.saw.iter().all(|saw| saw.0.load(Relaxed) == 0)
    }
}

/// Spins, and yields after a while: the other process may not be running.
fn wait(is_there: impl Fn() -> bool) {
    for spins in 0_u32.. {
        if is_there() {
            return;
        }
        if spins > 10_000 {
            std::thread::yield_now();
        } else {
            spin_loop();
        }
    }
}

fn fences_and_stores_order_shared_memory_while_elided() {
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        println!("skipped: one CPU sees its own accesses in order");
        return;
    }
    let shared = Shared::map();
    let own = atomic::AtomicU32::new(0);
    // Only the twin relies on the ordering that it shows to be missing.
    let enabled = crate::enable();
    // `single` tests refusals.
    if let Err(refusal) = enabled {
        println!("skipped: {refusal}");
        return;
    }
    let is_elided = || {
        let now = state();
        assert_eq!((now.mode, now.elided), (Mode::Single, now.sites));
    };
    let child = fork(|| {
        is_elided();
        // SAFETY: takes numbers. If the parent fails, the signal ends the child's rounds.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        pin(cpus[1]);
        for round in 1.. {
            shared.round(1, round, &own);
            wait(|| shared.over.0.load(Acquire) == 1 || shared.arrived[0].0.load(SeqCst) > round);
            if shared.over.0.load(Acquire) == 1 {
                break;
            }
        }
    });
    is_elided();
    pin(cpus[0]);
    let start = Instant::now();
    let mut reordered = [0; KINDS.len()];
    let mut rounds = 0;
    while reordered[TWIN] < ENOUGH && (rounds % 1000 != 0 || start.elapsed() < LIMIT) {
        rounds += 1;
        shared.round(0, rounds, &own);
        reordered[rounds as usize % KINDS.len()] += u32::from(shared.saw_nothing(rounds));
    }
    shared.over.0.store(1, Release);
    wait_for(child).unwrap();
    println!("{rounds} rounds, neither saw the other: {KINDS:?} {reordered:?}");
    assert_eq!(reordered[..TWIN], [0, 0], "{KINDS:?}");
    if reordered[TWIN] < ENOUGH {
        println!("skipped: this machine hardly reorders, so the run proves little");
    }
}
