//! Boost: whether the clock may exceed its nominal rate.

use super::topology::CPUS;
use crate::sys::procfs::Sysfs;

/// What a driver's switch says.
pub(crate) struct Boost {
    /// Whether it is on.
    pub(crate) on: bool,
    /// The switch and its raw value.
    pub(crate) evidence: String,
}

/// The switches of the drivers that have one, and the text that means on: Intel's is the other way round.
pub(crate) fn switches() -> [(String, &'static str); 2] {
    [
        (format!("{CPUS}/intel_pstate/no_turbo"), "0"),
        (format!("{CPUS}/cpufreq/boost"), "1"),
    ]
}

/// Boost as the first readable switch has it; `None` where there is none.
pub(crate) fn state(fs: &Sysfs) -> Option<Boost> {
    switches().into_iter().find_map(|(path, on)| {
        let reading = fs.read(&path);
        Some(Boost {
            on: reading.get()? == on,
            evidence: reading.to_string(),
        })
    })
}
