//! Why the clock reads, or for a while read, the kernel's clock instead of the counter.

use core::fmt;

/// The error bounds hold while the kernel changes the rate of CLOCK_MONOTONIC by less than 2^-10, 977 ppm, between two
/// anchors. NTP slews by at most 500 ppm (MAXFREQ in Linux include/uapi/linux/timex.h), adjtime(3) by 500 more. A
/// faster change is a [`RateStep`](Reason::RateStep).
pub(super) const SLEW_SHIFT: u32 = 10;

/// A fault of the counter, or a reason not to use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// This build reads no counter: the architecture or the system is not supported.
    NoCounter,
    /// The CPU does not promise that its counter runs at one rate (CPUID 8000_0007h, EDX bit 8; CNTFRQ_EL0 of 0).
    NotInvariant,
    /// The kernel's clock source cannot be read.
    UnknownClocksource,
    /// The kernel's clock source is not this counter; it may have found the counter unsteady.
    Clocksource(ClocksourceName),
    /// The counter went back.
    CounterWentBack,
    /// The counter advanced by more or less than CLOCK_MONOTONIC_RAW since the last anchor, or the process is in another time namespace by
    /// now.
    CounterJumped,
    /// The rate of CLOCK_MONOTONIC changed by more than 977 ppm between two anchors.
    RateStep,
    /// The machine was suspended: CLOCK_BOOTTIME advanced more than CLOCK_MONOTONIC.
    Suspended,
    /// The hypervisor says that the machine was moved or restored (`/dev/vmclock0`).
    Disrupted,
    /// There were too many faults of the counter or of the kernel's rate to trust the counter again. Suspends and
    /// disruptions do not count.
    Unsteady,
    /// The kernel's clock source could not be read for lack of a descriptor or of memory. The clock keeps its state and
    /// tries again a second later.
    NotExamined,
}

impl Reason {
    /// Whether the reason says nothing about the counter and may be gone at the next examination.
    pub(super) fn is_transient(self) -> bool {
        matches!(self, Self::NotExamined)
    }
}

/// The name of a clock source of the kernel.
///
/// # Examples
/// ```
/// use cyclewise::clock::ClocksourceName;
///
/// assert_eq!(ClocksourceName::new("tsc").as_str(), "tsc");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ClocksourceName(pub(super) [u8; 32]);

impl ClocksourceName {
    /// The name.
    pub fn as_str(&self) -> &str {
        let end = self.0.iter().position(|b| *b == 0).unwrap_or(self.0.len());
        core::str::from_utf8(&self.0[..end]).unwrap_or("?")
    }

    /// The first bytes of `name`.
    pub fn new(name: &str) -> Self {
        let mut bytes = [0; 32];
        let kept = bytes.iter_mut().zip(name.bytes());
        kept.for_each(|(to, from)| *to = from);
        Self(bytes)
    }
}

impl fmt::Debug for ClocksourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCounter => "this build reads no counter; nothing to do, the kernel's clock is used",
            Self::NotInvariant => "the CPU does not promise a steady counter (CPUID 8000_0007h); run where it does",
            Self::UnknownClocksource => {
                "/sys/devices/system/clocksource cannot be read; let the process see it, or go on with the kernel's clock"
            }
            Self::Clocksource(name) => {
                return write!(
                    f,
                    "the kernel keeps time by {}; see dmesg for why it does not trust the counter",
                    name.as_str()
                );
            }
            Self::CounterWentBack => "the counter went back; report the machine, and see dmesg",
            Self::CounterJumped => "the counter jumped against CLOCK_MONOTONIC_RAW; see whether the machine was moved, or the process entered a time namespace",
            Self::RateStep => "CLOCK_MONOTONIC changed its rate by more than 977 ppm; see what sets adjtimex",
            Self::Suspended => "the machine was suspended; nothing to do, the rate was learnt again",
            Self::Disrupted => "the hypervisor moved or restored the machine; nothing to do, the rate was learnt again",
            Self::NotExamined => {
                "no descriptor or no memory was left to look at the clock source; nothing to do, it is tried again"
            }
            Self::Unsteady => "the counter was unsteady too often; see the kernel's log, the kernel's clock is used",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_reason_says_what_and_what_to_do() {
        assert_eq!(
            Reason::Clocksource(ClocksourceName::new("hpet")).to_string(),
            "the kernel keeps time by hpet; see dmesg for why it does not trust the counter"
        );
        assert_eq!(ClocksourceName::new(&"x".repeat(40)).as_str().len(), 32);
    }
}
