//! A reader that holds a grace period up is named.

use crate::common::harness::{Check, checks};
use cyclewise::rcu::{self, Domain, Stall, set_stall_hook};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicI32, AtomicU64};
use std::thread;
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_reader_that_stalls_is_named,
    a_sleeper_in_a_domain_is_named,
    without_a_stall_nobody_is_named,
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
        while CALLS.load(SeqCst) < 2 {
            thread::sleep(Duration::from_millis(1));
        }
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
