//! Telling under loom, or under threads, and its twin with weaker orders.

use super::{Telling, tell};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

#[cfg(loom)]
use loom::{model, sync::Arc, sync::atomic::AtomicI64, thread};
#[cfg(not(loom))]
use std::sync::{Arc, atomic::AtomicI64};
#[cfg(not(loom))]
use std::thread;

#[cfg(not(loom))]
fn model(run: impl Fn()) {
    (0..if cfg!(miri) { 5 } else { 200 }).for_each(|_| run());
}

/// A slot and the shared sum. Without `ORDERED` the exchange is relaxed: the twin.
struct Model<const ORDERED: bool> {
    total: AtomicI64,
    told: AtomicI64,
    shared: AtomicI64,
}

impl<const ORDERED: bool> Telling for Model<ORDERED> {
    fn total(&self) -> i64 {
        self.total.load(Relaxed)
    }
    fn told(&self) -> i64 {
        self.told.load(if ORDERED { Acquire } else { Relaxed })
    }
    fn exchange(&self, from: i64, to: i64) -> Result<(), i64> {
        let (done, not) = if ORDERED { (AcqRel, Acquire) } else { (Relaxed, Relaxed) };
        self.told.compare_exchange(from, to, done, not).map(|_| ())
    }
    fn share(&self, difference: i64) {
        self.shared.fetch_add(difference, Relaxed);
    }
}

/// Two threads add to one slot, each as much as has to be told. Nobody adds any more: nothing is left to be told.
fn two_additions<const ORDERED: bool>() {
    model(|| {
        let it = Arc::new(Model::<ORDERED> {
            total: AtomicI64::new(0),
            told: AtomicI64::new(0),
            shared: AtomicI64::new(0),
        });
        let add = |it: &Model<ORDERED>| {
            it.total.fetch_add(10, Relaxed);
            tell(it, 5);
        };
        let other = {
            let it = it.clone();
            thread::spawn(move || add(&it))
        };
        add(&it);
        other.join().unwrap();
        let [total, told, shared] = [&it.total, &it.told, &it.shared].map(|word| word.load(Relaxed));
        assert_eq!((total, told, shared), (20, 20, 20));
    });
}

#[test]
fn what_was_told_is_not_taken_back() {
    two_additions::<true>();
}

/// Under threads alone it would be chance, and on x86-64 never: only the model checker runs the twin.
#[cfg(loom)]
#[test]
#[should_panic]
fn the_twin_with_relaxed_orders_takes_back_what_was_told() {
    two_additions::<false>();
}
