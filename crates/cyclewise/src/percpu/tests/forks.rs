//! Locks that a thread holds while another forks, in a process that has not used per-CPU data before.
//!
//! Also with a foreign atfork handler that was registered before ours, so that it runs first in the child, and that starts a thread
//! that uses per-CPU data.
//!
//! # Safety
//! Children use per-CPU data and create threads, which the C library allows in a child of a process with threads.
#![expect(unsafe_code, reason = "fork")]

use crate::percpu::allocator::Locked;
use crate::percpu::allocator::for_tests::is_locked;
use crate::percpu::slots::LockedSlot;
use crate::percpu::thread::{Holder, holder, id};
use crate::percpu::{PerCpu, Ref};
use crate::sys::atfork;
use crate::sys::for_tests::fork;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::SeqCst};
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

/// A child that hangs is killed after this, and the test fails. A child needs microseconds, but the machine may be suspended for minutes.
const LIMIT: Duration = Duration::from_secs(600);

/// Set in a process that `again` starts.
const PART: &str = "CYCLEWISE_FORKS_PART";

/// Runs `part`, a closure of the test that calls this, in a new process.
fn again<F: FnOnce()>(part: F) {
    if std::env::var_os(PART).is_some() {
        return part();
    }
    let test = core::any::type_name::<F>().split_once("::").unwrap().1;
    let test = test.strip_suffix("::{{closure}}").unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(PART, "")
        .output();
    let cannot_start = match &output {
        Err(e) => e.raw_os_error() == Some(libc::ENOEXEC),
        // As in tests/percpu/backends.rs.
        Ok(output) => output.status.code() == Some(127) && output.stdout.is_empty() && output.stderr.is_empty(),
    };
    if cannot_start {
        std::println!("skipped: {test}: this program runs under an emulator, which cannot start it again");
        return;
    }
    let output = output.unwrap();
    let ran = std::string::String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(output.status.success() && ran, "{output:?}");
}

/// Runs `child` in a child of fork while another thread holds the result of `take`.
fn while_taken<T>(take: fn() -> T, child: fn()) {
    let (taken, over) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let it = take();
            taken.wait();
            over.wait();
            drop(it);
        });
        taken.wait();
        // SAFETY: the child keeps to this file's Safety section.
        let status = unsafe { fork::child(child, LIMIT) };
        over.wait();
        assert_eq!(status, 0, "the child waits for a thread that it does not have");
    });
}

#[test]
fn a_child_allocates_though_an_allocation_was_in_progress() {
    again(|| {
        while_taken(
            || Locked::take().unwrap(),
            || {
                let mine = PerCpu::<u64>::new();
                mine.add(7);
                assert_eq!(mine.sum(), 7);
            },
        );
    });
}

#[test]
fn a_child_kills_a_reference_though_another_was_being_killed() {
    again(|| {
        while_taken(
            || LockedSlot::wait(0).unwrap(),
            || {
                let users = Ref::new(|| ());
                assert_eq!(users.kill(), Ok(true));
            },
        );
    });
}

/// The clone of a thread that the child does not have is never dropped there; what the child has alone, it destroys.
#[cfg(feature = "percpu-arc")]
#[test]
fn a_child_lets_go_of_what_a_missing_thread_refers_to() {
    use crate::percpu::ArcOwner;
    use std::boxed::Box;
    again(|| {
        static OWNERS: [AtomicPtr<ArcOwner<AtomicU32>>; 2] = [const { AtomicPtr::new(core::ptr::null_mut()) }; 2];
        fn owner(n: usize) -> ArcOwner<AtomicU32> {
            let owner = OWNERS[n].load(SeqCst);
            // SAFETY: leaked below, and each is taken once in a process.
            *unsafe { Box::from_raw(owner) }
        }
        for place in &OWNERS {
            place.store(Box::leak(Box::new(ArcOwner::new(AtomicU32::new(7)))), SeqCst);
        }
        // SAFETY: leaked above, and taken after `clone` is used.
        let clone = unsafe { &*OWNERS[0].load(SeqCst) };
        let clone = ArcOwner::share(clone);
        let barriers = (Barrier::new(2), Barrier::new(2));
        let (taken, over) = (&barriers.0, &barriers.1);
        thread::scope(|scope| {
            scope.spawn(move || {
                taken.wait();
                over.wait();
                assert_eq!(clone.load(SeqCst), 7, "the child's drops are its own");
            });
            taken.wait();
            let child = || {
                assert!(ArcOwner::into_inner(owner(0)).is_ok_and(|value| value.is_none()));
                assert!(ArcOwner::into_inner(owner(1)).is_ok_and(|value| value.is_some()));
            };
            // SAFETY: the child keeps to this file's Safety section.
            assert_eq!(unsafe { fork::child(child, LIMIT) }, 0);
            over.wait();
        });
        drop([owner(0), owner(1)]);
    });
}

/// The work of the handler that runs before ours in a child.
static EARLIER: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

extern "C" fn earlier() {
    let work = EARLIER.load(SeqCst);
    if !work.is_null() {
        // SAFETY: set from a function of this type.
        let work: fn() = unsafe { core::mem::transmute(work) };
        work();
    }
}

/// Makes children call `work` before our handler. Called before the process's first use of per-CPU data.
fn earlier_than_ours(work: fn()) {
    EARLIER.store(work as *mut (), SeqCst);
    atfork::register_atfork(None, None, Some(earlier)).unwrap();
}

/// 0; 1 when the handler's thread holds its locks; 2 when it may release them.
static STEP: AtomicU32 = AtomicU32::new(0);

fn wait_for(step: u32) {
    while STEP.load(SeqCst) < step {
        thread::sleep(Duration::from_micros(100));
    }
}

/// Called in a handler: starts a thread that calls `take`, and returns when it has.
fn a_thread_takes<T: 'static>(take: fn() -> T) {
    thread::spawn(move || {
        let it = take();
        STEP.store(1, SeqCst);
        wait_for(2);
        drop(it);
    });
    wait_for(1);
}

#[test]
fn locks_of_an_earlier_handlers_thread_stay_its_own() {
    again(|| {
        earlier_than_ours(|| a_thread_takes(|| (Locked::take().unwrap(), LockedSlot::wait(3).unwrap())));
        let mine = PerCpu::<u64>::new();
        let child = || {
            assert!(
                is_locked() && LockedSlot::try_lock(3).is_none(),
                "our handler has released a lock of a live thread"
            );
            STEP.store(2, SeqCst);
            // The thread releases both.
            drop(PerCpu::<u64>::new());
            drop(LockedSlot::wait(3).unwrap());
            assert!(LockedSlot::any().slot().portable().is_some());
        };
        // SAFETY: the child keeps to this file's Safety section.
        assert_eq!(unsafe { fork::child(child, LIMIT) }, 0);
        mine.add(1);
    });
}

#[test]
fn an_earlier_handlers_thread_takes_over_what_was_left_behind() {
    again(|| {
        // The handler joins its thread, and our handler runs afterwards.
        earlier_than_ours(|| {
            thread::spawn(|| {
                assert!(is_locked(), "held by a thread of the parent");
                let other = PerCpu::<u64>::new();
                other.add(7);
                assert_eq!(other.sum(), 7);
            })
            .join()
            .unwrap();
        });
        while_taken(|| Locked::take().unwrap(), || assert!(!is_locked()));
    });
}

/// A signal handler may fork; the child then continues the code that the handler interrupted.
#[test]
fn locks_of_the_forking_thread_stay_its_own() {
    again(|| {
        let mine = LockedSlot::wait(5).unwrap();
        let child = || {
            assert!(LockedSlot::try_lock(5).is_none(), "the forking thread still uses it");
            // The same in a child of the child, where the ids change again.
            let again = || assert!(LockedSlot::try_lock(5).is_none());
            // SAFETY: the child keeps to this file's Safety section.
            assert_eq!(unsafe { fork::child(again, LIMIT) }, 0);
        };
        // SAFETY: the child keeps to this file's Safety section.
        assert_eq!(unsafe { fork::child(child, LIMIT) }, 0);
        drop(mine);
        assert!(LockedSlot::try_lock(5).is_some());
    });
}

/// The twin of our handler releases every lock that the forking thread does not hold, including those of the child's threads.
#[test]
fn the_twin_that_compares_only_the_forking_thread_takes_a_live_threads_lock() {
    let me = id();
    let other = thread::spawn(id).join().unwrap();
    let left_behind = other ^ 1 << 40;
    let twin = |holder: u64| holder != 0 && holder != me;
    let ours = |found: u64| found != 0 && holder(found, me) == Holder::LeftBehind;
    assert_eq!([me, left_behind, other, 0].map(ours), [false, true, false, false]);
    assert_eq!([me, left_behind, other, 0].map(twin), [false, true, true, false]);
}
