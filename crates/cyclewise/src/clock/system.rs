//! The machine's counter and the kernel's clocks.
//!
//! # Cost
//! The first examination finds out what orders the counter, 0.1 ms; each reads a file of a few bytes, some microseconds.

use super::reason::Reason;
use super::source::Source;
use crate::arch::ticks;
use crate::sys::clock;

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

/// What a dependent load reads. Zero: no tick is below it.
static WORD: u64 = 0;

impl Source for System {
    #[inline(always)]
    fn bare(&self) -> u64 {
        if ticks::AVAILABLE {
            ticks::bare()
        } else {
            clock::monotonic_ns()
        }
    }

    #[inline(always)]
    fn load_ordered(&self) -> u64 {
        if ticks::AVAILABLE {
            ticks::load_ordered()
        } else {
            clock::monotonic_ns()
        }
    }

    #[inline(always)]
    fn dependent_load(&self) -> u64 {
        if ticks::AVAILABLE {
            ticks::dependent_load(&WORD)
        } else {
            clock::monotonic_ns()
        }
    }

    #[inline(always)]
    fn bracketed(&self) -> u64 {
        if ticks::AVAILABLE {
            ticks::bracketed()
        } else {
            clock::monotonic_ns()
        }
    }

    #[inline]
    fn monotonic_ns(&self) -> u64 {
        clock::monotonic_ns()
    }

    fn raw_ns(&self) -> u64 {
        clock::raw_ns()
    }

    fn boottime_ns(&self) -> u64 {
        clock::boottime_ns()
    }

    fn examine(&self) -> Result<(), Reason> {
        examine()
    }

    fn disruptions(&self) -> u64 {
        disruptions()
    }

    #[cfg(feature = "std")]
    #[inline(always)]
    fn raise_floor(&self, ns: u64) -> u64 {
        std::thread_local! {
            static FLOOR: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
        }
        FLOOR.with(|floor| {
            let ns = ns.max(floor.get());
            floor.set(ns);
            ns
        })
    }
}

#[cfg(all(target_os = "linux", not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
fn examine() -> Result<(), Reason> {
    use super::reason::Name;
    use crate::sys::clocksource;

    #[cfg(target_arch = "x86_64")]
    crate::arch::choice::choose();
    #[cfg(target_arch = "aarch64")]
    ticks::choose(clocksource::has_ecv());
    if !ticks::is_invariant() {
        return Err(Reason::NotInvariant);
    }
    let name = Name(clocksource::current().ok_or(Reason::UnknownClocksource)?);
    if is_this_counter(name.as_str()) {
        Ok(())
    } else {
        Err(Reason::Clocksource(name))
    }
}

/// Whether the kernel's clock source of that name reads the counter that this crate reads, and trusts it.
///
/// Not `kvm-clock`: it reads the TSC too, with a rate of its own for each CPU, and is preferred to `tsc` by a guest's kernel
/// where the hypervisor does not promise that the TSC is stable.
#[cfg(all(target_os = "linux", not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
fn is_this_counter(name: &str) -> bool {
    match name {
        "tsc" | "hyperv_clocksource_tsc_page" => cfg!(target_arch = "x86_64"),
        "arch_sys_counter" => cfg!(target_arch = "aarch64"),
        _ => false,
    }
}

#[cfg(all(target_os = "linux", not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
fn disruptions() -> u64 {
    crate::sys::clocksource::Vmclock::get()
        .and_then(|vmclock| vmclock.marker())
        .unwrap_or(0)
}

#[cfg(not(all(target_os = "linux", not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn examine() -> Result<(), Reason> {
    Err(Reason::NoCounter)
}

#[cfg(not(all(target_os = "linux", not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn disruptions() -> u64 {
    0
}
