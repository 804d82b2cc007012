//! The counterpart without restartable sequences: no area exists, so no function here can be called.

use super::Area;
use crate::arch::{Id, Outcome};

uncalled! { Area:
    pub(crate) fn stack_push[I: Id, const N: usize](*mut u64, u64) -> Outcome;
    pub(crate) fn stack_pop[I: Id](*mut u64) -> (u64, i64);
    pub(crate) fn stack_push_many[I: Id, const N: usize](*mut u64, *const u64, usize) -> i64;
    pub(crate) fn stack_pop_many[I: Id](*mut u64, *mut u64, usize) -> i64;
    pub(crate) fn ring_push[I: Id, const N: usize](*mut u64, u64) -> Outcome;
    pub(crate) fn ring_pop[I: Id, const N: usize](*mut u64) -> (u64, i64);
    pub(crate) fn inc_at_index[I: Id](*const *mut u64, usize) -> ();
}
