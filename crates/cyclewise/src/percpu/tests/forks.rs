//! Locks that a thread has while another forks, in a process that has done nothing else with per-CPU data yet.
//!
//! Then the same where another's fork handler, which was registered before ours and so runs before it in a child, starts a thread
//! that uses per-CPU data.
//!
//! # Safety
//! Children use per-CPU data, and threads, which the C library lets a child of many threads have.
#![expect(unsafe_code, reason = "fork")]

use crate::percpu::allocator::{Locked, is_locked};
use crate::percpu::slots::LockedSlot;
use crate::percpu::thread::{Holder, holder, id};
use crate::percpu::{PerCpu, Ref};
use crate::sys::{atfork, fork};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::SeqCst};
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

/// A child that waits for ever is killed, and that is seen. It works for microseconds; on a machine that is stopped for minutes it takes minutes.
const LIMIT: Duration = Duration::from_secs(600);

/// The part that a process plays which starts anew.
const PART: &str = "CYCLEWISE_FORKS_PART";

/// Runs a test of this program again, alone. False where this process is that one.
fn again(test: &str) -> bool {
    if std::env::var_os(PART).is_some() {
        return false;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &std::format!("percpu::tests::forks::{test}"), "--nocapture"])
        .env(PART, "")
        .output();
    let cannot_start = match &output {
        Err(e) => e.raw_os_error() == Some(libc::ENOEXEC),
        // As in tests/percpu.rs.
        Ok(output) => output.status.code() == Some(127) && output.stdout.is_empty() && output.stderr.is_empty(),
    };
    if cannot_start {
        std::println!("skipped: {test}: this program runs under an emulator, which cannot start it again");
        return true;
    }
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    true
}

/// Runs `child` in a child of fork while another thread has what `take` takes.
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
        // SAFETY: the child does as this file says.
        let status = unsafe { fork::child(child, LIMIT) };
        over.wait();
        assert_eq!(status, 0, "the child waits for a thread that it does not have");
    });
}

#[test]
fn a_child_makes_variables_though_another_was_just_made() {
    if again("a_child_makes_variables_though_another_was_just_made") {
        return;
    }
    while_taken(
        || Locked::take().unwrap(),
        || {
            let mine = PerCpu::<u64>::new();
            mine.add(7);
            assert_eq!(mine.sum(), 7);
        },
    );
}

#[test]
fn a_child_kills_a_reference_though_another_was_being_killed() {
    if again("a_child_kills_a_reference_though_another_was_being_killed") {
        return;
    }
    while_taken(
        || LockedSlot::wait(0).unwrap(),
        || {
            let users = Ref::new(|| ());
            assert_eq!(users.kill(), Ok(true));
        },
    );
}

/// What the handler does that runs before ours in a child.
static EARLIER: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

extern "C" fn earlier() {
    let work = EARLIER.load(SeqCst);
    if !work.is_null() {
        // SAFETY: set from a function of this type.
        let work: fn() = unsafe { core::mem::transmute(work) };
        work();
    }
}

/// Has `work` done in children before our handler. Before the process's first use of per-CPU data.
fn earlier_than_ours(work: fn()) {
    EARLIER.store(work as *mut (), SeqCst);
    atfork::register_atfork(None, None, Some(earlier)).unwrap();
}

/// 0; 1 once the handler's thread has what it wants; 2 when it may let go.
static STEP: AtomicU32 = AtomicU32::new(0);

fn wait_for(step: u32) {
    while STEP.load(SeqCst) < step {
        thread::sleep(Duration::from_micros(100));
    }
}

/// In a handler: a thread takes something, and has it when the handler returns.
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
fn what_an_earlier_handlers_thread_has_stays_its_own() {
    if again("what_an_earlier_handlers_thread_has_stays_its_own") {
        return;
    }
    earlier_than_ours(|| a_thread_takes(|| (Locked::take().unwrap(), LockedSlot::wait(3).unwrap())));
    let mine = PerCpu::<u64>::new();
    let child = || {
        assert!(
            is_locked() && LockedSlot::try_lock(3).is_none(),
            "our handler has taken it from a thread that lives"
        );
        STEP.store(2, SeqCst);
        // Both come back in time.
        drop(PerCpu::<u64>::new());
        drop(LockedSlot::wait(3).unwrap());
        assert!(LockedSlot::any().slot().portable().is_some());
    };
    // SAFETY: the child does as this file says.
    assert_eq!(unsafe { fork::child(child, LIMIT) }, 0);
    mine.add(1);
}

#[test]
fn an_earlier_handlers_thread_takes_over_what_was_left_behind() {
    if again("an_earlier_handlers_thread_takes_over_what_was_left_behind") {
        return;
    }
    // The handler waits for its thread, and our handler comes after that.
    earlier_than_ours(|| {
        thread::spawn(|| {
            assert!(is_locked(), "left behind by the parent's thread");
            let other = PerCpu::<u64>::new();
            other.add(7);
            assert_eq!(other.sum(), 7);
        })
        .join()
        .unwrap();
    });
    while_taken(|| Locked::take().unwrap(), || assert!(!is_locked()));
}

/// A handler of a signal may fork, and then its child goes on in what the handler interrupted.
#[test]
fn what_the_forking_thread_has_stays_its_own() {
    if again("what_the_forking_thread_has_stays_its_own") {
        return;
    }
    let mine = LockedSlot::wait(5).unwrap();
    let child = || {
        assert!(LockedSlot::try_lock(5).is_none(), "it is in the middle of using it");
        // And so it is in a child of the child, whose ids are others once more.
        let again = || assert!(LockedSlot::try_lock(5).is_none());
        // SAFETY: the child does as this file says.
        assert_eq!(unsafe { fork::child(again, LIMIT) }, 0);
    };
    // SAFETY: the child does as this file says.
    assert_eq!(unsafe { fork::child(child, LIMIT) }, 0);
    drop(mine);
    assert!(LockedSlot::try_lock(5).is_some());
}

/// The twin of our handler gives back whatever is not the forking thread's, and so what a thread of the child has.
#[test]
fn the_twin_that_knows_only_itself_takes_it_from_a_thread_that_lives() {
    let me = id();
    let other = thread::spawn(id).join().unwrap();
    let left_behind = other ^ 1 << 40;
    let twin = |holder: u64| holder != 0 && holder != me;
    let ours = |found: u64| found != 0 && holder(found, me) == Holder::LeftBehind;
    assert_eq!([me, left_behind, other, 0].map(ours), [false, true, false, false]);
    assert_eq!([me, left_behind, other, 0].map(twin), [false, true, true, false]);
}
