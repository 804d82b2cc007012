//! Tests of the checks: counts with one defect, each caught by a check that the right one passes.

use super::checks;
use super::protocol::Protocol;
use crate::primitive::threads::caught;
use loom::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

/// The twins' maximum and saturated count: those of the real counts, which store one less.
const MAX: u32 = 1 << 31;
const PINNED: u32 = (3 << 30) - 1;
const ZERO: u32 = u32::MAX;

const RELAXED_PUT: u8 = 1;
const NO_ACQUIRE: u8 = 2;
const LOOKS_THEN_INCREMENTS: u8 = 3;
const PINS_AT_THE_EDGE: u8 = 4;
const NEVER_PINS: u8 = 5;
const WRAPS_TO_ZERO: u8 = 6;
const STORES_WHAT_IT_LOADED: u8 = 7;
const LOOKS_TWICE: u8 = 8;

/// The protocol of `Refcount`, with the defect `WRONG`.
struct Twin<const WRONG: u8>(AtomicU32);

impl<const WRONG: u8> Twin<WRONG> {
    fn pin(&self) {
        match WRONG {
            NEVER_PINS => {}
            PINS_AT_THE_EDGE => self.0.store(MAX - 1, Relaxed),
            _ => self.0.store(PINNED, Relaxed),
        }
    }

    fn add_old(&self, n: u64) -> u64 {
        if WRONG == STORES_WHAT_IT_LOADED {
            // Checks before it stores, and overwrites what came between.
            let old = self.0.load(Relaxed);
            let new = if old.cast_signed() < 0 {
                PINNED
            } else {
                old.wrapping_add(n as u32)
            };
            let new = if new.cast_signed() < 0 { PINNED } else { new };
            self.0.store(new, Relaxed);
            return old.wrapping_add(1).into();
        }
        let old = self.0.fetch_add(n as u32, Relaxed);
        let new = old.wrapping_add(n as u32);
        let bad = match WRONG {
            WRAPS_TO_ZERO => new < old && old != ZERO,
            _ => (old | new).cast_signed() < 0,
        };
        if bad {
            self.pin();
        }
        old.wrapping_add(1).into()
    }
}

impl<const WRONG: u8> Protocol for Twin<WRONG> {
    const MAX: u64 = match WRONG {
        // All 32 bits count, as in an unsigned atomic_t; zero follows the maximum.
        WRAPS_TO_ZERO => u32::MAX as u64,
        _ => MAX as u64,
    };

    fn new(references: u64) -> Self {
        Self(AtomicU32::new((references as u32).wrapping_sub(1)))
    }

    fn inc(&self) {
        self.add_old(1);
    }

    fn inc_old(&self) -> u64 {
        self.add_old(1)
    }

    fn add(&self, n: u64) {
        self.add_old(n);
    }

    fn inc_not_zero(&self) -> bool {
        let mut old = self.0.load(Relaxed);
        while old != ZERO {
            if WRONG == LOOKS_THEN_INCREMENTS {
                self.inc();
                return true;
            }
            let new = if old >= MAX - 1 { PINNED } else { old + 1 };
            match self.0.compare_exchange(old, new, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(now) => old = now,
            }
        }
        false
    }

    fn dec_and_test(&self) -> bool {
        if WRONG == STORES_WHAT_IT_LOADED {
            let old = self.0.load(Relaxed);
            self.0.store(old.wrapping_sub(1), Release);
            return old == 0;
        }
        let order: Ordering = if WRONG == RELAXED_PUT { Relaxed } else { Release };
        let old = self.0.fetch_sub(1, order);
        if WRONG == WRAPS_TO_ZERO {
            return old == 0;
        }
        if old.cast_signed() > 0 {
            return false;
        }
        let now = self.0.load(if WRONG == NO_ACQUIRE { Relaxed } else { Acquire });
        let last = if WRONG == LOOKS_TWICE { now == ZERO } else { old == 0 };
        if !last {
            self.pin();
        }
        last
    }

    fn dec_not_one(&self) -> bool {
        let mut old = self.0.load(Relaxed);
        while old != 0 {
            let new = if old.cast_signed() < 0 { PINNED } else { old - 1 };
            match self.0.compare_exchange(old, new, Release, Relaxed) {
                Ok(_) => return true,
                Err(now) => old = now,
            }
        }
        false
    }

    fn is_saturated(&self) -> bool {
        // As in the real ones; zero is not saturated.
        self.0.load(Relaxed).wrapping_add(1) > MAX
    }
}

#[test]
fn the_right_protocol_passes() {
    type Right = Twin<0>;
    checks::the_last_put_frees_after_all_uses::<Right>();
    checks::inc_not_zero_gets_a_live_count_or_none::<Right>();
    checks::no_interleaving_ends_saturation::<Right>();
    checks::two_puts_of_one_reference_free_once::<Right>();
    checks::misuse_of_a_dead_count_frees_nothing::<Right>();
}

caught! {
    a_relaxed_put_is_caught: "Causality violation" by checks::the_last_put_frees_after_all_uses::<Twin<RELAXED_PUT>>();
    a_last_put_without_acquire_is_caught: "Causality violation" by checks::the_last_put_frees_after_all_uses::<Twin<NO_ACQUIRE>>();
    an_inc_not_zero_that_loads_and_then_increments_is_caught: "Causality violation" by checks::inc_not_zero_gets_a_live_count_or_none::<Twin<LOOKS_THEN_INCREMENTS>>();
    a_count_saturated_at_the_maximum_is_caught: "saturated" by checks::no_interleaving_ends_saturation::<Twin<PINS_AT_THE_EDGE>>();
    a_count_that_never_saturates_is_caught: "saturated" by checks::no_interleaving_ends_saturation::<Twin<NEVER_PINS>>();
    a_count_that_wraps_to_zero_is_caught: "freed early" by checks::no_interleaving_ends_saturation::<Twin<WRAPS_TO_ZERO>>();
    a_check_before_a_store_is_caught: "saturated" by checks::no_interleaving_ends_saturation::<Twin<STORES_WHAT_IT_LOADED>>();
    a_last_put_that_loads_the_count_again_is_caught: "freed twice" by checks::misuse_of_a_dead_count_frees_nothing::<Twin<LOOKS_TWICE>>();
}
