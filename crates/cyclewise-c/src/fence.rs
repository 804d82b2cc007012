//! The heavy half of the asymmetric fences; the light one is inline, in `<cyclewise/fence.h>`.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_refusal *` is null or may be written to.
#![expect(unsafe_code, reason = "functions under names of their own")]

use crate::refusal::{answer, cw_refusal};
use crate::sys::errno;
use core::ffi::c_int;
use cyclewise::fence;

/// Pairs with every cw_fence_light of this process: interrupts each CPU that runs another of its threads, which takes some microseconds.
/// Refused where a filter that was installed after the first fence forbids membarrier(2); then no fence was made.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_fence_heavy(why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { answer(fence::try_heavy(), why) }
}

/// The same for many callers at once, who share one membarrier(2).
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_fence_heavy_batched(why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { answer(fence::try_heavy_batched(), why) }
}

/// Whether light fences are free in this process; the same at each call.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_fence_is_asymmetric() -> bool {
    let _errno = errno::keep();
    fence::is_asymmetric()
}
