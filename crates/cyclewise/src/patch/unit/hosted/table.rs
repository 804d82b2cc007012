//! The table of a coordinator, which the copies of this crate in other link units call.
//!
//! # Invariants
//! 1. It is only added to, at its end: `size` says how long it is.
//!
//! # Safety
//! Each function takes the address of a place for its result.
#![allow(unsafe_code, reason = "types of functions of another link unit")]

use super::answer::Answer;

/// The table of a coordinator.
#[repr(C)]
pub(in crate::patch) struct Operations {
    pub(in crate::patch) size: usize,
    pub(in crate::patch) reelide: unsafe extern "C" fn(*mut Answer),
    pub(in crate::patch) lock: unsafe extern "C" fn(*mut Answer),
    pub(in crate::patch) state: unsafe extern "C" fn(*mut Shared),
    pub(in crate::patch) seen: unsafe extern "C" fn(*mut [usize; 2]),
}

/// What all copies of the crate in a process have in common.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::patch) struct Shared {
    /// 0, 1, 2: as [`Mode`](crate::patch::Mode).
    pub(in crate::patch) mode: u32,
    /// Other link units, their sites, and how many of those are elided.
    pub(in crate::patch) units: usize,
    pub(in crate::patch) sites: usize,
    pub(in crate::patch) elided: usize,
}
