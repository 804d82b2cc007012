//! What C programs do that contracts do not allow, or only look as if they did not: and that the first lines of the headers say which.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]

mod common;

use common::{Link, Program};
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

const SIGABRT: i32 = 6;

fn case(name: &str) -> Output {
    let program = Program::called("contracts.c", Link::Shared).unhooked();
    program.output(&[name])
}

fn passes(name: &str) {
    let output = case(name);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {} {said}", output.status);
}

/// A handler of the program's own may leave by siglongjmp: out of inline operations, and under a hold.
#[test]
fn jumps_out_of_the_programs_handlers() {
    passes("inline");
    passes("hold");
}

/// The twins: one of ours may not, nor one that interrupts a release which runs handlers. The thread stays held.
#[test]
fn twin_a_jump_out_of_our_handler_leaves_the_thread_held() {
    passes("ours");
    passes("release");
}

#[test]
fn a_copy_of_a_held_lock_stays_held() {
    passes("copies");
}

/// A hold stays with its thread. The release elsewhere does nothing, or ends a hold of the thread there.
#[test]
fn a_coroutine_that_moves_leaves_its_hold_behind() {
    passes("hold stays");
    passes("hold moves");
    passes("hold ends another");
}

/// A lock that another thread has taken is not unlocked: the process ends with a line. The twins do it on one thread.
#[test]
fn a_masked_lock_is_unlocked_where_it_was_taken() {
    passes("lock stays");
    passes("child");
    for name in ["lock moves", "not taken", "cancelled"] {
        let output = case(name);
        let said = String::from_utf8_lossy(&output.stderr);
        let is_told = said.contains("cyclewise: cw_masked_lock_unlock by a thread that has not taken the lock");
        assert!(
            output.status.signal() == Some(SIGABRT) && is_told,
            "{name}: {} {said}",
            output.status
        );
    }
}

/// What a user breaks without noticing, by header, and the line by which it has to be said.
const SAID: [(&str, &str, usize); 8] = [
    (
        "atomic.h",
        "An elided read-modify-write orders nothing for other processes, the kernel or devices",
        6,
    ),
    ("atomic.h", "`n++` beside cw_inc_u32", 9),
    (
        "atomic.hpp",
        "orders nothing for other processes, the kernel or devices",
        6,
    ),
    ("refcount.h", "A copy of an object copies its count", 5),
    ("lock.h", "a copy of one", 5),
    ("mask.h", "not a coroutine's or a goroutine's", 10),
    ("mask.h", "siglongjmp", 12),
    ("called.h", "Jumps: ", 26),
];

fn says(text: &str, phrase: &str, line: usize) -> bool {
    text.lines().take(line).any(|line| line.contains(phrase))
}

#[test]
fn headers_say_first_what_breaks_without_notice() {
    for (header, phrase, line) in SAID {
        let path = common::root().join("include/cyclewise").join(header);
        let text = std::fs::read_to_string(&path).expect("a header");
        assert!(says(&text, phrase, line), "{header}: {phrase}");
    }
}

/// The twin: what is said later does not count.
#[test]
fn twin_what_is_said_late_is_not_said_first() {
    let path = common::root().join("include/cyclewise/lock.h");
    let text = std::fs::read_to_string(&path).expect("a header");
    let (_, phrase, line) = SAID[4];
    assert!(says(&text, phrase, line) && !says(&format!("{}{text}", "\n".repeat(9)), phrase, line));
}
