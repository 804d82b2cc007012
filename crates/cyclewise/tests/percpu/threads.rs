//! Per-CPU data in whole processes: signal handlers, forks, and threads pinned to a CPU.
//!
//! Process-wide decisions are tested in a new process (`parts`).

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use crate::common::call;
use crate::common::child::in_child;
use crate::common::signal;
use crate::parts::{BY_CID, HITS, NOT_BY_LIBC, again};
use cyclewise::percpu::{PerCpu, backend};

/// Where we register threads, a handler may be the first in its thread to use per-CPU data.
#[test]
fn a_threads_first_use_may_be_a_handlers() {
    extern "C" fn add(_: i32) {
        HITS.add(1);
    }
    again(&[("handler", NOT_BY_LIBC)], |_| {
        // The process's first use must not be in a handler.
        println!("{}", backend());
        HITS.add(0);
        signal::handle(libc::SIGUSR1, add);
        for _ in 0..200 {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    signal::raise(libc::SIGUSR1);
                    HITS.add(1);
                });
            });
        }
        assert_eq!(HITS.sum(), 400);
    });
}

#[test]
fn a_child_of_a_fork_goes_on_with_copies_of_its_own() {
    fn check() {
        let mine = PerCpu::<u64>::new();
        mine.add(5);
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        HITS.add(1);
                        drop(PerCpu::<u64>::new());
                    }
                });
            }
            for _ in 0..50 {
                let end = in_child(|| {
                    // A thread that the child lacks may have held the lock of the areas.
                    let (before, other) = (HITS.sum(), PerCpu::<u64>::new());
                    for _ in 0..1000 {
                        HITS.add(1);
                        other.add(1);
                        mine.add(1);
                    }
                    assert_eq!((HITS.sum() - before, other.sum(), mine.sum()), (1000, 1000, 1005));
                });
                end.unwrap();
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(mine.sum(), 5, "the children's were theirs");
    }
    again(&[("fork", ""), ("fork", NOT_BY_LIBC)], |_| check());
}

#[test]
fn gs_leads_to_this_cpus_copy_and_is_not_inherited() {
    use cyclewise::error::Refusal;
    use cyclewise::percpu::Pinned;
    let v = PerCpu::<u64>::new();
    let cpu = call::sched_getcpu() as u32;
    // SAFETY: nothing here uses GS.
    let pinned = match unsafe { Pinned::enter(cpu) } {
        Ok(pinned) => pinned,
        Err(refusal) => {
            println!("skipped: {refusal}");
            assert!(matches!(
                refusal,
                Refusal::NoGs | Refusal::GsInUse { .. } | Refusal::System { .. }
            ));
            return;
        }
    };
    assert!(pinned.is_confined());
    // SAFETY: nothing here uses GS; the call is refused.
    assert!(matches!(unsafe { Pinned::enter(cpu) }, Err(Refusal::GsInUse { .. })));
    pinned.inc(&v);
    pinned.add(&v, 41);
    // An rseq sequence may use the same CPU's copy.
    v.add(100);
    assert_eq!(pinned.read(&v), v.get(pinned.slot()));
    // The child inherits the base and the affinity but no `Pinned`, and may create one.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: nothing here uses GS.
            let own = unsafe { Pinned::enter(cpu) }.unwrap();
            own.write(&v, own.add_return(&v, 1));
            own.or(&v, 0);
            own.and(&v, !0);
            let found = own.read(&v);
            assert_eq!(own.cmpxchg(&v, found, found), found);
        });
    });
    assert_eq!(v.sum(), 143);
    drop(pinned);
    // SAFETY: nothing here uses GS. The base is restored, so it can be taken again.
    drop(unsafe { Pinned::enter(cpu) }.unwrap());
}

#[test]
fn signals_whose_handlers_add_lose_nothing() {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    /// Handlers that have begun, and that have ended.
    static BEGUN: AtomicU64 = AtomicU64::new(0);
    static SEEN: AtomicU64 = AtomicU64::new(0);
    extern "C" fn add(_: i32) {
        BEGUN.fetch_add(1, SeqCst);
        HITS.add(1 << 32);
        BY_CID.add(1 << 32);
        SEEN.fetch_add(1, SeqCst);
    }
    again(&[("signals", ""), ("signals", NOT_BY_LIBC)], |_| {
        signal::handle(libc::SIGALRM, add);
        signal::every(libc::SIGALRM, 50);
        let mut mine = 0u64;
        while SEEN.load(SeqCst) < 200 {
            for _ in 0..1000 {
                HITS.add(1);
                BY_CID.add(1);
            }
            mine += 1000;
        }
        signal::every(libc::SIGALRM, 0);
        // Another thread may still be in the last signal's handler. Only a reading that no handler overlapped counts.
        let missing = loop {
            let seen = SEEN.load(SeqCst);
            let expected = mine + (seen << 32);
            let missing = (HITS.sum().wrapping_sub(expected), BY_CID.sum().wrapping_sub(expected));
            if BEGUN.load(SeqCst) == seen {
                break missing;
            }
            std::thread::yield_now();
        };
        assert_eq!(missing, (0, 0));
    });
}

/// A thread's destructors use per-CPU data as usual, in any order: the library registers no thread destructor.
#[test]
fn destructors_of_a_threads_words_use_per_cpu_data() {
    use cyclewise::percpu::{Counter, FreeList};
    use std::cell::RefCell;
    static COUNTER: Counter = Counter::new(0);
    static LIST: std::sync::LazyLock<FreeList<u64>> = std::sync::LazyLock::new(FreeList::new);
    /// Uses per-CPU data when dropped, and creates another value that does the same, and so on.
    struct Last(u32);
    impl Drop for Last {
        fn drop(&mut self) {
            HITS.add(1);
            COUNTER.add(1);
            drop(LIST.pop().unwrap_or_else(|| LIST.grow(0)));
            let own = PerCpu::<u64>::new();
            own.add(1);
            assert_eq!(own.sum(), 1);
            if self.0 > 0 {
                let next = if self.0.is_multiple_of(2) { &EARLY } else { &LATE };
                // Where that destructor has already run, the chain ends: the missing counts are added here.
                if next.try_with(|last| last.replace(Some(Last(self.0 - 1)))).is_err() {
                    HITS.add(u64::from(self.0));
                    COUNTER.add(self.0.into());
                }
            }
        }
    }
    thread_local! {
        static EARLY: RefCell<Option<Last>> = const { RefCell::new(None) };
        static LATE: RefCell<Option<Last>> = const { RefCell::new(None) };
    }
    const THREADS: u64 = 20;
    again(&[("destructors", ""), ("destructors", NOT_BY_LIBC)], |_| {
        for early in 0..THREADS {
            let end = std::thread::spawn(move || {
                // Before and after this thread's first use, which may register it.
                if early.is_multiple_of(2) {
                    HITS.add(0);
                }
                EARLY.with(|last| last.replace(Some(Last(4))));
            });
            end.join().unwrap();
        }
        println!("{}", backend());
        assert_eq!((HITS.sum(), COUNTER.sum()), (5 * THREADS, 5 * THREADS as i64));
    });
}

/// No drop, no way back: the thread stays on its CPU and cannot enter again. Others are as they were. (The twin is the drop above.)
#[test]
fn a_forgotten_pinned_is_refused_again_and_stays_on_its_cpu() {
    use cyclewise::error::Refusal;
    use cyclewise::percpu::Pinned;
    let cpu = call::sched_getcpu() as u32;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: nothing here uses GS, now or later.
            let pinned = match unsafe { Pinned::enter(cpu) } {
                Ok(pinned) => pinned,
                Err(refusal) => return println!("skipped: {refusal}"),
            };
            std::mem::forget(pinned);
            // SAFETY: nothing here uses GS; the call is refused.
            let again = unsafe { Pinned::enter(cpu) }.unwrap_err();
            assert!(matches!(again, Refusal::GsInUse { .. }), "{again}");
            // SAFETY: all zeroes are an empty set.
            let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
            // SAFETY: writes a set of this size.
            let rc = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
            // SAFETY: reads the set.
            assert_eq!((rc, unsafe { libc::CPU_COUNT(&set) }), (0, 1));
        });
    });
    // SAFETY: nothing here uses GS.
    if let Err(refusal) = unsafe { Pinned::enter(cpu) } {
        println!("skipped: {refusal}");
    }
}
