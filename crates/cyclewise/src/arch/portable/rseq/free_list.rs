//! The counterpart without restartable sequences: no area exists, so no function here can be called.

use super::Area;
use crate::arch::{Id, Outcome};

uncalled! { Area:
    pub(crate) fn add_below[I: Id](*mut u64, u64) -> Outcome;
    pub(crate) fn add_above[I: Id](*mut u64, u64) -> Outcome;
    pub(crate) fn add_if_open[I: Id](*const u64, *mut u64, u64) -> Outcome;
    pub(crate) fn list_pop[I: Id](*mut u64) -> u64;
    pub(crate) fn list_push[I: Id](*mut u64, u64, *mut u64) -> Outcome;
    pub(crate) fn list_take[I: Id](*mut u64) -> u64;
}
