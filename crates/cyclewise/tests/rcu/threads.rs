//! Threads that end: with guards open, forgotten, or in thread-local destructors of any order; and who takes their records over.

use crate::common::harness::{Check, checks};
use cyclewise::rcu::{self, Guard, Rcu};
use std::cell::RefCell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_thread_that_ended_holds_nobody_up,
    a_guard_in_a_thread_local_holds_until_its_destructor,
    destructors_read_and_defer_in_any_order,
    what_waits_for_itself_panics_in_a_destructor,
    a_section_that_a_destructor_ends_by_force_is_the_threads,
    sections_end_in_any_order,
    a_forgotten_guard_holds_for_ever,
    a_forgotten_guard_holds_after_its_threads_end,
    a_writer_waits_for_its_readers,
];

fn a_thread_that_ended_holds_nobody_up() {
    for _ in 0..200 {
        thread::spawn(|| drop(rcu::read())).join().unwrap();
        rcu::synchronize();
    }
}

/// Whether a grace period ends within 50 ms: one without readers takes less, unless the machine is busy, so "no" is what is relied upon.
fn ends_soon() -> bool {
    let (done, ended) = channel();
    thread::spawn(move || {
        rcu::synchronize();
        let _ = done.send(());
    });
    ended.recv_timeout(Duration::from_millis(50)).is_ok()
}

fn ends() -> bool {
    let (done, ended) = channel();
    thread::spawn(move || {
        rcu::synchronize();
        let _ = done.send(());
    });
    ended.recv_timeout(Duration::from_secs(300)).is_ok()
}

fn a_writer_waits_for_its_readers() {
    let guard = rcu::read();
    assert!(!ends_soon());
    let inner = rcu::read();
    drop(guard);
    assert!(!ends_soon(), "the inner section is open");
    drop(inner);
    assert!(ends());
}

fn sections_end_in_any_order() {
    let mut guards: Vec<Guard> = (0..5).map(|_| rcu::read()).collect();
    for at in [2, 0, 2, 0] {
        drop(guards.remove(at));
        assert!(!ends_soon());
    }
    guards.clear();
    assert!(ends());
}

thread_local! {
    static KEPT: RefCell<Option<Guard>> = const { RefCell::new(None) };
}

/// Also where the library's own destructor runs first.
fn a_guard_in_a_thread_local_holds_until_its_destructor() {
    for registers_first in [false, true] {
        thread::spawn(move || {
            if registers_first {
                rcu::register();
            }
            KEPT.with(|kept| *kept.borrow_mut() = None);
            KEPT.set(Some(rcu::read()));
        })
        .join()
        .unwrap();
        assert!(ends());
    }
}

static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Reads and defers when its thread ends.
struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        let value = Rcu::new(7);
        let guard = rcu::read();
        assert_eq!(*value.load(&guard), 7);
        drop(guard);
        value.replace(8);
        rcu::defer(|| {
            DROPPED.fetch_add(1, SeqCst);
        });
    }
}

thread_local! {
    static FIRST: AtEnd = const { AtEnd };
    static LAST: AtEnd = const { AtEnd };
}

fn destructors_read_and_defer_in_any_order() {
    const THREADS: u64 = 100;
    for _ in 0..THREADS {
        thread::spawn(|| {
            FIRST.with(|_| ());
            rcu::register();
            LAST.with(|_| ());
        })
        .join()
        .unwrap();
    }
    rcu::barrier();
    assert_eq!(DROPPED.load(SeqCst), 2 * THREADS);
}

fn a_forgotten_guard_holds_for_ever() {
    std::mem::forget(rcu::read());
    drop(rcu::read());
    assert!(!ends_soon());
}

/// A reference from it may be anywhere.
fn a_forgotten_guard_holds_after_its_threads_end() {
    static VALUE: std::sync::OnceLock<Rcu<AtomicU64>> = std::sync::OnceLock::new();
    let value = VALUE.get_or_init(|| Rcu::new(AtomicU64::new(5)));
    let found: &'static AtomicU64 = thread::spawn(|| {
        let guard: &'static Guard = Box::leak(Box::new(rcu::read()));
        value.load(guard)
    })
    .join()
    .unwrap();
    value.replace(Box::new(AtomicU64::new(6)));
    // Another thread that registers does not take the record over.
    thread::spawn(|| drop(rcu::read())).join().unwrap();
    assert!(!ends_soon());
    assert_eq!(found.load(Relaxed), 5);
}

/// With a guard that a thread-local variable keeps. Its thread's record is retired before, or after.
struct SynchronizesAtEnd(RefCell<Option<Guard>>);

impl Drop for SynchronizesAtEnd {
    fn drop(&mut self) {
        drop(rcu::read());
        if std::panic::catch_unwind(rcu::synchronize).is_err() {
            DROPPED.fetch_add(1, SeqCst);
        }
    }
}

fn what_waits_for_itself_panics_in_a_destructor() {
    thread_local! {
        static KEEPER: SynchronizesAtEnd = const { SynchronizesAtEnd(RefCell::new(None)) };
    }
    for registers_first in [false, true] {
        thread::spawn(move || {
            if registers_first {
                rcu::register();
            }
            KEEPER.with(|keeper| *keeper.0.borrow_mut() = None);
            KEEPER.with(|keeper| *keeper.0.borrow_mut() = Some(rcu::read()));
        })
        .join()
        .unwrap();
        assert!(ends());
    }
    assert_eq!(DROPPED.load(SeqCst), 2);
}

struct EndsByForce;

impl Drop for EndsByForce {
    fn drop(&mut self) {
        // SAFETY: the thread forgets a guard below, and uses no reference from it.
        unsafe { rcu::force_end() };
    }
}

fn a_section_that_a_destructor_ends_by_force_is_the_threads() {
    thread_local! {
        static ENDER: EndsByForce = const { EndsByForce };
    }
    thread::spawn(|| {
        ENDER.with(|_| ());
        std::mem::forget(rcu::read());
    })
    .join()
    .unwrap();
    assert!(ends());
    // A thread that has not registered: no section of its was ended.
    let guard = rcu::read();
    assert!(!ends_soon());
    drop(guard);
}
