//! A clock in a child of fork whose parent had an upkeep thread.

use crate::common::child::{bare_fork, in_child, own_pids, wait_for};
use crate::common::harness::{Check, checks};
use crate::common::time_namespace;
use crate::common::until;
use cyclewise::clock::{Clock, Instant, PerTask, System, Upkeep, WallClock};
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    recent_goes_on_without_the_thread,
    recent_goes_on_without_atfork_handlers,
    the_parents_upkeep_is_dropped_at_once,
    the_upkeep_of_a_parent_with_the_same_pid_is_dropped_at_once,
    a_child_has_an_upkeep_of_its_own,
    a_child_in_another_time_namespace_has_its_clock,
    a_process_that_enters_another_time_namespace_follows_its_clock,
];

/// Runs it in a child of a process whose clock a thread keeps. The child is killed where it hangs.
fn beside(check: fn(Upkeep)) {
    let upkeep = Upkeep::start(Clock::process()).unwrap();
    // Twice the same though time has passed: the thread has written it.
    until(stands_still);
    in_child(|| check(upkeep)).unwrap();
}

fn recent() -> Instant {
    Clock::process().recent()
}

fn stands_still() -> bool {
    is_kept(Clock::process())
}

fn is_kept(clock: &Clock) -> bool {
    let (recent_before, now) = (clock.recent(), Instant::now());
    while Instant::now() == now {}
    clock.recent() == recent_before
}

fn recent_goes_on_without_the_thread() {
    beside(|_upkeep| {
        let start = recent();
        while start.elapsed() < Duration::from_millis(5) {}
        assert!(recent() > start, "as old as the fork");
    });
}

/// As in a child of `_Fork`.
fn recent_goes_on_without_atfork_handlers() {
    static OTHER: Clock = Clock::new(System);
    let _upkeeps = [Clock::process(), &OTHER].map(|clock| Upkeep::start(clock).unwrap());
    until(|| stands_still() && is_kept(&OTHER));
    let child = bare_fork(|| {
        let (start, first, others) = (Instant::now(), recent(), OTHER.recent());
        while start.elapsed() < Duration::from_millis(5) {}
        // The twin: a word that is not on that page is copied as it was.
        assert!(recent() > first && OTHER.recent() == others);
    });
    assert_eq!(wait_for(child), Ok(()));
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
        until(stands_still);
        let first = recent();
        until(|| recent() > first);
        drop(own);
        assert!(recent() > first && !stands_still());
    });
}

static WALL: WallClock = WallClock::new();

/// Every clock with its times of the kernel's; how far it is off.
fn off_by() -> [(&'static str, Duration); 4] {
    let of = |name, clock: fn() -> u64, id| {
        let (before, ns, after) = (kernel_ns(id), clock(), kernel_ns(id));
        let off = before.saturating_sub(ns).max(ns.saturating_sub(after));
        (name, Duration::from_nanos(off))
    };
    [
        of("now", || Instant::now().as_nanos(), libc::CLOCK_MONOTONIC),
        of(
            "per task",
            || Instant::<PerTask>::read().as_nanos(),
            libc::CLOCK_MONOTONIC,
        ),
        of("recent", || recent().as_nanos(), libc::CLOCK_MONOTONIC),
        of("wall", || WALL.now(), libc::CLOCK_REALTIME),
    ]
}

fn kernel_ns(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    assert_eq!(unsafe { libc::clock_gettime(clock, &raw mut now) }, 0);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Reads for so long by the kernel's clock.
fn read_for(time: Duration) {
    let end = kernel_ns(libc::CLOCK_MONOTONIC) + time.as_nanos() as u64;
    while kernel_ns(libc::CLOCK_MONOTONIC) < end {
        off_by();
    }
}

/// Where the clock was moved by seconds, half of one is off.
fn is_off(clock: &(&'static str, Duration)) -> bool {
    clock.1 > Duration::from_millis(500)
}

/// Has `enter` make the clocks of another time namespace those of a process that has read them before.
fn in_namespaces(enter: fn(check: fn()) -> bool) {
    for seconds in [10_000, -5] {
        in_child(|| {
            read_for(Duration::from_millis(20));
            if !time_namespace::of_children(seconds) || !enter(follows) {
                println!("skipped: no time namespace here, {}", std::io::Error::last_os_error());
            }
        })
        .unwrap();
    }
}

fn follows() {
    // The twin: the last segment is still the parent's, and the wall clock's distance too. Where the process was stopped for longer
    // than both, nothing is.
    let first = off_by();
    read_for(Duration::from_millis(300));
    assert_eq!(off_by().iter().find(|clock| is_off(clock)), None, "at first {first:?}");
}

fn a_child_in_another_time_namespace_has_its_clock() {
    in_namespaces(|check| {
        in_child(check).unwrap();
        true
    });
}

fn a_process_that_enters_another_time_namespace_follows_its_clock() {
    in_namespaces(|check| {
        let entered = time_namespace::enter();
        if entered {
            check();
        }
        entered
    });
}
