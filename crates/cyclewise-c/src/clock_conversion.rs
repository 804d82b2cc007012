//! Converting raw stamps of the counter, many at once.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_clock_conversion *` to be read holds what `cw_clock_conversion_make` wrote there.
//! 3. The caller's arrays have as many words as it says.
#![expect(
    unsafe_code,
    reason = "functions under names of their own, and places that the caller gives"
)]

use crate::memory::give;
use crate::sys::errno;
use core::time::Duration;
use cyclewise::clock::{Clock, Conversion, PerTask, Ticks};

/// Converts stamps of the counter to times. Its contents are the library's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct cw_clock_conversion {
    /// A line: a reading of the kernel's clock at a tick, and the rate that the clock has learnt.
    pub words: [u64; 8],
}

const _: () = {
    assert!(size_of::<Conversion>() <= size_of::<cw_clock_conversion>());
    assert!(align_of::<Conversion>() <= align_of::<cw_clock_conversion>());
};

/// The time that stands for a stamp which cannot be converted.
pub const CW_CLOCK_UNKNOWN: u64 = u64::MAX;

/// # Safety
/// Safety 2.
unsafe fn read(conversion: *const cw_clock_conversion) -> Conversion {
    // SAFETY: written by `cw_clock_conversion_make` (Safety 2).
    unsafe { conversion.cast::<Conversion>().read() }
}

/// Makes a conversion of stamps that were taken since the clock was first read; take it after the stamps. False while the rate is
/// unknown, and where the counter is not used or has not kept its rate; nothing is written then.
///
/// Its calls, a millisecond or more apart, also let a clock learn the rate that nobody reads otherwise: the third succeeds.
///
/// # Safety
/// The conversion is null or may be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_clock_conversion_make(conversion: *mut cw_clock_conversion) -> bool {
    let _errno = errno::keep();
    let Some(made) = Clock::process().conversion() else {
        return false;
    };
    // SAFETY: the caller's, which has room for it.
    unsafe { give(conversion, cw_clock_conversion { words: [0; 8] }) };
    // SAFETY: the same.
    unsafe { give(conversion.cast::<Conversion>(), made) };
    true
}

/// Converts `count` stamps to nanoseconds of CLOCK_MONOTONIC; returns how many could be. The others are CW_CLOCK_UNKNOWN: they are from
/// before the clock's first reading, or before the last fault of the counter. Times of one conversion are in the order of
/// their stamps, or equal. 0 where an array is null.
///
/// # Safety
/// Safety 2 and 3. The two arrays may be one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_clock_convert(
    conversion: *const cw_clock_conversion,
    ticks: *const u64,
    ns: *mut u64,
    count: usize,
) -> usize {
    if ticks.is_null() || ns.is_null() {
        return 0;
    }
    // SAFETY: Safety 2.
    let conversion = unsafe { read(conversion) };
    let mut converted = 0;
    for n in 0..count {
        // SAFETY: Safety 3.
        let stamp = unsafe { ticks.wrapping_add(n).read() };
        let time = conversion.time(Ticks::<PerTask>::from_raw(stamp));
        converted += usize::from(time.is_some());
        let time = time.map_or(CW_CLOCK_UNKNOWN, |time| time.as_nanos());
        // SAFETY: Safety 3.
        unsafe { ns.wrapping_add(n).write(time) };
    }
    converted
}

/// A bound of the distance of a stamp's time from CLOCK_MONOTONIC at the stamp, in nanoseconds.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_clock_conversion_error(conversion: *const cw_clock_conversion, ticks: u64) -> u64 {
    // SAFETY: Safety 2.
    let error = unsafe { read(conversion) }.error(Ticks::<PerTask>::from_raw(ticks));
    u64::try_from(error.as_nanos()).unwrap_or(u64::MAX)
}

/// The nanoseconds between two stamps, at the counter's present rate; 0 if `to` is not later. CW_CLOCK_UNKNOWN while the rate is
/// unknown. Accurate to a few ppm.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_clock_between(from: u64, to: u64) -> u64 {
    let [from, to] = [from, to].map(Ticks::<PerTask>::from_raw);
    let between = Clock::process().between(from, to);
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX - 1);
    between.map_or(CW_CLOCK_UNKNOWN, ns)
}
