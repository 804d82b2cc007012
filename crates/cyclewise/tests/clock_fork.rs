//! A clock in a child of fork whose parent had an upkeep thread.

mod common;

use common::child::{in_child, own_pids};
use common::harness::{self, checks};
use cyclewise::clock::{Clock, Instant, Upkeep};
use std::time::Duration;

fn main() {
    if !cfg!(target_arch = "x86_64") {
        harness::skip("this may be an emulator, whose children hang if it had other threads");
    }
    harness::run(checks![
        recent_goes_on_without_the_thread,
        the_parents_upkeep_is_dropped_at_once,
        the_upkeep_of_a_parent_with_the_same_pid_is_dropped_at_once,
        a_child_has_an_upkeep_of_its_own,
    ]);
}

/// Runs it in a child of a process whose clock a thread keeps. The child is killed where it hangs.
fn beside(check: fn(Upkeep)) {
    let upkeep = Upkeep::start(Clock::process()).unwrap();
    // Twice the same though time has passed: the thread has written it.
    while !stands_still() {
        std::thread::yield_now();
    }
    in_child(|| check(upkeep)).unwrap();
}

fn recent() -> Instant {
    Clock::process().recent()
}

fn stands_still() -> bool {
    let (recent_before, now) = (recent(), Instant::now());
    while Instant::now() == now {}
    recent() == recent_before
}

fn recent_goes_on_without_the_thread() {
    beside(|_upkeep| {
        let start = recent();
        while start.elapsed() < Duration::from_millis(5) {}
        assert!(recent() > start, "as old as the fork");
    });
}

fn the_parents_upkeep_is_dropped_at_once() {
    beside(drop);
}

/// Parent and child are process 1 of a pid namespace each.
fn the_upkeep_of_a_parent_with_the_same_pid_is_dropped_at_once() {
    if !own_pids() {
        println!("skipped: no pid namespaces here, {}", std::io::Error::last_os_error());
        return;
    }
    in_child(|| {
        assert_eq!(std::process::id(), 1);
        let upkeep = Upkeep::start(Clock::process()).unwrap();
        assert!(own_pids(), "as before");
        in_child(|| {
            // The twin: who compares pids takes the thread for one of this process, and joins it.
            assert_eq!(std::process::id(), 1, "as in the parent");
            drop(upkeep);
        })
        .unwrap();
    })
    .unwrap();
}

fn a_child_has_an_upkeep_of_its_own() {
    beside(|parents| {
        let own = Upkeep::start(Clock::process()).unwrap();
        drop(parents);
        while !stands_still() {
            std::thread::yield_now();
        }
        let first = recent();
        while recent() <= first {
            std::thread::yield_now();
        }
        drop(own);
        assert!(recent() > first && !stands_still());
    });
}
