//! The counterpart of `prior_state` without GS: it is never entered.
//!
//! # Safety
//! Nothing here is unsafe: the keyword keeps callers the same in every build.
#![expect(unsafe_code, reason = "the counterpart of a function with a contract")]

use crate::error::Refusal;

/// Never made.
#[derive(Debug)]
pub(in crate::percpu) enum PriorState {}

impl PriorState {
    pub(in crate::percpu) fn is_confined(&self, _: u32) -> bool {
        match *self {}
    }
}

/// # Safety
/// None is needed.
pub(in crate::percpu) unsafe fn enter(_: u32) -> Result<PriorState, Refusal> {
    Err(Refusal::NoGs)
}
