//! A change of a key neither allocates nor frees while it holds the lock of the text: the allocator has locks of its own, and a
//! thread that holds one of them may wait for the lock of the text.

use crate::common::call;
use crate::common::filter::trap;
use crate::common::harness::{Check, checks};
use crate::common::signal;
use crate::many::{MANY, all_say};
use cyclewise::error::Refusal;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

pub(crate) const CHECKS: &[Check] = checks![
    a_change_neither_allocates_nor_frees_under_the_lock,
    an_allocation_under_the_lock_is_seen,
];

cyclewise::static_key! {
    /// Asks for the lock.
    static PROBE: StaticKey = false;
}

/// The system's allocator. While it watches, it asks at each call whether this thread has the lock of the text.
struct Watching;

static WATCHES: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU32 = AtomicU32::new(0);
static UNDER_LOCK: AtomicU32 = AtomicU32::new(0);

fn look() {
    // The probe allocates as well.
    if WATCHES.swap(false, Relaxed) {
        CALLS.fetch_add(1, Relaxed);
        if PROBE.disable() == Err(Refusal::Busy) {
            UNDER_LOCK.fetch_add(1, Relaxed);
        }
        WATCHES.store(true, Relaxed);
    }
}

// SAFETY: every call is handed on to the system's allocator.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        look();
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        look();
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// How often the allocator was called by `run`, and how often under the lock. For a process with one thread.
fn watched(run: impl FnOnce()) -> (u32, u32) {
    CALLS.store(0, Relaxed);
    UNDER_LOCK.store(0, Relaxed);
    WATCHES.store(true, Relaxed);
    run();
    WATCHES.store(false, Relaxed);
    (CALLS.load(Relaxed), UNDER_LOCK.load(Relaxed))
}

fn a_change_neither_allocates_nor_frees_under_the_lock() {
    let (calls, under_lock) = watched(|| {
        MANY.enable().unwrap();
        MANY.disable().unwrap();
        assert_eq!(MANY.dec(), Err(Refusal::NoUsers));
    });
    assert!(calls >= 2, "a list of sites is made and freed");
    assert_eq!(under_lock, 0);
    assert!(all_say(false));
}

/// Runs in the middle of a change.
extern "C" fn on_trap(_: libc::c_int) {
    let (_, under_lock) = watched(|| drop(std::hint::black_box(Box::new(1))));
    call::_exit(if under_lock > 0 { 0 } else { 2 });
}

/// The twin: an allocation under the lock, by a handler that interrupts a change, is seen.
fn an_allocation_under_the_lock_is_seen() {
    signal::handle(libc::SIGSYS, on_trap);
    trap(libc::SYS_membarrier, &[]);
    // A second thread, without which signals are blocked in a change and the trap kills.
    let (end, ended) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || ended.recv().unwrap_err());
    let _ = MANY.enable();
    drop(end);
    panic!("the change called no membarrier");
}
