//! Alternatives: replaces default instruction sequences with those that this CPU supports, once, before the second
//! thread.
//!
//! A site holds several instructions, and a preempted thread may stand between any two. So only the process's one
//! thread may write, and not from a handler that may have interrupted a site. Until then, and forever if refused, the
//! defaults run, which are right on every CPU.
//!
//! # Cost
//! Once, tens of microseconds. A site costs its sequence and no test.
//!
//! # References
//! Linux arch/x86/kernel/alternative.c (apply_alternatives).
//!
//! # Safety
//! The caller of [`apply_alternatives`] promises that no site was interrupted.
#![expect(unsafe_code, reason = "a function with a contract")]

#[cfg_attr(not(target_arch = "x86_64"), path = "unsupported.rs")]
mod apply;

use crate::error::Refusal;

/// Applies the alternatives of this link unit that this CPU has the features for, and pads each with long NOPs. A
/// second call changes nothing.
///
/// # Errors
/// [`Refusal::OtherThreads`] and others. Then all defaults stay.
///
/// # Safety
/// Not called in a signal handler, directly or indirectly: the handler may have interrupted a site.
///
/// # Examples
/// ```
/// // SAFETY: called at the start of the program, not from a handler of a signal.
/// if let Err(refusal) = unsafe { cyclewise::patch::apply_alternatives() } {
///     eprintln!("the defaults stay: {refusal}");
/// }
/// ```
pub unsafe fn apply_alternatives() -> Result<(), Refusal> {
    apply::apply()
}
