//! A unit that is elided stays in the list of edits, whoever comes while another change has counted the room it needs.
//!
//! # Safety
//! The allocator forwards every call as it is.

use crate::common::harness::{Check, checks};
use crate::common::until;
use crate::modes::enable;
use crate::object::{Object, compile};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, confined, units};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};

pub(crate) const CHECKS: &[Check] = checks![a_newcomer_takes_no_room_of_a_unit_that_is_elided];

/// More sites than the test program itself has records.
const MANY: usize = 4096;

/// Lets a test wait inside a thread's next allocation.
struct Gate;

const OPEN: u8 = 0;
const REACHED: u8 = 1;
const PASSED: u8 = 2;
static GATE: AtomicU8 = AtomicU8::new(OPEN);

thread_local! {
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

#[global_allocator]
static ALLOCATOR: Gate = Gate;

fn wait_for(state: u8) {
    until(|| GATE.load(SeqCst) == state);
}

// SAFETY: forwards to the system's allocator.
unsafe impl GlobalAlloc for Gate {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if WAITS.try_with(|waits| waits.replace(false)) == Ok(true) {
            GATE.store(REACHED, SeqCst);
            wait_for(PASSED);
        }
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The newcomer gets the slot before that of the elided unit.
fn a_newcomer_takes_no_room_of_a_unit_that_is_elided() {
    let many = format!(
        "-DEXTRA_RECORD=\".rept {MANY}; .pushsection .text; 9: lock incq (%rsp); .popsection; .long 9b - .; .endr\""
    );
    let first = Object::load(&compile("first", &[]), "first", libc::RTLD_LOCAL);
    let elided = Object::load(&compile("elided", &[&many]), "elided", libc::RTLD_LOCAL);
    enable();
    patch::lock().unwrap();
    // SAFETY: nobody else sets affinities, and no atomics are shared with other processes.
    let guard = match unsafe { confined::enter(None) } {
        Ok(guard) => guard,
        Err(Refusal::System { call, .. }) => return println!("skipped: {call} is refused here"),
        Err(refusal) => panic!("{refusal}"),
    };
    assert!(first.is_elided() && elided.is_elided());
    first.close();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let unit = elided.descriptor();
            WAITS.set(true);
            // SAFETY: the descriptor of an object that is loaded.
            unsafe { units::register(unit) }
        });
        // It has counted the sites there are.
        wait_for(REACHED);
        let newcomer = Object::load(&compile("newcomer", &[&many]), "newcomer", libc::RTLD_LOCAL);
        assert_eq!(patch::reelide(), Err(Refusal::WrongMode));
        GATE.store(PASSED, SeqCst);
        assert_eq!(waiting.join().unwrap(), Ok(true));
        assert!(elided.is_elided() && newcomer.is_locked());
    });
    guard.leave().unwrap();
    assert!(elided.is_locked());
}
