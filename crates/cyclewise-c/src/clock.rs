//! The clock: times of CLOCK_MONOTONIC by the counter, in each order, with their error bounds and the clock's status.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. The places that a caller gives are null or may be written to.
#![expect(
    unsafe_code,
    reason = "functions under names of their own, and places that the caller gives"
)]

use crate::refusal::{CW_MESSAGE_SIZE, c_text};
use crate::sys::errno;
use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use cyclewise::clock::{
    AfterStores, Bracketed, Clock, DependentLoad, Instant, LoadOrdered, Mode, Order, PerTask, Reason, Ticks,
};

/// What a reading of the counter is ordered with.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum cw_clock_order {
    /// Times of one thread never go back; those of two may be off by what a CPU reorders, tens of nanoseconds.
    CW_CLOCK_PER_TASK = 0,
    /// After every earlier load, as the kernel's rdtsc_ordered(): for stamps that threads compare.
    CW_CLOCK_LOAD_ORDERED = 1,
    /// The same, and before every later load: for a stamp before something is read.
    CW_CLOCK_DEPENDENT_LOAD = 2,
    /// After every earlier instruction and before every later one: for timing a section.
    CW_CLOCK_BRACKETED = 3,
    /// The same, and after every CPU sees what this thread stored before.
    CW_CLOCK_AFTER_STORES = 4,
}

/// A time and its error bound.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cw_clock_reading {
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub ns: u64,
    /// The largest distance from CLOCK_MONOTONIC, in either direction.
    pub error_ns: u64,
}

/// The source of a clock's readings.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum cw_clock_mode {
    /// The kernel's clock, while the counter's rate is being learnt or after nobody has read the clock for some time.
    CW_CLOCK_MODE_STARTING = 0,
    /// The counter.
    CW_CLOCK_MODE_COUNTER = 1,
    /// The kernel's clock, permanently.
    CW_CLOCK_MODE_KERNEL = 2,
}

/// The last fault of the counter, or why it is not used.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum cw_clock_reason {
    /// There was none.
    CW_CLOCK_REASON_NO_FAULT = 0,
    /// This build reads no counter.
    CW_CLOCK_REASON_NO_COUNTER = 1,
    /// The CPU does not promise that its counter runs at one rate.
    CW_CLOCK_REASON_NOT_INVARIANT = 2,
    /// The kernel's clock source cannot be read.
    CW_CLOCK_REASON_UNKNOWN_CLOCKSOURCE = 3,
    /// The kernel's clock source is not this counter.
    CW_CLOCK_REASON_OTHER_CLOCKSOURCE = 4,
    /// The counter went back.
    CW_CLOCK_REASON_COUNTER_WENT_BACK = 5,
    /// The counter advanced by more or less than CLOCK_MONOTONIC_RAW.
    CW_CLOCK_REASON_COUNTER_JUMPED = 6,
    /// The rate of CLOCK_MONOTONIC changed by more than 977 ppm.
    CW_CLOCK_REASON_RATE_STEP = 7,
    /// The machine was suspended.
    CW_CLOCK_REASON_SUSPENDED = 8,
    /// The hypervisor moved or restored the machine.
    CW_CLOCK_REASON_DISRUPTED = 9,
    /// There were too many faults to trust the counter again.
    CW_CLOCK_REASON_UNSTEADY = 10,
    /// The clock source could not be read for lack of a descriptor or of memory.
    CW_CLOCK_REASON_NOT_EXAMINED = 11,
    /// A reason that this version of the header does not name; the message says it.
    CW_CLOCK_REASON_OTHER = 127,
}

/// The clock's state.
#[repr(C)]
pub struct cw_clock_status {
    /// An enum cw_clock_mode.
    pub mode: c_int,
    /// An enum cw_clock_reason.
    pub reason: c_int,
    /// The number of faults.
    pub faults: u64,
    /// The number of times that the kernel's clock was read beside the counter.
    pub anchors: u64,
    /// The counter's ticks per second, as far as known; else 0.
    pub hz: f64,
    /// One line on the reason; empty without one.
    pub message: [c_char; CW_MESSAGE_SIZE],
    /// 0; for later versions.
    pub reserved: [u64; 4],
}

/// The time: nanoseconds of CLOCK_MONOTONIC, load-ordered. Never below an earlier reading on any thread, if that happened before
/// this one.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_clock_now_load_ordered() -> u64 {
    Instant::<LoadOrdered>::read().as_nanos()
}

/// The time by a bare read of the counter: times of one thread never go back.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_clock_now_per_task() -> u64 {
    Instant::<PerTask>::read().as_nanos()
}

/// The time, load-ordered and before every later load.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_clock_now_dependent_load() -> u64 {
    Instant::<DependentLoad>::read().as_nanos()
}

/// The time, after every earlier instruction and before every later one.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_clock_now_bracketed() -> u64 {
    Instant::<Bracketed>::read().as_nanos()
}

/// The time, as cw_clock_now_bracketed, and after every CPU sees what this thread stored before. No fence before another order
/// ensures that.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_clock_now_after_stores() -> u64 {
    Instant::<AfterStores>::read().as_nanos()
}

/// A time that may be old if a thread keeps it up to date, at the cost of one load; else the time. On each thread it never goes back.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_clock_recent() -> u64 {
    Clock::process().recent().as_nanos()
}

/// The time in this order, an enum cw_clock_order, and a bound of its distance from CLOCK_MONOTONIC. The bound holds while the counter is
/// steady and the kernel changes the rate of its clock by less than 977 ppm between two anchors.
///
/// Another number counts as CW_CLOCK_AFTER_STORES, which is ordered with all that the others are.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_clock_read(order: c_int) -> cw_clock_reading {
    const PER_TASK: c_int = cw_clock_order::CW_CLOCK_PER_TASK as c_int;
    const LOAD_ORDERED: c_int = cw_clock_order::CW_CLOCK_LOAD_ORDERED as c_int;
    const DEPENDENT_LOAD: c_int = cw_clock_order::CW_CLOCK_DEPENDENT_LOAD as c_int;
    const BRACKETED: c_int = cw_clock_order::CW_CLOCK_BRACKETED as c_int;
    match order {
        PER_TASK => reading::<PerTask>(),
        LOAD_ORDERED => reading::<LoadOrdered>(),
        DEPENDENT_LOAD => reading::<DependentLoad>(),
        BRACKETED => reading::<Bracketed>(),
        _ => reading::<AfterStores>(),
    }
}

fn reading<O: Order>() -> cw_clock_reading {
    let reading = Clock::process().reading::<O>();
    cw_clock_reading {
        ns: reading.instant.as_nanos(),
        error_ns: u64::try_from(reading.error.as_nanos()).unwrap_or(u64::MAX),
    }
}

/// The state of the clock, and the reason for it.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_get_clock_status(status: *mut cw_clock_status) {
    let _errno = errno::keep();
    let found = Clock::process().status();
    let mode = match found.mode {
        Mode::Counter => cw_clock_mode::CW_CLOCK_MODE_COUNTER,
        Mode::Kernel => cw_clock_mode::CW_CLOCK_MODE_KERNEL,
        _ => cw_clock_mode::CW_CLOCK_MODE_STARTING,
    };
    if status.is_null() {
        return;
    }
    let found = cw_clock_status {
        mode: mode as c_int,
        reason: found.reason.map_or(cw_clock_reason::CW_CLOCK_REASON_NO_FAULT, numbered) as c_int,
        faults: found.faults,
        anchors: found.anchors,
        hz: found.hz.unwrap_or(0.0),
        message: found.reason.map_or([0; CW_MESSAGE_SIZE], |reason| c_text(&reason)),
        reserved: [0; 4],
    };
    // SAFETY: not null, so the caller lets us write to it.
    unsafe { status.write(found) };
}

fn numbered(reason: Reason) -> cw_clock_reason {
    use cw_clock_reason::*;
    match reason {
        Reason::NoCounter => CW_CLOCK_REASON_NO_COUNTER,
        Reason::NotInvariant => CW_CLOCK_REASON_NOT_INVARIANT,
        Reason::UnknownClocksource => CW_CLOCK_REASON_UNKNOWN_CLOCKSOURCE,
        Reason::Clocksource(_) => CW_CLOCK_REASON_OTHER_CLOCKSOURCE,
        Reason::CounterWentBack => CW_CLOCK_REASON_COUNTER_WENT_BACK,
        Reason::CounterJumped => CW_CLOCK_REASON_COUNTER_JUMPED,
        Reason::RateStep => CW_CLOCK_REASON_RATE_STEP,
        Reason::Suspended => CW_CLOCK_REASON_SUSPENDED,
        Reason::Disrupted => CW_CLOCK_REASON_DISRUPTED,
        Reason::Unsteady => CW_CLOCK_REASON_UNSTEADY,
        Reason::NotExamined => CW_CLOCK_REASON_NOT_EXAMINED,
        _ => CW_CLOCK_REASON_OTHER,
    }
}

/// The counter, by a bare read. <cyclewise/clock.h> reads it inline where it can.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_ticks_called() -> u64 {
    Ticks::<PerTask>::read().raw()
}

/// The clock's segments, for the inline reading in <cyclewise/clock.h>; null if they are laid out otherwise than as `layout` says.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_clock_segments(layout: c_int) -> *const c_void {
    let _errno = errno::keep();
    match layout {
        1 => Clock::process().__segments().cast(),
        _ => ptr::null(),
    }
}

/// The instructions that read the counter after every earlier load, on this CPU: 1 for LFENCE and RDTSC, 2 for RDTSCP, 0 for others.
/// The first call finds out, in about 0.1 ms.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_ticks_sequence() -> c_int {
    let _errno = errno::keep();
    #[cfg(target_arch = "x86_64")]
    {
        use cyclewise::arch::tsc_order::{self, Sequence};
        match tsc_order::choose() {
            Sequence::LfenceRdtsc => 1,
            Sequence::Rdtscp => 2,
            Sequence::MfenceLfenceRdtsc => 0,
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// The counter, in this order: an enum cw_clock_order. Another number counts as CW_CLOCK_AFTER_STORES.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_ticks_as(order: c_int) -> u64 {
    match order {
        0 => Ticks::<PerTask>::read().raw(),
        1 => Ticks::<LoadOrdered>::read().raw(),
        2 => Ticks::<DependentLoad>::read().raw(),
        3 => Ticks::<Bracketed>::read().raw(),
        _ => Ticks::<AfterStores>::read().raw(),
    }
}
