//! The first changes of a process, made while another thread forks and has collected the atfork handlers already: in the child
//! a thread that does not exist there holds the lock of the text, and the key's sites and state are as that thread left them.
//!
//! Needs glibc 2.36. Older ones, and musl, hold a lock while atfork handlers run, so that registering one waits for the fork.

use crate::common::child::in_child;
use crate::common::filter::{If, trap};
use crate::common::harness::{Check, checks};
use crate::common::signal;
use crate::common::until;
use crate::many::{MANY, all_say};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

pub(crate) const CHECKS: &[Check] = checks![a_child_takes_over_what_a_thread_left_that_it_does_not_have,];

cyclewise::static_key! {
    /// A key whose change asks the link unit's canary, once.
    static FIRST: StaticKey = false;
}

static FORKING: AtomicBool = AtomicBool::new(false);
static CHANGING: AtomicBool = AtomicBool::new(false);
static FORKED: AtomicBool = AtomicBool::new(false);

/// Runs in the thread that forks, before the handlers that the change registers could.
extern "C" fn before_the_fork() {
    if !FORKING.swap(true, SeqCst) {
        until(|| CHANGING.load(SeqCst));
    }
}

/// Runs in the thread that changes the key, once its sites are written and before any core is told.
extern "C" fn in_the_change(_: libc::c_int) {
    CHANGING.store(true, SeqCst);
    until(|| FORKED.load(SeqCst));
}

/// Whether handlers can be registered while others run: glibc's bug 24595, fixed in 2.36.
fn forks_lock_nothing() -> bool {
    // SAFETY: takes nothing.
    let version = unsafe { libc::gnu_get_libc_version() };
    // SAFETY: a string that is there for good.
    let version = unsafe { std::ffi::CStr::from_ptr(version) };
    let version = version.to_str().unwrap().split('.').map(|n| n.parse::<u32>().unwrap());
    version.ge([2, 36])
}

fn a_child_takes_over_what_a_thread_left_that_it_does_not_have() {
    if !forks_lock_nothing() {
        println!("skipped: the C library keeps a lock while it forks, so this cannot happen");
        return;
    }
    // SAFETY: a function that takes nothing.
    let rc = unsafe { libc::pthread_atfork(Some(before_the_fork), None, None) };
    assert_eq!(rc, 0);
    signal::handle(libc::SIGSYS, in_the_change);
    std::thread::scope(|scope| {
        let changer = scope.spawn(|| {
            until(|| FORKING.load(SeqCst));
            FIRST.enable().unwrap();
            // PRIVATE_EXPEDITED_SYNC_CORE, without flags.
            trap(libc::SYS_membarrier, &[If::is(0, 1 << 5), If::is(1, 0)]);
            // The trapped call does not happen, so this is refused and rolled back.
            MANY.enable().unwrap_err();
        });
        let end = in_child(|| {
            assert!(all_say(true), "the change was not under way");
            MANY.disable().unwrap();
            assert!(all_say(false));
            MANY.enable().unwrap();
            assert!(all_say(true));
        });
        FORKED.store(true, SeqCst);
        changer.join().unwrap();
        end.unwrap();
    });
    assert!(all_say(false));
}
