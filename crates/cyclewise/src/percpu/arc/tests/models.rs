//! Clones by whoever has a reference, while the owner lets go: under loom in every order, else in random ones.
//!
//! A use of the value is a relaxed addition, which whoever destroys it must see: so the orders of the puts are checked too.

use crate::error::Refusal;
use crate::percpu::reference::protocol::{self, Parts};
use crate::percpu::reference::tests::Model;
use crate::primitive::threads::{Arc, AtomicU64, caught, model, thread};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// A value and its words. Without `LOCKED`, letting go does not wait for threads that count in their slots; without
/// `ORDERED`, puts are relaxed: two twins.
struct Value<const LOCKED: bool, const ORDERED: bool> {
    words: Arc<Model<LOCKED>>,
    uses: AtomicU64,
    destroyed: AtomicU64,
}

impl<const LOCKED: bool, const ORDERED: bool> Parts for Value<LOCKED, ORDERED> {
    fn add_in_slot(&self, amount: i64) -> bool {
        self.words.add_in_slot(amount)
    }
    fn set_guard(&self, guard: u64) {
        self.words.set_guard(guard);
    }
    fn wait_for_slots(&self) -> Result<(), Refusal> {
        self.words.wait_for_slots()
    }
    fn take_slots(&self) -> i64 {
        self.words.take_slots()
    }
    fn shared(&self) -> u64 {
        self.words.shared.load(if ORDERED { Acquire } else { Relaxed })
    }
    fn exchange(&self, from: u64, to: u64) -> Result<(), u64> {
        let (done, failed) = if ORDERED { (AcqRel, Acquire) } else { (Relaxed, Relaxed) };
        self.words.shared.compare_exchange(from, to, done, failed).map(|_| ())
    }
}

impl<const LOCKED: bool, const ORDERED: bool> Value<LOCKED, ORDERED> {
    fn use_it(&self) {
        assert_eq!(self.destroyed.load(Relaxed), 0, "destroyed while a reference is left");
        self.uses.fetch_add(1, Relaxed);
    }

    fn clone_it(&self) {
        assert!(protocol::try_get(self), "no clone from a reference");
    }

    /// A drop, and the destruction where it is due: then every use must be seen.
    fn put(&self, uses: u64) {
        if protocol::put(self) {
            self.destroy(uses);
        }
    }

    fn let_go(&self, uses: u64) {
        assert_eq!(protocol::kill(self), Ok(true));
        if protocol::put_shared(self) {
            self.destroy(uses);
        }
    }

    fn destroy(&self, uses: u64) {
        assert_eq!(
            self.uses.load(Relaxed),
            uses,
            "a use does not happen before the destruction"
        );
        assert_eq!(self.destroyed.fetch_add(1, Relaxed), 0);
    }
}

/// A thread has a clone, makes another, and drops both; the owner lets go meanwhile. Three uses.
fn a_clone_and_its_owner<const LOCKED: bool, const ORDERED: bool>() {
    model(|| {
        let it = Arc::new(Value::<LOCKED, ORDERED> {
            words: Model::new(),
            uses: AtomicU64::new(0),
            destroyed: AtomicU64::new(0),
        });
        it.clone_it();
        let other = {
            let it = it.clone();
            thread::spawn(move || {
                it.clone_it();
                it.use_it();
                it.put(3);
                it.use_it();
                it.put(3);
            })
        };
        it.use_it();
        it.let_go(3);
        other.join().unwrap();
        assert_eq!(it.destroyed.load(Relaxed), 1, "destroyed once");
    });
}

#[test]
fn the_last_of_owner_and_clones_destroys_the_value_after_every_use() {
    a_clone_and_its_owner::<true, true>();
}

/// Two threads drop the two last clones, after the owner.
#[test]
fn one_of_two_last_clones_destroys_it() {
    model(|| {
        let it = Arc::new(Value::<true, true> {
            words: Model::new(),
            uses: AtomicU64::new(0),
            destroyed: AtomicU64::new(0),
        });
        it.clone_it();
        it.clone_it();
        it.let_go(2);
        let last = |it: Arc<Value<true, true>>| {
            move || {
                it.use_it();
                it.put(2);
            }
        };
        let other = thread::spawn(last(it.clone()));
        last(it.clone())();
        other.join().unwrap();
        assert_eq!(it.destroyed.load(Relaxed), 1);
    });
}

caught! {
    an_owner_that_does_not_wait_is_caught: "destroyed once" by a_clone_and_its_owner::<false, true>();
    puts_that_order_nothing_are_caught: "does not happen before" by a_clone_and_its_owner::<true, false>();
}
