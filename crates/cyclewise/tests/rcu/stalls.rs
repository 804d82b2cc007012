//! A reader that holds a grace period up is named.

use crate::common::harness::{Check, checks};
use crate::common::until;
use cyclewise::rcu::{self, Domain, Stall, set_stall_hook};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const CHECKS: &[Check] = checks![
    a_reader_that_stalls_is_named,
    a_sleeper_in_a_domain_is_named,
    without_a_stall_nobody_is_named,
    the_next_reader_is_not_told_of_the_last_ones_time,
];

static THREAD: AtomicI32 = AtomicI32::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);
const BOUND: Duration = Duration::from_millis(20);

fn hook(stall: &Stall) {
    assert!(stall.waited >= BOUND);
    THREAD.store(stall.thread, SeqCst);
    CALLS.fetch_add(1, SeqCst);
}

fn my_id() -> i32 {
    // SAFETY: takes nothing.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// Whom the hook has named when it was called twice, while another thread waits for a section that ends then.
fn named<G>(guard: G, synchronize: impl Fn() + Send) -> i32 {
    set_stall_hook(Some(hook), BOUND);
    thread::scope(|scope| {
        scope.spawn(synchronize);
        until(|| CALLS.load(SeqCst) >= 2);
        drop(guard);
    });
    THREAD.load(SeqCst)
}

fn a_reader_that_stalls_is_named() {
    assert_eq!(named(rcu::read(), rcu::synchronize), my_id());
}

fn a_sleeper_in_a_domain_is_named() {
    let domain = Domain::new();
    assert_eq!(named(domain.read(), || domain.synchronize()), my_id());
}

fn without_a_stall_nobody_is_named() {
    set_stall_hook(Some(hook), Duration::from_secs(3600));
    for _ in 0..100 {
        drop(rcu::read());
        rcu::synchronize();
    }
    assert_eq!(CALLS.load(SeqCst), 0);
}

/// A barrier waits for one reader in a grace period, and for another in the next.
fn the_next_reader_is_not_told_of_the_last_ones_time() {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    static IS_TOO_LONG: AtomicBool = AtomicBool::new(false);
    fn hook(stall: &Stall) {
        if stall.thread == THREAD.load(SeqCst) && stall.waited > BEGUN.get().unwrap().elapsed() {
            IS_TOO_LONG.store(true, SeqCst);
        }
        CALLS.fetch_add(1, SeqCst);
    }
    let wait_for = |calls| {
        until(|| CALLS.load(SeqCst) >= calls);
    };
    set_stall_hook(Some(hook), BOUND);
    let first = rcu::read();
    thread::scope(|scope| {
        scope.spawn(|| {
            // A batch, so that the barrier's own closure is in the next.
            (0..64).for_each(|_| rcu::defer(|| ()));
            rcu::barrier();
        });
        wait_for(3);
        let (begun, has_begun) = mpsc::channel();
        let (over, is_over) = mpsc::channel::<()>();
        scope.spawn(move || {
            THREAD.store(my_id(), SeqCst);
            BEGUN.set(Instant::now()).unwrap();
            let _second = rcu::read();
            begun.send(()).unwrap();
            is_over.recv().unwrap_err();
        });
        has_begun.recv().unwrap();
        drop(first);
        wait_for(CALLS.load(SeqCst) + 3);
        drop(over);
    });
    assert!(!IS_TOO_LONG.load(SeqCst));
}
