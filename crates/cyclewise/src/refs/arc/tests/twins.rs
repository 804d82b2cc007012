//! Tests of the models: protocols with one defect, each caught by the check that the right one passes.
//!
//! # Safety
//! The models test the access to what the twins of `get_mut` give.
#![expect(unsafe_code, reason = "twins of `get_mut`")]

use super::super::Arc;
use super::super::count::{Count, DEAD, MAX, SATURATED, SOLE, references};
use super::models::{Value, turns_strong, turns_weak_and_back};
use crate::primitive::AtomicUsize;
use crate::primitive::threads::{Checked, caught};
use core::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use loom::thread;

/// A reference count, correct or broken.
trait Protocol: Sync + Send + 'static {
    fn new(state: usize) -> Self;
    fn inc(&self);
    fn dec_and_test(&self) -> bool;
    fn upgrade(&self) -> bool;
    fn get(&self) -> usize;
}

impl Protocol for Count {
    fn new(state: usize) -> Self {
        Self::new(state)
    }

    fn inc(&self) {
        self.inc();
    }

    fn dec_and_test(&self) -> bool {
        self.dec_and_test()
    }

    fn upgrade(&self) -> bool {
        self.inc_unless_dead()
    }

    fn get(&self) -> usize {
        self.get()
    }
}

const RELAXED_DEC: u8 = 1;
const NO_ACQUIRE: u8 = 2;
const NO_CLAMP: u8 = 3;
const CLAMP_ON_INC_ONLY: u8 = 4;
const LOOK_THEN_INC: u8 = 5;

/// The protocol of `Count`, with the defect `WRONG`.
struct Twin<const WRONG: u8>(AtomicUsize);

impl<const WRONG: u8> Protocol for Twin<WRONG> {
    fn new(state: usize) -> Self {
        Self(AtomicUsize::new(state))
    }

    fn inc(&self) {
        let new = self.0.fetch_add(1, Relaxed).wrapping_add(1);
        if new.cast_signed() < 0 && WRONG != NO_CLAMP {
            self.0.store(SATURATED, Relaxed);
        }
    }

    fn dec_and_test(&self) -> bool {
        let order: Ordering = if WRONG == RELAXED_DEC { Relaxed } else { Release };
        let new = self.0.fetch_sub(1, order).wrapping_sub(1);
        if new.cast_signed() >= 0 {
            return false;
        }
        let order: Ordering = if WRONG == NO_ACQUIRE { Relaxed } else { Acquire };
        let dead = self.0.load(order) == DEAD;
        if !dead && !matches!(WRONG, NO_CLAMP | CLAMP_ON_INC_ONLY) {
            self.0.store(SATURATED, Relaxed);
        }
        dead
    }

    fn upgrade(&self) -> bool {
        if WRONG == LOOK_THEN_INC {
            let alive = self.0.load(Relaxed) != DEAD;
            if alive {
                self.inc();
            }
            return alive;
        }
        let mut stored = self.0.load(Relaxed);
        while stored != DEAD {
            match self.0.compare_exchange(stored, stored + 1, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => stored = now,
            }
        }
        false
    }

    fn get(&self) -> usize {
        references(self.0.load(Relaxed))
    }
}

struct Counted<P> {
    count: P,
    value: Checked<usize>,
}

impl<P: Protocol> Counted<P> {
    fn read(&self) {
        self.value.get();
    }

    fn put(&self) {
        if self.count.dec_and_test() {
            self.value.replace(0);
        }
    }
}

fn counted<P: Protocol>(state: usize) -> [loom::sync::Arc<Counted<P>>; 2] {
    let counted = loom::sync::Arc::new(Counted {
        count: P::new(state),
        value: Checked::new(1),
    });
    [loom::sync::Arc::clone(&counted), counted]
}

/// Two references, each used and given up.
fn destroys_after_all_uses<P: Protocol>() {
    loom::model(|| {
        let [here, there] = counted::<P>(SOLE);
        here.count.inc();
        let thread = thread::spawn(move || {
            there.read();
            there.put();
        });
        here.read();
        here.put();
        thread.join().unwrap();
    });
}

/// One reference is given up while a thread without one asks for one.
fn upgrades_the_living<P: Protocol>() {
    loom::model(|| {
        let [here, there] = counted::<P>(SOLE);
        let thread = thread::spawn(move || {
            if there.count.upgrade() {
                there.read();
                there.put();
            }
        });
        here.put();
        thread.join().unwrap();
    });
}

/// Two increments at the maximum, and then more decrements than references are left.
fn saturates_for_good<P: Protocol>() {
    loom::model(|| {
        let [here, there] = counted::<P>(MAX);
        let thread = thread::spawn(move || {
            there.count.inc();
            there.put();
        });
        here.count.inc();
        thread.join().unwrap();
        for _ in 0..2 {
            here.put();
            assert_eq!(here.count.get(), usize::MAX, "saturated");
        }
        // As after 2^(BITS − 2) further decrements; a raw reference can be given up that often.
        for _ in 0..2 {
            here.put();
        }
        assert_eq!(here.count.get(), usize::MAX, "saturated");
    });
}

/// One decrement close to the limit: the drift of a count that only increments saturate.
fn does_not_drift<P: Protocol>() {
    loom::model(|| {
        let [here, there] = counted::<P>(MAX + 3);
        let thread = thread::spawn(move || there.put());
        here.put();
        thread.join().unwrap();
        here.put();
        here.put();
        assert_eq!(here.count.get(), usize::MAX, "saturated");
    });
}

#[test]
fn the_right_protocol_passes() {
    destroys_after_all_uses::<Count>();
    upgrades_the_living::<Count>();
    saturates_for_good::<Count>();
    does_not_drift::<Count>();
}

caught! {
    a_relaxed_decrement_is_caught: "Causality violation" by destroys_after_all_uses::<Twin<RELAXED_DEC>>();
    a_destruction_without_acquire_is_caught: "Causality violation" by destroys_after_all_uses::<Twin<NO_ACQUIRE>>();
    an_upgrade_that_loads_and_then_increments_is_caught: "Causality violation" by upgrades_the_living::<Twin<LOOK_THEN_INC>>();
    a_count_that_is_not_clamped_is_caught: "saturated" by saturates_for_good::<Twin<NO_CLAMP>>();
    a_decrement_that_does_not_clamp_is_caught: "saturated" by does_not_drift::<Twin<CLAMP_ON_INC_ONLY>>();
}

/// The defects of `get_mut`.
const NO_CLAIM: u8 = 1;
const NO_SECOND_LOOK: u8 = 2;
const RELAXED_LOOK: u8 = 3;

/// `get_mut`, with the defect `WRONG`.
fn get_mut<const WRONG: u8>(arc: &mut Arc<Value>) -> Option<&mut Value> {
    let counts = arc.counts();
    let (strong, weak) = (&counts.strong, &counts.weak);
    let unique = match WRONG {
        NO_CLAIM => weak.is_sole() && strong.atomic().load(Acquire) == SOLE,
        NO_SECOND_LOOK => strong.claim() && weak.is_sole(),
        // Relaxed: the defect.
        RELAXED_LOOK => strong.claim() && weak.get() == 0 && strong.is_claimed(),
        _ => strong.claim() && weak.is_sole() && strong.is_claimed(),
    };
    // If it is still claimed: the models end by dropping the reference.
    strong.unclaim();
    // SAFETY: not so with a defect, which the model detects.
    unique.then(|| unsafe { Arc::get_mut_unchecked(arc) })
}

#[test]
fn the_right_get_mut_passes() {
    turns_weak_and_back(get_mut::<0>);
    turns_strong(get_mut::<0>);
}

caught! {
    a_get_mut_without_the_claim_is_caught: "Causality violation" by turns_weak_and_back(get_mut::<NO_CLAIM>);
    a_get_mut_that_does_not_check_its_claim_again_is_caught: "Causality violation" by turns_strong(get_mut::<NO_SECOND_LOOK>);
    a_get_mut_with_a_relaxed_load_is_caught: "Causality violation" by turns_strong(get_mut::<RELAXED_LOOK>);
}
