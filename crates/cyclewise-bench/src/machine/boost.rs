//! Boost: whether the core clock may exceed its nominal rate.

use super::topology::CPUS;
use crate::sys::procfs::Sysfs;

/// The state of boost, according to a driver's switch.
pub struct Boost {
    pub on: bool,
    /// The switch and its raw value.
    pub evidence: String,
}

/// The drivers' switches, each with the text that means on; Intel's is inverted.
pub fn switches() -> [(String, &'static str); 2] {
    [
        (format!("{CPUS}/intel_pstate/no_turbo"), "0"),
        (format!("{CPUS}/cpufreq/boost"), "1"),
    ]
}

/// The state from the first readable switch; `None` if there is none.
pub fn state(fs: &Sysfs) -> Option<Boost> {
    switches().into_iter().find_map(|(path, on)| {
        let reading = fs.read(&path);
        Some(Boost {
            on: reading.get()? == on,
            evidence: reading.to_string(),
        })
    })
}
