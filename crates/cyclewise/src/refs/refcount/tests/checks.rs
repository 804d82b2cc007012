//! The checks: each runs a few threads in every order, and panics if a guarantee is broken.

use super::super::Refcount;
use super::protocol::Protocol;
use crate::primitive::threads::Checked;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// An object with its count. A write frees it.
struct Counted<P> {
    count: P,
    value: Checked<bool>,
}

impl<P: Protocol> Counted<P> {
    fn new(references: u64) -> [Arc<Self>; 2] {
        let counted = Arc::new(Self {
            count: P::new(references),
            value: Checked::new(true),
        });
        [Arc::clone(&counted), counted]
    }

    fn read(&self) {
        assert!(self.value.get(), "freed early");
    }

    fn free(&self) {
        assert!(self.value.replace(false), "freed twice");
    }

    fn put(&self) {
        if self.count.dec_and_test() {
            self.free();
        }
    }
}

/// Whether the count is saturated at the end. By a read-modify-write, which reads the last store; loom lets a load read
/// an earlier one that nothing orders before it.
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

/// The last reference is given up while a thread without one asks for one.
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

/// What the holder of one reference does; returns whether it has to free the object.
type Exploit<P> = fn(&P) -> bool;

/// The question from the mailing list: a count is about to overflow, and another thread does what it likes before the
/// count is saturated.
///
/// Each has a reference. Whatever the other does, once more references were taken than can be counted, nothing is freed
/// and the count stays saturated.
pub(super) fn no_interleaving_ends_saturation<P: Protocol>() {
    // The operation, and how many references have to be taken so that one of them passes the maximum in any order.
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

/// Two threads give up one reference: one of them frees, or none.
pub(super) fn two_puts_of_one_reference_free_once<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Counted::<P>::new(1);
        let thread = thread::spawn(move || there.count.dec_and_test());
        let both = here.count.dec_and_test() & thread.join().unwrap();
        assert!(!both, "freed twice");
        assert!(ends_saturated(&here.count), "saturated");
    });
}

/// The object is already freed. One thread without a reference gives one up, and another takes one.
///
/// An increment from zero in flight looks like a reference to a put at that moment: neither thread has one, and no
/// counter without a loop can tell. A put that came first returns false.
pub(super) fn misuse_of_a_dead_count_frees_nothing<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Counted::<P>::new(0);
        let thread = thread::spawn(move || there.count.inc_old());
        let last = here.count.dec_and_test();
        let increment_came_first = thread.join().unwrap() == 0;
        assert!(!last || increment_came_first, "freed twice");
        // If it was the last, loom has an outcome that no machine has: the store that saturates after the increment
        // comes before the put, which follows the increment without a gap.
        assert!(last || ends_saturated(&here.count), "saturated");
    });
}

/// An object that others find through a structure under a lock, put by `put`.
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
