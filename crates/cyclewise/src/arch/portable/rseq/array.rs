//! The twin without restartable sequences: no area exists, so no function here can be called.

use super::{Area, uncalled};
use crate::arch::{Id, Outcome};

uncalled! {
    fn stack_push[I: Id, const N: usize](*mut u64, u64) -> Outcome;
    fn stack_pop[I: Id](*mut u64) -> (u64, i64);
    fn stack_push_many[I: Id, const N: usize](*mut u64, *const u64, usize) -> i64;
    fn stack_pop_many[I: Id](*mut u64, *mut u64, usize) -> i64;
    fn ring_push[I: Id, const N: usize](*mut u64, u64) -> Outcome;
    fn ring_pop[I: Id, const N: usize](*mut u64) -> (u64, i64);
}
uncalled! { fn inc_at_index[I: Id](*const *mut u64, usize) -> (); }
