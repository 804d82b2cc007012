//! Tests of the models: protocols with one defect, each caught by the model that the right one passes.

use super::super::operation::{DEAD, MAX, SATURATED, count, difference, word};
use super::models::{
    Protocol, mark_dead_against_get_not_dead, saturation_is_for_good, the_last_put_against_get_not_zero,
    the_last_put_destroys_after_all_uses,
};
use crate::primitive::threads::caught;
use core::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use loom::sync::atomic::AtomicU64;

const NOTHING: u8 = 0;
const RELAXED_PUT: u8 = 1;
const RELAXED_LOCK: u8 = 2;
const NO_SECOND_LOOK: u8 = 3;
const GET_PAST_LOCK: u8 = 4;
const DEATH_WITHOUT_LOCK: u8 = 5;
const STORE_THEN_LOOK: u8 = 6;

/// The protocol of `LockRef` with a bit for a lock, and the defect `WRONG`.
struct Twin<const WRONG: u8>(AtomicU64);

const HELD: u64 = 1 << 32;

impl<const WRONG: u8> Twin<WRONG> {
    fn lock(&self) {
        let order: Ordering = if WRONG == RELAXED_LOCK { Relaxed } else { Acquire };
        while self.0.fetch_or(HELD, order) & HELD != 0 {
            loom::thread::yield_now();
        }
    }

    fn unlock(&self) {
        self.0.fetch_sub(HELD, Release);
    }

    /// Exchanges while the word is unlocked. `Err`: `new` returned `None`.
    fn update(&self, order: Ordering, new: impl Fn(i32) -> Option<i32>) -> Result<(), ()> {
        let mut found = self.0.load(Relaxed);
        loop {
            if found & HELD != 0 && WRONG != GET_PAST_LOCK {
                loom::thread::yield_now();
                found = self.0.load(Relaxed);
                continue;
            }
            let new = found.wrapping_add(difference(count(found), new(count(found)).ok_or(())?));
            match self.0.compare_exchange(found, new, order, Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => found = now,
            }
        }
    }

    fn add(&self, old: i32, new: i32) {
        self.0.fetch_add(difference(old, new), Relaxed);
    }
}

fn more(count: i32) -> Option<i32> {
    Some(if count >= MAX { SATURATED } else { count + 1 })
}

impl<const WRONG: u8> Protocol for Twin<WRONG> {
    fn new(count: u32) -> Self {
        Self(AtomicU64::new(word(count.cast_signed())))
    }

    fn get(&self) {
        if WRONG == STORE_THEN_LOOK {
            let found = self.0.fetch_add(word(1), Relaxed);
            if count(found) >= MAX {
                self.0.store(word(SATURATED), Relaxed);
            }
            return;
        }
        self.update(Relaxed, more).unwrap();
    }

    fn get_not_zero(&self) -> bool {
        self.update(Acquire, |count| if count > 0 { more(count) } else { None })
            .is_ok()
    }

    fn get_not_dead(&self) -> bool {
        self.update(Acquire, |count| if count >= 0 { more(count) } else { None })
            .is_ok()
    }

    fn put_or_die(&self) -> bool {
        let order: Ordering = if WRONG == RELAXED_PUT { Relaxed } else { Release };
        let fewer = |count| match count {
            SATURATED => Some(SATURATED),
            2.. => Some(count - 1),
            _ => None,
        };
        if self.update(order, fewer).is_ok() {
            return false;
        }
        self.lock();
        let left = count(self.0.load(Relaxed));
        let last = left <= 1 || WRONG == NO_SECOND_LOOK;
        self.add(left, if last { DEAD } else { left - 1 });
        self.unlock();
        last
    }

    fn put_return(&self) -> Option<u32> {
        let fewer = |count| (count > 0).then(|| count - 1);
        self.update(Release, fewer)
            .is_ok()
            .then(|| self.count().cast_unsigned())
    }

    fn reap(&self) -> bool {
        if WRONG == DEATH_WITHOUT_LOCK {
            let idle = self.count() == 0;
            if idle {
                self.0.store(word(DEAD), Release);
            }
            return idle;
        }
        self.lock();
        let idle = self.count() == 0;
        if idle {
            self.add(0, DEAD);
        }
        self.unlock();
        idle
    }

    fn count(&self) -> i32 {
        count(self.0.load(Relaxed))
    }
}

#[test]
fn the_right_protocol_passes() {
    the_last_put_destroys_after_all_uses::<Twin<NOTHING>>();
    the_last_put_against_get_not_zero::<Twin<NOTHING>>();
    mark_dead_against_get_not_dead::<Twin<NOTHING>>();
    saturation_is_for_good::<Twin<NOTHING>>();
}

caught! {
    a_relaxed_put_is_caught: "Causality violation" by the_last_put_destroys_after_all_uses::<Twin<RELAXED_PUT>>();
    a_last_put_without_acquire_is_caught: "Causality violation" by the_last_put_destroys_after_all_uses::<Twin<RELAXED_LOCK>>();
    a_last_put_without_a_check_under_the_lock_is_caught: "Causality violation" by the_last_put_against_get_not_zero::<Twin<NO_SECOND_LOOK>>();
    a_get_that_does_not_respect_the_lock_is_caught: "Causality violation" by mark_dead_against_get_not_dead::<Twin<GET_PAST_LOCK>>();
    a_death_without_the_lock_is_caught: "Causality violation" by mark_dead_against_get_not_dead::<Twin<DEATH_WITHOUT_LOCK>>();
    a_get_that_stores_before_it_checks_is_caught: "never looks dead" by saturation_is_for_good::<Twin<STORE_THEN_LOOK>>();
}
