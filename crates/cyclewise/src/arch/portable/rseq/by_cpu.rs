//! The counterpart without restartable sequences: no area exists, so no function here can be called.

use super::Area;
use crate::arch::{Id, Outcome};

uncalled! { Area:
    pub(crate) fn load_cbne_store[I: Id, const RELEASE: bool](u32, *const u64, *mut u64, u64, u64) -> Outcome;
    pub(crate) fn load_add_store[I: Id](u32, *const u64, *mut u64, u64) -> Outcome;
    pub(crate) fn load_cbeq_store_add_load_store[I: Id](u32, *const u64, *mut u64, u64, isize, *mut u64) -> Outcome;
    pub(crate) fn load_add_load_load_add_store[I: Id](u32, *const u64, *const u64, isize, u64) -> Outcome;
    pub(crate) fn load_cbne_store_store[I: Id, const RELEASE: bool](u32, *const u64, *mut u64, u64, *mut u64, u64, u64) -> Outcome;
    pub(crate) fn load_cbne_load_cbne_store[I: Id](u32, *const u64, *mut u64, u64, *const u64, u64, u64) -> Outcome;
    pub(crate) fn load_cbne_memcpy_store[I: Id, const RELEASE: bool](u32, *const u64, *mut u64, u64, *mut u64, *const u64, usize, u64) -> Outcome;
}
