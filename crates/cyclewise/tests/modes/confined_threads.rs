//! Threads and children that are created before, inside and while confined mode is left.

use crate::common::call;
use crate::common::child::{End, in_child, own_pids};
use crate::common::cpu::{allowed_cpus, pin, run_before_others};
use crate::common::harness::{Check, checks};
use crate::common::length::is_long;
use crate::common::ring;
use crate::common::sanitizer::is_asan;
use crate::common::text::all;
use crate::confined::{enter, watch};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, Prefix, confined, state};
use std::sync::atomic;
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    threads_created_inside_are_confined_and_widened,
    a_pinned_thread_stays_pinned,
    a_thread_of_io_uring_may_be_elsewhere,
    threads_created_while_the_mode_is_left_are_widened,
    a_fork_that_had_begun_before_the_mode,
    a_child_forked_inside_is_alone,
    another_namespaces_proc_is_refused,
    a_child_forked_during_a_change_goes_on,
];

/// A part of a time slice.
const REST: Duration = Duration::from_micros(50);

fn threads_created_inside_are_confined_and_widened() {
    let before = allowed_cpus();
    let (ask, asked) = std::sync::mpsc::channel::<()>();
    let (answer, answers) = std::sync::mpsc::channel();
    let guard = enter(None).unwrap();
    let cpu = guard.cpu() as usize;
    let thread = std::thread::spawn(move || {
        for () in asked {
            answer.send(allowed_cpus()).unwrap();
        }
    });
    ask.send(()).unwrap();
    assert_eq!(answers.recv().unwrap(), [cpu]);
    guard.leave().unwrap();
    ask.send(()).unwrap();
    assert_eq!(answers.recv().unwrap(), before);
    drop(ask);
    thread.join().unwrap();
}

/// A thread that was pinned to the mode's CPU stays pinned to it afterwards.
fn a_pinned_thread_stays_pinned() {
    let cpus = allowed_cpus();
    let (ask, asked) = std::sync::mpsc::channel::<()>();
    let (answer, answers) = std::sync::mpsc::channel();
    let pinned_to = cpus[0];
    let thread = std::thread::spawn(move || {
        pin(pinned_to);
        answer.send(allowed_cpus()).unwrap();
        for () in asked {
            answer.send(allowed_cpus()).unwrap();
        }
    });
    assert_eq!(answers.recv().unwrap(), [cpus[0]]);
    for &cpu in &cpus {
        enter(Some(cpu)).unwrap().leave().unwrap();
        ask.send(()).unwrap();
        assert_eq!(answers.recv().unwrap(), [cpus[0]]);
    }
    drop(ask);
    thread.join().unwrap();
}

/// It never runs code of this program. `leaving_says_that_a_thread_was_let_out` is the twin, with a thread of the program.
fn a_thread_of_io_uring_may_be_elsewhere() {
    let [here, elsewhere, ..] = allowed_cpus()[..] else {
        return println!("skipped: this needs two CPUs");
    };
    let Some(before) = ring::polled(Some(elsewhere)) else {
        return;
    };
    let guard = enter(Some(here)).unwrap();
    let inside = ring::polled(Some(elsewhere));
    assert!(inside.is_some());
    let set = |tid: i32| {
        // SAFETY: all zeroes is a set.
        let mut cpus = unsafe { std::mem::zeroed::<libc::cpu_set_t>() };
        // SAFETY: the kernel writes one set.
        unsafe { libc::sched_getaffinity(tid, size_of_val(&cpus), &raw mut cpus) };
        // SAFETY: a CPU that the process may use, and a set.
        unsafe { libc::CPU_ISSET(elsewhere, &cpus) }
    };
    let listed = || {
        let names = std::fs::read_dir("/proc/self/task").unwrap();
        names.map(|name| name.unwrap().file_name().to_str().unwrap().parse::<i32>().unwrap())
    };
    // They move there by themselves when they first run.
    while listed().filter(|&tid| set(tid)).count() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(confined::audit(), Ok(()));
    guard.leave().unwrap();
    assert_eq!(state().mode, Mode::Locked);
    drop((before, inside));
}

/// A thread whose creator was confined when it called `clone`, but no longer when the thread appeared.
fn threads_created_while_the_mode_is_left_are_widened() {
    let rounds = if is_long() { 2_000 } else { 400 };
    const CROWD: usize = 8;
    watch();
    let before = allowed_cpus();
    // Otherwise it would wait until the creator is not creating a thread.
    run_before_others();
    for round in 0..rounds {
        let left = std::sync::RwLock::new(());
        std::thread::scope(|scope| {
            let guard = enter(Some(before[round % before.len()])).unwrap();
            let leaving = left.write().unwrap();
            let creator = scope.spawn(|| {
                let look = |_| {
                    scope.spawn(|| {
                        drop(left.read().unwrap());
                        allowed_cpus()
                    })
                };
                (0..CROWD).map(look).collect::<Vec<_>>()
            });
            std::thread::sleep(REST * (1 + round as u32 % 8));
            guard.leave().unwrap();
            let crowd = creator.join().unwrap();
            drop(leaving);
            for thread in crowd {
                assert_eq!(thread.join().unwrap(), before);
            }
        });
    }
}

/// A fork does not return to atfork handlers that it has already passed.
fn a_fork_that_had_begun_before_the_mode() {
    static FORKING: atomic::AtomicBool = atomic::AtomicBool::new(false);
    static ENTERED: atomic::AtomicBool = atomic::AtomicBool::new(false);
    fn wait_for(flag: &atomic::AtomicBool) {
        while !flag.load(atomic::Ordering::SeqCst) {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
    extern "C" fn in_the_middle_of_fork() {
        FORKING.store(true, atomic::Ordering::SeqCst);
        wait_for(&ENTERED);
    }
    watch();
    // SAFETY: a function that takes nothing.
    let rc = unsafe { libc::pthread_atfork(Some(in_the_middle_of_fork), None, None) };
    assert_eq!(rc, 0);
    std::thread::scope(|scope| {
        let forker = scope.spawn(|| in_child(|| assert_eq!(state().mode, Mode::Single)));
        wait_for(&FORKING);
        let guard = enter(None).unwrap();
        ENTERED.store(true, atomic::Ordering::SeqCst);
        assert_eq!(forker.join().unwrap(), Ok(()));
        guard.leave().unwrap();
    });
}

fn a_child_forked_inside_is_alone() {
    let before = allowed_cpus();
    let guard = enter(None).unwrap();
    let mut guard = Some(guard);
    in_child(|| {
        assert_eq!((state().mode, state().elided), (Mode::Single, state().sites));
        std::thread::spawn(|| assert!(all(Prefix::Lock))).join().unwrap();
        guard.take().unwrap().leave().unwrap();
        assert_eq!((allowed_cpus(), state().mode), (before.clone(), Mode::Locked));
    })
    .unwrap();
    assert!(all(Prefix::Elided));
    guard.unwrap().leave().unwrap();
    assert_eq!(allowed_cpus(), before);
}

/// In a child in its own pid namespace with the parent's `/proc`: the ids listed there are of another namespace, so none
/// of the threads can be confined.
fn another_namespaces_proc_is_refused() {
    watch();
    if !own_pids() {
        println!("skipped: no pid namespaces here: {}", std::io::Error::last_os_error());
        return;
    }
    in_child(|| {
        let cpus = allowed_cpus();
        assert_eq!(enter(None).unwrap_err(), Refusal::ForeignProc);
        assert_eq!(patch::reelide(), Err(Refusal::ForeignProc));
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
        assert_eq!(allowed_cpus(), cpus);
    })
    .unwrap();
}

/// A child forked at any point of a change has a valid mode, creates threads with LOCK, and can change the mode.
fn a_child_forked_during_a_change_goes_on() {
    /// Exit status of a child that was forked while the mode was in force.
    const INSIDE: Result<(), End> = Err(End::Exit(3));
    watch();
    let stop = atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for change in 0_u32.. {
                let guard = enter(None).unwrap();
                // A fork waits for a change of the text to end, so few forks fall between two changes in quick succession.
                if change % 4 == 0 {
                    std::thread::sleep(Duration::from_micros(200));
                }
                guard.leave().unwrap();
                if stop.load(atomic::Ordering::Relaxed) {
                    break;
                }
            }
        });
        let mut outcomes = Vec::new();
        while outcomes.len() < 300 || !outcomes.contains(&INSIDE) {
            let outcome = in_child(|| {
                let mode = state().mode;
                assert!(mode != Mode::Confined, "the affinity may be older than the text");
                assert!(mode == Mode::Single || all(Prefix::Lock), "elided while locked");
                // A thread that ends takes a lock of AddressSanitizer's allocator, which another may have held at the fork.
                if !is_asan() {
                    std::thread::spawn(|| assert!(all(Prefix::Lock))).join().unwrap();
                }
                enter(None).unwrap().leave().unwrap();
                assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
                call::_exit(if mode == Mode::Single { 3 } else { 0 });
            });
            assert!(outcome == Ok(()) || outcome == INSIDE, "{outcome:?}");
            outcomes.push(outcome);
        }
        stop.store(true, atomic::Ordering::Relaxed);
        let inside = outcomes.iter().filter(|outcome| **outcome == INSIDE).count();
        println!(
            "{inside} of {} children were forked while the mode was in force",
            outcomes.len()
        );
    });
}
