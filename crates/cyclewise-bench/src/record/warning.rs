//! Reasons for caution about a machine's figures.

sentences! {
    /// A reason for caution about a machine's figures.
    Warning {
        /// The hypervisor took CPU time during the run.
        Stolen, stolen = "the hypervisor took",
        /// The quota of a control group stopped the program during the run.
        Throttled, throttled = "the control group's quota stopped",
        /// Other programs ran at the start.
        Loaded, loaded = "the load average is",
    }
}

impl Warning {
    /// That the hypervisor took this share of all CPUs' time.
    pub fn of_steal(share: f64) -> Self {
        Self::stolen(format_args!(
            " {:.1} % of this machine's CPU time during the run (/proc/stat steal)",
            100.0 * share
        ))
    }
}

impl From<&str> for Warning {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_of_stolen_time_is_read_as_one() {
        let text = "the hypervisor took 2.8 % of this machine's CPU time during the run (/proc/stat steal)";
        assert_eq!(Warning::from(text), Warning::of_steal(0.0281));
        assert!(matches!(Warning::from(text), Warning::Stolen(_)));
        // The twin: another warning about the same.
        let other = Warning::from("/proc/stat cannot be read: time taken by a hypervisor is not detected");
        assert!(matches!(other, Warning::Other(_)));
    }
}
