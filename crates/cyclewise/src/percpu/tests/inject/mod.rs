//! A signal at every step of every sequence. Its handler changes the same words: the sequence restarts, and sums and lists are
//! exact. The twin without a descriptor loses the handler's changes.
//!
//! In this build each step has an `int3` after a compare. The trap is a signal, for which the kernel aborts the sequence;
//! every other time the handler moves the thread to another CPU.
//!
//! # Safety
//! The handler uses only atomics, per-CPU words and sched_setaffinity.
#![expect(unsafe_code, reason = "a signal handler, and words by address")]

mod lists;

use crate::arch::rseq;
use crate::percpu::{Backend, Cid, Cpu, CurrentSlot, Guard, Index, NEVER, Outcome, PerCpu, Slot, backend};
use crate::sys::affinity::CpuSet;
use crate::sys::for_tests::handle;
use crate::sys::thread;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::vec::Vec;

/// The active injection point; the sequences compare with it.
#[unsafe(no_mangle)]
static cyclewise_point: AtomicU32 = AtomicU32::new(0);

/// The injection points of the sequences.
const POINTS: core::ops::RangeInclusive<u32> = 1..=6;

/// How often the handler has run in the injecting thread.
pub(super) static HITS: AtomicU64 = AtomicU64::new(0);
/// The handler's work.
static WORK: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());
/// The thread that injects; others pass the points.
static THREAD: AtomicU32 = AtomicU32::new(0);

extern "C" fn trap(_: i32) {
    let left = cyclewise_point.load(Relaxed);
    // Another thread trapped as it passed the point: its sequence restarts, as after any signal.
    if THREAD.load(Relaxed) != thread::id() as u32 {
        return;
    }
    cyclewise_point.store(0, Relaxed);
    let n = HITS.fetch_add(1, Relaxed);
    let work = WORK.load(Relaxed);
    if !work.is_null() {
        // SAFETY: set from a function of this type.
        let work: fn() = unsafe { core::mem::transmute(work) };
        work();
    }
    if n % 2 == 1 {
        move_on();
    }
    // Sometimes twice at the same point: a restarted sequence restarts too.
    cyclewise_point.store(if n.is_multiple_of(3) { left } else { 0 }, Relaxed);
}

/// Moves the thread to another CPU, if there is one.
fn move_on() {
    let Ok(all) = CpuSet::current() else { return };
    let here = CurrentSlot::now().slot().number();
    let others = (0..1024).filter(|&cpu| cpu != here && all.has(cpu));
    // The first that is online.
    if others
        .filter_map(|cpu| CpuSet::one(cpu).ok())
        .any(|one| one.apply().is_ok())
    {
        let _ = all.apply();
    }
}

/// Installs the handler with this work, for one test at a time. `None` with the portable backend.
pub(super) fn injecting(work: fn()) -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(|e| e.into_inner());
    if backend().backend != Backend::Rseq {
        std::println!("skipped: {}", backend());
        return None;
    }
    WORK.store(work as *mut (), Relaxed);
    HITS.store(0, Relaxed);
    THREAD.store(thread::id() as u32, Relaxed);
    // The handler's own sequences do not trap: the point is 0 while it runs.
    handle(libc::SIGTRAP, trap);
    Some(guard)
}

/// Runs `step` with each point active, and returns the points that were hit.
pub(super) fn at_every_point(mut step: impl FnMut()) -> Vec<u32> {
    let mut hit = Vec::new();
    for point in POINTS {
        let before = HITS.load(Relaxed);
        for _ in 0..12 {
            cyclewise_point.store(point, Relaxed);
            step();
            cyclewise_point.store(0, Relaxed);
        }
        if HITS.load(Relaxed) != before {
            hit.push(point);
        }
    }
    hit
}

static BY_CPU: crate::percpu::StaticPerCpu<u64> = crate::percpu::StaticPerCpu::new();
static BY_CID: crate::percpu::StaticPerCpu<u64, Cid> = crate::percpu::StaticPerCpu::new();

/// The amount that the handler adds, to tell its additions from the test's.
pub(super) const THEIRS: u64 = 1 << 32;

#[test]
fn additions_are_exact_at_every_step() {
    let work = || {
        BY_CPU.add(THEIRS);
        BY_CID.add(THEIRS);
    };
    let Some(_guard) = injecting(work) else { return };
    let before = (BY_CPU.sum(), BY_CID.sum());
    let mut mine = 0;
    let hit = at_every_point(|| {
        BY_CPU.add(1);
        BY_CID.add(1);
        BY_CPU.add_return(2);
        BY_CID.add_return(2);
        mine += 3;
    });
    assert_eq!(hit, [1, 2, 3]);
    let expected = mine + HITS.load(Relaxed) * THEIRS;
    assert_eq!(BY_CPU.sum() - before.0, expected);
    assert_eq!(BY_CID.sum() - before.1, expected);
}

static XCHG: crate::percpu::StaticPerCpu<u64> = crate::percpu::StaticPerCpu::new();

#[test]
fn exchanges_lose_nothing_at_every_step() {
    let Some(_guard) = injecting(|| XCHG.add(THEIRS)) else {
        return;
    };
    let before = XCHG.sum();
    // The value found is added back, so each step adds exactly 1 to the sum.
    let hit = at_every_point(|| XCHG.add(XCHG.xchg(0) + 1));
    assert_eq!(hit, [1, 2, 3, 4]);
    assert_eq!(XCHG.sum() - before, 72 + HITS.load(Relaxed) * THEIRS);
}

#[test]
fn the_twin_without_a_descriptor_loses_the_handlers_work() {
    static TWIN: AtomicU64 = AtomicU64::new(0);
    let Some(_guard) = injecting(|| TWIN.store(TWIN.load(Relaxed) + THEIRS, Relaxed)) else {
        return;
    };
    let hit = at_every_point(|| {
        // SAFETY: a word of this test's, and a trap that is handled.
        unsafe { rseq::injection::unprotected::add(TWIN.as_ptr()) }
    });
    assert_eq!(hit, [4]);
    let lost = 72 + HITS.load(Relaxed) * THEIRS - TWIN.load(Relaxed);
    assert_eq!(
        lost,
        HITS.load(Relaxed) * THEIRS,
        "every addition of the handler is lost"
    );
}

/// The head of each CPU's list.
static HEADS: crate::percpu::StaticPerCpu<u64> = crate::percpu::StaticPerCpu::new();

/// The next node's address, and nothing else.
type Node = u64;

fn push(node: *mut Node) {
    loop {
        let here = CurrentSlot::now();
        let head = HEADS.slot_ptr(here.slot());
        let first = HEADS.get(here.slot());
        // SAFETY: the caller's until it is pushed.
        unsafe { node.write_volatile(first) };
        // SAFETY: this slot's word.
        if unsafe { here.load_cbne_store(&NEVER, head, first, node.expose_provenance() as u64) } == Outcome::Done {
            return;
        }
    }
}

fn pop() -> Option<*mut Node> {
    let mut popped = 0;
    loop {
        let here = CurrentSlot::now();
        let head = HEADS.slot_ptr(here.slot());
        // SAFETY: this slot's list, whose nodes are never freed.
        match unsafe { here.load_cbeq_store_add_load_store(&NEVER, head, 0, 0, &raw mut popped) } {
            Outcome::Done => return Some(core::ptr::with_exposed_provenance_mut(popped as usize)),
            Outcome::Ne => return None,
            _ => {}
        }
    }
}

/// The nodes of all lists, sorted by address. No thread pushes or pops meanwhile.
fn drained() -> Vec<usize> {
    let mut all = Vec::new();
    for slot in Slot::all() {
        let mut at = HEADS.get(slot) as usize;
        while at != 0 {
            all.push(at);
            // SAFETY: a node that is never freed.
            at = unsafe { core::ptr::with_exposed_provenance::<Node>(at).read() } as usize;
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn lists_neither_lose_nor_duplicate_a_node_at_any_step() {
    // The handler pops two nodes and pushes them in the opposite order: ABA for a pop that only compares the head.
    let work = || {
        let (a, b) = (pop(), pop());
        a.into_iter().chain(b).for_each(push);
    };
    let Some(_guard) = injecting(work) else { return };
    let nodes: &'static mut [Node; 16] = std::boxed::Box::leak(std::boxed::Box::new([0; 16]));
    let mut mine: Vec<usize> = nodes.iter_mut().map(|n| (&raw mut *n).expose_provenance()).collect();
    nodes.iter_mut().for_each(|n| push(&raw mut *n));
    let hit = at_every_point(|| {
        // The handler may have moved the thread to a CPU whose list is empty.
        let one = pop().or_else(|| {
            move_on();
            pop()
        });
        let two = pop();
        one.into_iter().chain(two).for_each(push);
    });
    assert_eq!(hit, [1, 2, 3, 4, 5, 6]);
    mine.sort_unstable();
    assert_eq!(drained(), mine);
}

/// Every other sequence of `CurrentSlot`, on a variable of a value, a second word and a buffer.
fn sequences<I: Index>() {
    static WORDS: crate::percpu::StaticPerCpu<[u64; 8]> = crate::percpu::StaticPerCpu::new();
    static TABLE: crate::percpu::StaticPerCpu<[u64; 8], Cid> = crate::percpu::StaticPerCpu::new();
    fn word_of<I: Index>(here: &CurrentSlot<I>) -> *mut u64 {
        let by_cpu = core::any::TypeId::of::<I>() == core::any::TypeId::of::<Cpu>();
        if by_cpu {
            WORDS.slot_ptr(here.slot()).cast()
        } else {
            TABLE.slot_ptr(here.slot()).cast()
        }
    }
    fn add<I: Index>(amount: u64) {
        loop {
            let here = CurrentSlot::<I>::by_index();
            // SAFETY: this slot's word.
            if unsafe { here.load_add_store(&NEVER, word_of(&here), amount) } == Outcome::Done {
                return;
            }
        }
    }
    let sum = |word: usize| -> u64 {
        let copies = Slot::all().map(|slot| {
            let by_cpu = core::any::TypeId::of::<I>() == core::any::TypeId::of::<Cpu>();
            if by_cpu {
                WORDS.slot_ptr(slot).cast::<u64>()
            } else {
                TABLE.slot_ptr(slot).cast()
            }
        });
        // SAFETY: a word of each slot; no other thread uses it.
        copies
            .map(|at| unsafe { at.wrapping_add(word).read() })
            .fold(0, u64::wrapping_add)
    };
    let work = || add::<I>(THEIRS);
    let Some(_guard) = injecting(work) else { return };
    let before = sum(0);
    let mut mine = 0;
    let mut outcomes = Vec::new();
    let hit = at_every_point(|| {
        add::<I>(1);
        mine += 1;
        // The first three also add one, by compare and store, so none may be lost or repeated.
        for kind in 0..4 {
            loop {
                let here = CurrentSlot::<I>::by_index();
                let v = word_of(&here);
                // SAFETY: this slot's word, loaded as the sequences store it.
                let found = unsafe { AtomicU64::from_ptr(v) }.load(Relaxed);
                let (second, buffer) = (v.wrapping_add(1), v.wrapping_add(2));
                let source = [found, !found, 3];
                let new = found.wrapping_add(1);
                let entry = v.expose_provenance() as u64;
                let table = [0, (&raw const entry).expose_provenance() as u64];
                let outcome = match kind {
                    // SAFETY: this slot's words.
                    0 => unsafe { here.load_cbne_store_store_release(&NEVER, v, found, second, new, new) },
                    // SAFETY: this slot's words, and a source of the test's own.
                    1 => unsafe { here.load_cbne_memcpy_store(&NEVER, v, found, buffer, source.as_ptr(), 3, new) },
                    // SAFETY: this slot's words, and a source of the test's own.
                    2 => unsafe { here.load_cbne_load_cbne_store(&NEVER, v, found, &raw const source[0], found, new) },
                    // SAFETY: this slot's words; the table points to this slot's word.
                    _ => unsafe {
                        let at = (&raw const table[1]).expose_provenance() as u64;
                        here.load_add_load_load_add_store(&NEVER, &at, 0, 0)
                    },
                };
                outcomes.push(outcome);
                if outcome == Outcome::Done {
                    mine += u64::from(kind < 3);
                    break;
                }
            }
        }
    });
    assert_eq!(hit, [1, 2, 3, 4, 5, 6]);
    assert_eq!(sum(0) - before, mine + HITS.load(Relaxed) * THEIRS);
    assert!(outcomes.contains(&Outcome::Ne), "the handler has made a compare fail");
}

#[test]
fn sequences_by_cpu_are_exact_at_every_step() {
    sequences::<Cpu>();
}

#[test]
fn sequences_by_cid_are_exact_at_every_step() {
    sequences::<Cid>();
}

#[test]
fn a_sequence_on_another_cpu_returns_moved() {
    let v = PerCpu::<u64>::new();
    let Some(_guard) = injecting(move_on) else { return };
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        std::println!("skipped: one CPU");
        return;
    }
    let mut outcomes = Vec::new();
    for _ in 0..20 {
        let here = CurrentSlot::now();
        cyclewise_point.store(3, Relaxed);
        // SAFETY: the word of the slot that `here` names.
        outcomes.push(unsafe { here.load_add_store(&NEVER, v.slot_ptr(here.slot()), 1) });
        cyclewise_point.store(0, Relaxed);
    }
    assert!(outcomes.contains(&Outcome::Moved), "{outcomes:?}");
    let done = outcomes.iter().filter(|&&o| o == Outcome::Done).count();
    assert_eq!(v.sum(), done as u64);
}

#[test]
fn a_guard_stops_the_slots_own_threads() {
    let Some(_guard) = injecting(|| {}) else { return };
    let (v, guard) = (PerCpu::<u64>::new(), PerCpu::<Guard>::new());
    for slot in Slot::all() {
        // SAFETY: the guard lives as long as the variable.
        let word = unsafe { &*guard.slot_ptr(slot) };
        let stopped = slot.stop::<Cpu>(word).unwrap().expect("not stopped yet");
        assert!(slot.stop::<Cpu>(word).unwrap().is_none());
        let here = CurrentSlot::now();
        // SAFETY: the guard lives as long as the variable.
        let mine = unsafe { &*guard.slot_ptr(here.slot()) };
        // SAFETY: this slot's word.
        let outcome = unsafe { here.load_add_store(mine, v.slot_ptr(here.slot()), 1) };
        assert_eq!(
            outcome == Outcome::Stopped,
            here.slot() == slot && outcome != Outcome::Moved
        );
        drop(stopped);
        assert_eq!(word.word().load(Relaxed), 0);
    }
}
