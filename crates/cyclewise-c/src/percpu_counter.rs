//! Counters that each CPU adds to in its own words: `struct cw_percpu_counter`, after the kernel's percpu_counter.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_percpu_counter *` is what `cw_percpu_counter_create` returned, not null, and not destroyed.
#![expect(unsafe_code, reason = "functions under names of their own, and objects by address")]

use crate::memory::{boxed, free};
use crate::percpu::register_now;
use crate::sys::errno;
use core::ffi::c_int;
use core::ptr;
use cyclewise::percpu::Counter;

/// A sum that every CPU can add to cheaply.
pub struct cw_percpu_counter(Counter);

/// # Safety
/// Safety 2, for as long as the result is used.
#[inline(always)]
unsafe fn counter<'a>(counter: *const cw_percpu_counter) -> &'a Counter {
    // SAFETY: a counter that is not destroyed (Safety 2).
    unsafe { &(*counter).0 }
}

/// A counter that starts at `value`. With `batch` 0 its batch is the kernel's: 32, or twice the number of CPUs if that is more. A larger
/// one makes additions faster and cw_percpu_counter_read less exact. Null without memory.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_percpu_counter_create(value: i64, batch: u64) -> *mut cw_percpu_counter {
    let _errno = errno::keep();
    register_now();
    let counter = match batch {
        0 => Counter::new(value),
        batch => Counter::with_batch(value, batch),
    };
    // Now, so that no addition lacks memory.
    if counter.try_allocate().is_err() {
        return ptr::null_mut();
    }
    boxed(cw_percpu_counter(counter))
}

/// Frees a counter, or does nothing if it is null.
///
/// # Safety
/// Null or Safety 2, and no thread uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_counter_destroy(counter: *mut cw_percpu_counter) {
    let _errno = errno::keep();
    // SAFETY: what `boxed` made, guaranteed by the caller.
    unsafe { free(counter) };
}

/// Adds, and wraps around. Orders nothing. A signal handler may call it.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_counter_add(counter: *mut cw_percpu_counter, amount: i64) {
    // SAFETY: Safety 2.
    unsafe { self::counter(counter) }.add(amount);
}

/// Adds one. As cw_percpu_counter_add.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_counter_inc(counter: *mut cw_percpu_counter) {
    // SAFETY: Safety 2.
    unsafe { self::counter(counter) }.inc();
}

/// Subtracts one. As cw_percpu_counter_add.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_counter_dec(counter: *mut cw_percpu_counter) {
    // SAFETY: Safety 2.
    unsafe { self::counter(counter) }.dec();
}

/// The approximate sum, by one load: it differs from the sum by at most cw_percpu_counter_error while no thread adds.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_counter_read(counter: *const cw_percpu_counter) -> i64 {
    // SAFETY: Safety 2.
    unsafe { self::counter(counter) }.read()
}

/// The approximate sum, or 0 if that is negative.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_counter_read_positive(counter: *const cw_percpu_counter) -> i64 {
    // SAFETY: Safety 2.
    unsafe { self::counter(counter) }.read_positive()
}

/// The sum: exact for all additions that happened before. A walk over all CPUs.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_counter_sum(counter: *const cw_percpu_counter) -> i64 {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { self::counter(counter) }.sum()
}

/// The sum, or 0 if that is negative.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_counter_sum_positive(counter: *const cw_percpu_counter) -> i64 {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { self::counter(counter) }.sum_positive()
}

/// The sum compared with `value`: -1, 0 or 1. Reads all CPUs only if the approximate sum is close.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_counter_compare(counter: *const cw_percpu_counter, value: i64) -> c_int {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { self::counter(counter) }.compare(value) as c_int
}

/// The largest difference between cw_percpu_counter_read and the sum while no thread adds.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_counter_error(counter: *const cw_percpu_counter) -> u64 {
    // SAFETY: Safety 2.
    unsafe { self::counter(counter) }.error()
}
