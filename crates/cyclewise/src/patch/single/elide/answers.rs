//! What this copy answers other link units' copies, where it coordinates them.
//!
//! # Safety
//! The functions take the address of a place for their result.
#![expect(unsafe_code, reason = "functions that other link units call")]

use super::{lock_here, reelide_here};
use crate::patch::coordinator::{answer_seen, answer_state};
use crate::patch::unit::hosted::answer::Answer;
use crate::patch::unit::hosted::table::Operations;

/// This copy's table.
pub(super) static OPERATIONS: Operations = Operations {
    size: size_of::<Operations>(),
    reelide: answer_reelide,
    lock: answer_lock,
    state: answer_state,
    seen: answer_seen,
};

unsafe extern "C" fn answer_reelide(answer: *mut Answer) {
    // SAFETY: the caller's place.
    unsafe { answer.write(reelide_here().into()) };
}

unsafe extern "C" fn answer_lock(answer: *mut Answer) {
    // SAFETY: the caller's place.
    unsafe { answer.write(lock_here().into()) };
}
