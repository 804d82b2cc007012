//! Locks that a thread has while another forks, in a process that has done nothing else with per-CPU data yet.
//!
//! # Safety
//! Children use per-CPU data, and nothing that allocates.
#![expect(unsafe_code, reason = "fork")]

use crate::percpu::area::Locked;
use crate::percpu::slots::Taken;
use crate::percpu::{PerCpu, Ref};
use crate::sys::fork;
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
    while_taken(Locked::take, || {
        let mine = PerCpu::<u64>::new();
        mine.add(7);
        assert_eq!(mine.sum(), 7);
    });
}

#[test]
fn a_child_kills_a_reference_though_another_was_being_killed() {
    if again("a_child_kills_a_reference_though_another_was_being_killed") {
        return;
    }
    while_taken(
        || Taken::wait(0),
        || {
            let users = Ref::new(|| ());
            assert_eq!(users.kill(), Ok(true));
        },
    );
}
