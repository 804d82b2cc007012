//! The checks: each runs a few threads in every order, and panics where a promise is broken.
//!
//! What is counted is a [`Cell`](loom::cell::UnsafeCell) of loom's: reads and writes that no order separates end a model.
//!
//! # Safety
//! Access to the cell's inside is what the checks are about.
#![expect(unsafe_code, reason = "a cell whose accesses loom checks")]

use super::super::Refcount;
use super::protocol::Protocol;
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// Something, and who still uses it. Freed by a write.
struct Counted<P> {
    count: P,
    value: UnsafeCell<bool>,
}

// SAFETY: loom ends the model where two threads are at the cell at once.
unsafe impl<P: Sync> Sync for Counted<P> {}

impl<P: Protocol> Counted<P> {
    fn new(references: u64) -> [Arc<Self>; 2] {
        let counted = Arc::new(Self {
            count: P::new(references),
            value: UnsafeCell::new(true),
        });
        [Arc::clone(&counted), counted]
    }

    fn read(&self) {
        // SAFETY: valid; loom sees to it that nobody writes.
        assert!(self.value.with(|value| unsafe { *value }), "freed early");
    }

    fn free(&self) {
        // SAFETY: valid; loom sees to it that nobody else reads or writes.
        let was = self
            .value
            .with_mut(|value| unsafe { std::mem::replace(&mut *value, false) });
        assert!(was, "freed twice");
    }

    fn put(&self) {
        if self.count.dec_and_test() {
            self.free();
        }
    }
}

/// Whether the count is saturated once all is done. By a read-modify-write, which reads the last store; loom lets a load
/// read another one that nothing orders before it.
fn ends_saturated<P: Protocol>(count: &P) -> bool {
    count.inc_old() > P::MAX
}

/// Two references, each used and given up.
pub(super) fn the_last_put_frees_after_all_uses<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Counted::<P>::new(2);
        let thread = thread::spawn(move || {
            there.read();
            there.put();
        });
        here.read();
        here.put();
        thread.join().unwrap();
    });
}

/// The last reference is given up while somebody who has none asks for one.
pub(super) fn inc_not_zero_gets_a_live_count_or_none<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Counted::<P>::new(1);
        let thread = thread::spawn(move || {
            if there.count.inc_not_zero() {
                there.read();
                there.put();
            }
        });
        here.put();
        thread.join().unwrap();
    });
}

/// What somebody with one reference does, and whether he is then told to free.
type Exploit<P> = fn(&P) -> bool;

/// The mail's question: one is about to overflow, and another does what it likes before the count is pinned.
///
/// Each has a reference. Whatever the other does, once one more was taken than can be counted nothing is freed, and the
/// count is saturated for good.
pub(super) fn no_interleaving_ends_saturation<P: Protocol>() {
    // What it does, and how many references have to be taken so that one of them passes the edge in any order.
    let exploits: [(Exploit<P>, u32); 5] = [
        (
            |count| {
                count.inc();
                count.dec_and_test()
            },
            1,
        ),
        (
            |count| {
                count.add(3);
                count.dec_and_test() || count.dec_and_test()
            },
            1,
        ),
        (|count| !count.inc_not_zero() || count.dec_and_test(), 1),
        (|count| !count.dec_not_one(), 2),
        // More than it has.
        (|count| count.dec_and_test() || count.dec_and_test(), 3),
    ];
    for (exploit, taken) in exploits {
        loom::model(move || {
            let [here, there] = Counted::<P>::new(P::MAX);
            let thread = thread::spawn(move || {
                if exploit(&there.count) {
                    there.free();
                }
            });
            for _ in 0..taken {
                here.count.inc();
            }
            thread.join().unwrap();
            for _ in 0..3 {
                here.read();
                assert!(here.count.is_saturated(), "saturated");
                here.put();
            }
            assert!(here.count.inc_not_zero(), "saturated, not zero");
            assert!(here.count.is_saturated(), "saturated, and stays so");
        });
    }
}

/// One reference, given up by two: one of them frees, or nobody.
pub(super) fn two_puts_of_one_reference_free_once<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Counted::<P>::new(1);
        let thread = thread::spawn(move || there.count.dec_and_test());
        let both = here.count.dec_and_test() & thread.join().unwrap();
        assert!(!both, "freed twice");
        assert!(ends_saturated(&here.count), "saturated");
    });
}

/// Freed already; one who has no reference decrements one up, and another takes one.
///
/// In flight an increment from zero looks like a reference, to a put that comes just then: neither has one, and no counter
/// without a loop can tell. A put that came first is told nothing.
pub(super) fn misuse_of_a_dead_count_frees_nothing<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Counted::<P>::new(0);
        let thread = thread::spawn(move || there.count.inc_old());
        let last = here.count.dec_and_test();
        let increment_came_first = thread.join().unwrap() == 0;
        assert!(!last || increment_came_first, "freed twice");
        // Where it was last, loom has an end that no machine has: the store of the increment's pinning, which comes behind
        // it, in front of the put, which follows the increment without a gap.
        assert!(last || ends_saturated(&here.count), "saturated");
    });
}

/// Something that others find through a structure under a lock, put by `put`.
pub(super) fn what_is_found_under_the_lock_is_alive(
    put: impl Fn(&Refcount, &Mutex<bool>) -> bool + Copy + Send + Sync + 'static,
) {
    loom::model(move || {
        let [here, there] = Counted::<Refcount>::new(1);
        let index = Arc::new(Mutex::new(true));
        let same = Arc::clone(&index);
        let thread = thread::spawn(move || {
            let listed = same.lock().unwrap();
            let found = *listed;
            if found {
                there.count.inc();
            }
            drop(listed);
            if found {
                there.read();
                if put(&there.count, &same) {
                    there.free();
                }
            }
        });
        if put(&here.count, &index) {
            here.free();
        }
        thread.join().unwrap();
        assert!(!here.count.is_saturated(), "incremented from zero");
        assert!(!*index.lock().unwrap(), "still listed");
    });
}
