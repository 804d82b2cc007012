//! A fork while another thread is in the middle of a change: before the child's own code runs, its key is whole and its text
//! is protected again. In the twin no atfork handler runs, and the same checks find half a change.

use crate::common::call;
use crate::common::child::{End, bare_fork, in_child, wait_for};
use crate::common::filter::trap_closing_text;
use crate::common::harness::{Check, checks};
use crate::common::signal;
use crate::common::until;
use crate::many::{self, MANY};
use crate::paged::{self, PAGED};
use cyclewise::patch::StaticKey;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

pub(crate) const CHECKS: &[Check] = checks![
    a_child_forked_inside_a_change_has_none_of_it,
    a_child_forked_inside_a_change_of_many_pages_has_none_of_it,
];

static CHANGING: AtomicBool = AtomicBool::new(false);
static FORKED: AtomicBool = AtomicBool::new(false);

/// Runs in the thread that changes the key, once its sites are written and their pages still writable.
extern "C" fn in_the_change(_: libc::c_int) {
    CHANGING.store(true, SeqCst);
    until(|| FORKED.load(SeqCst));
}

/// Whether any page of this process may be written and executed.
fn any_writable_text() -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines()
        .any(|line| line.split(' ').nth(1).unwrap().starts_with("rwx"))
}

/// A child in which no handler has run: whether it finds half a change.
fn a_bare_child_finds_the_half() -> bool {
    // No allocation: another thread may have been in the allocator.
    let child = bare_fork(|| call::_exit(i32::from(many::all_say(true))));
    wait_for(child) == Err(End::Exit(1))
}

fn a_child_forked_inside_a_change_has_none_of_it() {
    fork_inside_a_change(&MANY, many::all_say, || {
        assert!(a_bare_child_finds_the_half(), "the check does not see half a change");
    });
}

/// The same where the sites' pages are several runs, which one mprotect each opens and closes.
fn a_child_forked_inside_a_change_of_many_pages_has_none_of_it() {
    fork_inside_a_change(&PAGED, paged::all_say, || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let writable = maps.lines().filter(|line| line.contains(" rwxp ")).count();
        assert_eq!(writable, 3, "runs that are open:\n{maps}");
    });
}

/// Forks while another thread changes the key, after `look`.
fn fork_inside_a_change(key: &'static StaticKey, all_say: fn(bool) -> bool, look: impl FnOnce()) {
    // Handlers are registered with the first change.
    key.enable().unwrap();
    key.disable().unwrap();
    signal::handle(libc::SIGSYS, in_the_change);
    std::thread::scope(|scope| {
        let changer = scope.spawn(|| {
            trap_closing_text();
            // The trapped call does not happen, so this is refused and rolled back.
            key.enable().unwrap_err();
        });
        until(|| CHANGING.load(SeqCst));
        assert!(all_say(true) && any_writable_text(), "the change is not under way");
        look();
        let end = in_child(|| {
            assert!(all_say(false), "a change that never ended");
            assert!(!any_writable_text(), "text that stays writable");
            key.enable().unwrap();
            assert!(all_say(true));
            key.disable().unwrap();
            assert!(all_say(false));
        });
        FORKED.store(true, SeqCst);
        changer.join().unwrap();
        end.unwrap();
    });
    assert!(all_say(false));
}
