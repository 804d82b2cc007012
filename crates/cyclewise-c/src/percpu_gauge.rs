//! Numbers that go up and down on each CPU, and can be set: `struct cw_percpu_gauge`.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_percpu_gauge *` is what `cw_percpu_gauge_create` returned, not null, and not destroyed.
#![expect(unsafe_code, reason = "functions under names of their own, and objects by address")]

use crate::memory::{boxed, free};
use crate::percpu::register_now;
use crate::sys::errno;
use core::ptr;
use cyclewise::percpu::Gauge;

/// A number that every CPU can change cheaply.
pub struct cw_percpu_gauge(Gauge);

/// # Safety
/// Safety 2, for as long as the result is used.
#[inline(always)]
unsafe fn gauge<'a>(gauge: *const cw_percpu_gauge) -> &'a Gauge {
    // SAFETY: a gauge that is not destroyed (Safety 2).
    unsafe { &(*gauge).0 }
}

/// A gauge that starts at `value`. Null without memory.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_percpu_gauge_create(value: i64) -> *mut cw_percpu_gauge {
    let _errno = errno::keep();
    register_now();
    let gauge = Gauge::new(value);
    // Now, so that no addition lacks memory.
    if gauge.try_allocate().is_err() {
        return ptr::null_mut();
    }
    boxed(cw_percpu_gauge(gauge))
}

/// Frees a gauge, or does nothing if it is null.
///
/// # Safety
/// Null or Safety 2, and no thread uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_gauge_destroy(gauge: *mut cw_percpu_gauge) {
    let _errno = errno::keep();
    // SAFETY: what `boxed` made, guaranteed by the caller.
    unsafe { free(gauge) };
}

/// Adds, and wraps around. Orders nothing. A signal handler may call it.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_gauge_add(gauge: *mut cw_percpu_gauge, amount: i64) {
    // SAFETY: Safety 2.
    unsafe { self::gauge(gauge) }.add(amount);
}

/// The number: exact for all additions that happened before. Reads all CPUs.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_gauge_get(gauge: *const cw_percpu_gauge) -> i64 {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { self::gauge(gauge) }.get()
}

/// Sets the number; an addition at the same time is before or after it. Reads all CPUs.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_gauge_set(gauge: *mut cw_percpu_gauge, value: i64) {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { self::gauge(gauge) }.set(value);
}
