//! Histograms that each CPU records in by itself: `struct cw_percpu_histogram`.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_percpu_histogram *` is what `cw_percpu_histogram_create` returned, not null, and not destroyed.
//! 3. A place for a result is null or may be written to.
#![expect(unsafe_code, reason = "functions under names of their own, and objects by address")]

use crate::memory::{boxed, free, give};
use crate::percpu::register_now;
use crate::sys::errno;
use core::ptr;
use cyclewise::percpu::Histogram;

/// Counts of values by their size. The numbers between two powers of two are divided into 32 buckets of one width, from above 2^-32 to 2^64.
pub struct cw_percpu_histogram(Histogram);

/// A bucket of a histogram.
#[repr(C)]
pub struct cw_percpu_bucket {
    /// Its values are above this,
    pub lower: f64,
    /// and at most this.
    pub upper: f64,
    /// How many there are.
    pub count: u64,
}

/// # Safety
/// Safety 2, for as long as the result is used.
#[inline(always)]
unsafe fn histogram<'a>(histogram: *const cw_percpu_histogram) -> &'a Histogram {
    // SAFETY: a histogram that is not destroyed (Safety 2).
    unsafe { &(*histogram).0 }
}

/// A histogram of nothing. Null without memory.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_percpu_histogram_create() -> *mut cw_percpu_histogram {
    let _errno = errno::keep();
    register_now();
    let histogram = Histogram::new();
    // Now, so that no record lacks memory.
    if histogram.try_allocate().is_err() {
        return ptr::null_mut();
    }
    boxed(cw_percpu_histogram(histogram))
}

/// Frees a histogram, or does nothing if it is null.
///
/// # Safety
/// Null or Safety 2, and no thread uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_histogram_destroy(histogram: *mut cw_percpu_histogram) {
    let _errno = errno::keep();
    // SAFETY: what `boxed` made, guaranteed by the caller.
    unsafe { free(histogram) };
}

/// Counts a value, by one addition on the CPU. Orders nothing. A signal handler may call it.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_histogram_record(histogram: *mut cw_percpu_histogram, value: f64) {
    // SAFETY: Safety 2.
    unsafe { self::histogram(histogram) }.record(value);
}

/// Counts a whole number; from 2^53 on the nearest double. As cw_percpu_histogram_record.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_histogram_record_u64(histogram: *mut cw_percpu_histogram, value: u64) {
    // SAFETY: Safety 2.
    unsafe { self::histogram(histogram) }.record_u64(value);
}

/// How many values were recorded; of them, 2^-32 or less in `*below`, and above 2^64 or not a number in `*above`, which may be
/// null. Reads all CPUs, as do the next two. Not for signal handlers.
///
/// # Safety
/// Safety 2 and 3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_histogram_count(
    histogram: *const cw_percpu_histogram,
    below: *mut u64,
    above: *mut u64,
) -> u64 {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    let taken = unsafe { self::histogram(histogram) }.snapshot();
    // SAFETY: Safety 3.
    unsafe { give(below, taken.below()) };
    // SAFETY: Safety 3.
    unsafe { give(above, taken.above()) };
    taken.count()
}

/// Between which numbers the value is that a share of `q` of all values does not exceed: above `*lower`, and at most `*upper`, which is at
/// most 1/32 more. Infinite for values outside of the buckets. 0.5 is the median. False without values; nothing is written then.
///
/// # Safety
/// Safety 2 and 3.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_histogram_quantile(
    histogram: *const cw_percpu_histogram,
    q: f64,
    lower: *mut f64,
    upper: *mut f64,
) -> bool {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    let taken = unsafe { self::histogram(histogram) }.snapshot();
    let Some(range) = taken.quantile(q) else {
        return false;
    };
    // SAFETY: Safety 3.
    unsafe { give(lower, range.lower) };
    // SAFETY: Safety 3.
    unsafe { give(upper, range.upper) };
    true
}

/// Writes the first `length` buckets in which there is a value, in ascending order, and returns how many such buckets there are.
///
/// # Safety
/// Safety 2; there is room for `length` buckets at `buckets`, or `length` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_histogram_buckets(
    histogram: *const cw_percpu_histogram,
    buckets: *mut cw_percpu_bucket,
    length: usize,
) -> usize {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    let taken = unsafe { self::histogram(histogram) }.snapshot();
    let mut found = 0;
    for bucket in taken.buckets() {
        if found < length {
            let bucket = cw_percpu_bucket {
                lower: bucket.lower,
                upper: bucket.upper,
                count: bucket.count,
            };
            // SAFETY: below the length, for which there is room.
            unsafe { give(buckets.wrapping_add(found), bucket) };
        }
        found += 1;
    }
    found
}
