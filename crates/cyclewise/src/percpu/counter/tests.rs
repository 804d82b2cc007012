//! Folding under loom, or under threads; a twin with weaker orders; and a fold that a fork interrupted.
//!
//! # Safety
//! A counter's words are written before other threads can reach it; a child only counts.
#![allow(unsafe_code, reason = "words by address, and fork; not in every build")]

use super::{FoldWords, fold};
use crate::primitive::threads::{Arc, AtomicI64, model, thread};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// A slot and the shared sum. Without `ORDERED` the exchange is relaxed: the twin.
struct Model<const ORDERED: bool> {
    total: AtomicI64,
    folded: AtomicI64,
    shared: AtomicI64,
}

impl<const ORDERED: bool> FoldWords for Model<ORDERED> {
    fn total(&self) -> i64 {
        self.total.load(Relaxed)
    }
    fn folded(&self) -> i64 {
        self.folded.load(if ORDERED { Acquire } else { Relaxed })
    }
    fn exchange(&self, from: i64, to: i64) -> Result<(), i64> {
        let (done, not) = if ORDERED { (AcqRel, Acquire) } else { (Relaxed, Relaxed) };
        self.folded.compare_exchange(from, to, done, not).map(|_| ())
    }
    fn share(&self, difference: i64) {
        self.shared.fetch_add(difference, Relaxed);
    }
}

/// Two threads add to one slot, each enough to fold. Afterwards everything is folded.
fn two_additions<const ORDERED: bool>() {
    model(|| {
        let it = Arc::new(Model::<ORDERED> {
            total: AtomicI64::new(0),
            folded: AtomicI64::new(0),
            shared: AtomicI64::new(0),
        });
        let add = |it: &Model<ORDERED>| {
            it.total.fetch_add(10, Relaxed);
            fold(it, 5);
        };
        let other = {
            let it = it.clone();
            thread::spawn(move || add(&it))
        };
        add(&it);
        other.join().unwrap();
        let [total, folded, shared] = [&it.total, &it.folded, &it.shared].map(|word| word.load(Relaxed));
        assert_eq!((total, folded, shared), (20, 20, 20));
    });
}

#[test]
fn concurrent_folds_are_exact() {
    two_additions::<true>();
}

/// With real threads the failure would depend on chance, and never happen on x86-64: only loom runs the twin.
#[cfg(loom)]
#[test]
#[should_panic]
fn the_twin_with_relaxed_orders_takes_it_back() {
    two_additions::<false>();
}

/// Another thread forks between the two steps of a fold: in the child no thread does the second.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(loom)))]
mod forks {
    use crate::percpu::Counter;
    use crate::percpu::counter::FoldWords;
    use crate::percpu::slots::{Slot, copy_in};
    use crate::percpu::word::Bits;
    use crate::sys::fork;
    use core::cmp;
    use core::sync::atomic::Ordering::Relaxed;
    use core::time::Duration;
    use std::sync::LazyLock;

    const SUM: i64 = 1_000_000;

    /// A counter whose fold has recorded an addition as folded, but not yet added it to the shared sum.
    static COUNTER: LazyLock<Counter> = LazyLock::new(|| {
        let counter = Counter::new(0);
        let slot = Slot::of(0).unwrap();
        // SAFETY: no other thread can reach the counter yet.
        unsafe { u64::store(copy_in(counter.words(), slot).cast(), SUM as u64) };
        assert_eq!((&counter, slot).exchange(0, SUM), Ok(()));
        assert!(counter.error() < SUM as u64 / 2);
        counter
    });

    #[test]
    fn a_child_of_a_fork_compares_exactly() {
        LazyLock::force(&COUNTER);
        let child = || {
            assert_eq!((COUNTER.read(), COUNTER.sum()), (0, SUM));
            assert_eq!(COUNTER.compare(SUM / 2), cmp::Ordering::Greater);
            // A counter that is created in the child works as usual.
            let mine = Counter::new(5);
            mine.add(1);
            assert_eq!(
                (
                    mine.generation.load(Relaxed) == COUNTER.generation.load(Relaxed),
                    mine.compare(SUM)
                ),
                (false, cmp::Ordering::Less)
            );
        };
        // SAFETY: the child only counts.
        assert_eq!(unsafe { fork::child(child, Duration::from_secs(600)) }, 0);
        // In the parent an addition is still being folded, so it is not counted yet.
        assert_eq!(COUNTER.compare(SUM / 2), cmp::Ordering::Less);
    }
}
