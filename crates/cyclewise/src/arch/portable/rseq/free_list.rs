//! The twin without restartable sequences: no area exists, so no function here can be called.

use super::{Area, uncalled};
use crate::arch::{Id, Outcome};

uncalled! {
    fn add_below[I: Id](*mut u64, u64) -> Outcome;
    fn add_above[I: Id](*mut u64, u64) -> Outcome;
    fn add_if_open[I: Id](*const u64, *mut u64, u64) -> Outcome;
    fn list_pop[I: Id](*mut u64) -> u64;
    fn list_push[I: Id](*mut u64, u64, *mut u64) -> Outcome;
    fn list_take[I: Id](*mut u64) -> u64;
}
