//! The real counts pass every check, in both widths.

use super::super::{Refcount, Refcount64};
use super::checks;

macro_rules! models {
    ($($check:ident),*) => {
        /// 32 bits.
        mod narrow {
            $(#[test] fn $check() { super::checks::$check::<super::Refcount>(); })*
        }
        /// 64 bits.
        mod wide {
            $(#[test] fn $check() { super::checks::$check::<super::Refcount64>(); })*
        }
    };
}

models!(
    the_last_put_frees_after_all_uses,
    inc_not_zero_gets_a_live_count_or_none,
    no_interleaving_ends_saturation,
    two_puts_of_one_reference_free_once,
    misuse_of_a_dead_count_frees_nothing
);

#[test]
fn dec_and_lock_unlists_before_anybody_looks() {
    checks::what_is_found_under_the_lock_is_alive(|count, index| {
        let listed = count.dec_and_lock(|| index.lock().unwrap());
        listed.map(|mut listed| *listed = false).is_some()
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_put_before_the_lock_is_caught() {
    checks::what_is_found_under_the_lock_is_alive(|count, index| {
        let last = count.dec_and_test();
        if last {
            *index.lock().unwrap() = false;
        }
        last
    });
}
