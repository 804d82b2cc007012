//! The machine's counter and the kernel's clocks.
//!
//! # Cost
//! The first examination finds what orders the counter, 0.1 ms; each reads a small file, some microseconds.

use super::reason::{ClocksourceName, Reason};
use super::segment::floor;
use super::source::Source;
use crate::arch::counter;
use crate::sys::vmclock::Vmclock;
use crate::sys::{auxv, clock_gettime, clocksource};

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

/// The target of a dependent load. Zero, because no tick is below it.
static WORD: u64 = 0;

/// The counter's readings, and the kernel's clock where there is no counter.
macro_rules! counted {
    ($($name:ident($($target:expr)?);)*) => { $(
        #[inline(always)]
        fn $name(&self) -> u64 {
            if counter::AVAILABLE {
                counter::$name($($target)?)
            } else {
                clock_gettime::monotonic_ns()
            }
        }
    )* };
}

impl Source for System {
    counted! {
        bare();
        load_ordered();
        dependent_load(&WORD);
        bracketed();
    }

    #[inline]
    fn monotonic_ns(&self) -> u64 {
        clock_gettime::monotonic_ns()
    }

    fn raw_ns(&self) -> u64 {
        clock_gettime::raw_ns()
    }

    fn boottime_ns(&self) -> u64 {
        clock_gettime::boottime_ns()
    }

    fn examine(&self) -> Result<(), Reason> {
        if !counter::AVAILABLE {
            return Err(Reason::NoCounter);
        }
        counter::choose(auxv::has_ecv);
        if !counter::is_invariant() {
            return Err(Reason::NotInvariant);
        }
        let name = ClocksourceName(clocksource::current().map_err(|unknown| match unknown {
            clocksource::Unknown::Hidden => Reason::UnknownClocksource,
            clocksource::Unknown::Exhausted => Reason::NotExamined,
        })?);
        if is_this_counter(name.as_str(), counter::is_stable_under_kvm) {
            Ok(())
        } else {
            Err(Reason::Clocksource(name))
        }
    }

    fn disruptions(&self) -> Option<u64> {
        counter::AVAILABLE.then(Vmclock::get).flatten()?.marker()
    }

    #[cfg(feature = "std")]
    #[inline(always)]
    fn raise_floor(&self, ns: u64) -> u64 {
        std::thread_local! {
            static FLOOR: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
        }
        FLOOR.with(|floor| {
            let ns = if ns < floor.get() { kept(floor.get(), ns) } else { ns };
            floor.set(ns);
            ns
        })
    }
}

/// The floor above `ns`, or `ns` where the kernel's clock was set back.
#[cold]
fn kept(floor_ns: u64, ns: u64) -> u64 {
    clock_gettime::known_monotonic_ns().map_or(floor_ns, |now_ns| ns.max(floor(floor_ns, now_ns)))
}

/// Whether the clock source of that name reads the same counter as this crate, and the kernel trusts it.
///
/// `kvm-clock` reads the TSC too. A guest's kernel prefers it to `tsc` if it doubts the TSC, so it is trusted only if
/// the hypervisor declares that the counters of all CPUs agree.
fn is_this_counter(name: &str, is_stable_under_kvm: fn() -> bool) -> bool {
    counter::CLOCKSOURCES.contains(&name) || name == "kvm-clock" && is_stable_under_kvm()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn clock_sources_are_trusted_by_name() {
        let [yes, no]: [fn() -> bool; 2] = [|| true, || false];
        assert!(is_this_counter("tsc", no) && is_this_counter("kvm-clock", yes));
        for name in ["kvm-clock", "hpet", "acpi_pm", "jiffies", "xen", "arch_sys_counter", ""] {
            assert!(!is_this_counter(name, no), "{name}");
        }
    }
}
