//! Three threads create, exchange, upgrade and drop Arcs while the mode flips: every value is dropped once and every
//! byte is freed. The twin, elided on two CPUs, loses counts.
//!
//! `CYCLEWISE_FLIPS` sets how often the mode is entered and left.

use crate::common::cpu::{allowed_cpus, pin, run_before_others};
use crate::common::harness::{Check, checks};
use crate::common::length::rounds;
use crate::common::text::poke;
use cyclewise::patch::{self, confined, sites};
use cyclewise::refs::{Arc, Weak};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64};
use std::time::Duration;

const THREADS: usize = 3;
/// Bytes of a value in addition to its word: they make its allocation's size unique here.
const BULK: usize = 3000;

pub(crate) const CHECKS: &[Check] = checks![nothing_is_leaked_or_dropped_twice, twin_elided_on_two_cpus_loses_count,];

/// The system's allocator, which counts the values' memory.
struct Counting;

static BLOCKS: AtomicI64 = AtomicI64::new(0);

/// Two counts, and the value. (Lists of sites, which are never freed, may be about as large.)
fn is_value(layout: Layout) -> bool {
    layout.size() == 2 * size_of::<usize>() + size_of::<Canary>()
}

// SAFETY: forwards every call to System.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BLOCKS.fetch_add(i64::from(is_value(layout)), Relaxed);
        // SAFETY: the caller's contract is System's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BLOCKS.fetch_sub(i64::from(is_value(layout)), Relaxed);
        // SAFETY: the caller's contract is System's.
        unsafe { System.dealloc(pointer, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static MADE: AtomicU64 = AtomicU64::new(0);
static DROPPED: AtomicU64 = AtomicU64::new(0);

const ALIVE: u64 = 0xa11e;

/// A value that records whether it is alive.
struct Canary {
    alive: AtomicU64,
    _bulk: [u8; BULK],
}

impl Canary {
    fn make() -> Arc<Self> {
        MADE.fetch_add(1, Relaxed);
        Arc::new(Self {
            alive: AtomicU64::new(ALIVE),
            _bulk: [0; BULK],
        })
    }

    fn check(&self) {
        assert_eq!(self.alive.load(Relaxed), ALIVE, "a reference to a value that is gone");
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        assert_eq!(self.alive.swap(0, Relaxed), ALIVE, "dropped twice");
        DROPPED.fetch_add(1, Relaxed);
    }
}

/// A slot through which threads exchange references.
#[derive(Default)]
struct Slots([AtomicPtr<Canary>; 8]);

impl Slots {
    /// Stores a reference and takes the previous one.
    fn exchange(&self, at: usize, with: Option<Arc<Canary>>) -> Option<Arc<Canary>> {
        let with = with.map_or(null_mut(), |arc| Arc::into_raw(arc).cast_mut());
        let found = self.0[at % 8].swap(with, AcqRel);
        // SAFETY: came from into_raw above, and only this thread took it out.
        (!found.is_null()).then(|| unsafe { Arc::from_raw(found) })
    }
}

/// Creates, exchanges, upgrades and drops references until the stop flag is set.
fn work(slots: &Slots, shared: &Arc<Canary>, stop: &AtomicBool) {
    let (mut at, mut weak) = (0, Weak::new());
    while !stop.load(Relaxed) {
        let mine = Canary::make();
        let upgraded: Option<Arc<Canary>> = weak.upgrade();
        weak = Arc::downgrade(&mine);
        for reference in [mine.clone(), shared.clone(), mine] {
            at += 3;
            if let Some(other) = slots.exchange(at, Some(reference)) {
                other.check();
            }
        }
        if let Some(last) = upgraded {
            last.check();
        }
    }
}

struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Runs the threads, pinned to CPUs in turn where given, until `beside` returns.
fn beside(work: impl Fn(&AtomicBool) + Sync, cpus: Option<&[usize]>, beside: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (work, stop) = (&work, &stop);
            scope.spawn(move || {
                if let Some(cpus) = cpus {
                    pin(cpus[thread % cpus.len()]);
                }
                work(stop);
            });
        }
        let _stop = Stop(&stop);
        beside();
    });
}

fn flip(times: u64, cpus: &[usize]) {
    for flip in 0..times {
        // SAFETY: only the library sets affinities in the mode, and no atomics are shared with other processes.
        let guard = unsafe { confined::enter(Some(cpus[flip as usize % cpus.len()] as u32)) }.unwrap();
        if flip % 16 == 0 {
            std::thread::sleep(Duration::from_micros(50));
        }
        guard.leave().unwrap();
        if flip % 16 == 8 {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

fn nothing_is_leaked_or_dropped_twice() {
    let cpus = allowed_cpus();
    let mut flips = rounds("CYCLEWISE_FLIPS", 1_000, 5_000);
    let _ = crate::enable();
    patch::lock().unwrap();
    let slots = Slots::default();
    let shared = Canary::make();
    beside(
        |stop| work(&slots, &shared, stop),
        None,
        || {
            if !run_before_others() {
                flips = flips.div_ceil(100);
                println!("SCHED_FIFO is not allowed here: {flips} flips");
            }
            flip(flips, &cpus);
            // Even where a busy machine seldom runs the threads.
            while MADE.load(Relaxed) <= flips / 10 {
                flip(16, &cpus);
            }
        },
    );
    (0..8).for_each(|at| drop(slots.exchange(at, None)));
    assert_eq!((Arc::strong_count(&shared), Arc::weak_count(&shared)), (1, 0));
    drop(shared);
    let (made, dropped) = (MADE.load(Relaxed), DROPPED.load(Relaxed));
    println!("{flips} flips, {made} values made and {dropped} dropped");
    assert_eq!(made, dropped);
    assert_eq!(BLOCKS.load(Relaxed), 0, "blocks of memory that are left");
}

fn twin_elided_on_two_cpus_loses_count() {
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        println!("skipped: one CPU, so nothing can be lost");
        return;
    }
    // Enough references that no loss brings the count near zero.
    const HELD: usize = 10_000_000;
    let shared = Arc::new(1u64);
    (0..HELD).for_each(|_| std::mem::forget(shared.clone()));
    // Retried: a busy machine may run the threads on one CPU for a while.
    for _ in 0..100 {
        let before = Arc::strong_count(&shared);
        beside(
            |stop| {
                while !stop.load(Relaxed) {
                    std::hint::black_box(shared.clone());
                }
            },
            Some(&cpus),
            || {
                sites().for_each(|site| poke(site.address(), &[0x3e]));
                std::thread::sleep(Duration::from_millis(50));
                sites().for_each(|site| poke(site.address(), &[0xf0]));
            },
        );
        let after = Arc::strong_count(&shared);
        if after != before {
            println!("{before} references became {after}");
            return;
        }
    }
    panic!("the harness does not see lost counts");
}
