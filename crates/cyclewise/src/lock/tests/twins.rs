//! The models' own test: locks with one fault each, which the models detect.

use super::super::lock_word::{LOCKED, LockWord, SplitWord};
use super::super::nodes::NodeIndex;
use super::super::park::Park;
use super::forward::forward;
use super::kernel::{Kernel, NO_HEAVY, NO_LIGHT, NO_WAKE};
use super::models::{left_behind, three, two};
use crate::primitive::threads::caught;

/// The possible faults of a word.
const LOOK_THEN_TAKE: u8 = 1;
const RELAXED_TAKE: u8 = 2;
const RELAXED_RELEASE: u8 = 3;
const ENDED_UNSEEN: u8 = 4;
const ANY_GENERATION: u8 = 5;

/// The lock of 8 bytes, with the fault `WRONG`.
struct Twin<const WRONG: u8>(SplitWord);

impl<const WRONG: u8> Twin<WRONG> {
    fn new() -> Self {
        Self(SplitWord::new())
    }
}

impl<const WRONG: u8> LockWord for Twin<WRONG> {
    forward! { 0: bits release_to_head set_pending set_handoff clear_pending clear_hints turn tail address }

    fn try_take(&self, found: u32) -> bool {
        match WRONG {
            LOOK_THEN_TAKE => {
                let free = self.0.bits() == found;
                if free {
                    self.0.store_bits(LOCKED);
                }
                free
            }
            RELAXED_TAKE => self.0.take_relaxed(found),
            _ => self.0.try_take(found),
        }
    }

    fn release_alone(&self) -> bool {
        WRONG != RELAXED_RELEASE && self.0.release_alone()
    }

    fn release(&self) {
        if WRONG == RELAXED_RELEASE {
            let kept = self.0.bits() & !LOCKED;
            self.0.store_bits(kept);
        } else {
            self.0.release();
        }
    }

    fn swap_tail(&self, node: u16) -> u16 {
        let found = self.0.swap_tail(node);
        match NodeIndex::from_tail(found) {
            // A tail that a fork left behind looks like one of this process.
            Some(last) if WRONG == ANY_GENERATION => last.of_this_process().number(),
            _ => found,
        }
    }

    fn end_tail(&self, node: u16) -> bool {
        // A waiter that queued in between is never made the head.
        self.0.end_tail(node) || WRONG == ENDED_UNSEEN
    }
}

fn two_with<const WRONG: u8, P: Park>() {
    two::<Twin<WRONG>, P>(Twin::new);
}

#[test]
fn the_twin_without_a_fault_passes() {
    two_with::<0, Kernel>();
}

caught! {
    a_look_and_then_a_store_is_caught: "Causality violation" by two_with::<LOOK_THEN_TAKE, Kernel>();
    a_relaxed_take_is_caught: "Causality violation" by two_with::<RELAXED_TAKE, Kernel>();
    a_relaxed_release_is_caught: "Causality violation" by two_with::<RELAXED_RELEASE, Kernel>();
    a_release_that_does_not_wake_is_caught: "deadlock" by two_with::<0, Kernel<NO_WAKE>>();
    a_release_without_its_barrier_is_caught: "deadlock" by two_with::<0, Kernel<NO_LIGHT>>();
    a_sleep_without_its_barrier_is_caught: "deadlock" by two_with::<0, Kernel<NO_HEAVY>>();
    a_headship_that_is_not_handed_over_is_caught: "deadlock" by three::<Twin<ENDED_UNSEEN>, Kernel>(2, Twin::new);
    a_tail_whose_generation_is_not_looked_at_is_caught: "each waits for the other" by left_behind::<Twin<ANY_GENERATION>>(Twin::new);
}
