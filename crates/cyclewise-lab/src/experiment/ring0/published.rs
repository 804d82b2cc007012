//! What the mails published of ring 0, with the units of our rows beside their own.

use crate::record::Published;

/// The mail measured in user mode, where IF does not change: the figure that ring 0 is compared with.
const INTEL: &str = "Intel, 3.4 GHz (model not named), in user mode";
const CORE_DUO: &str = "Intel Core Duo at 1 GHz";

/// D. Vlasenko 2016: 200 million iterations.
pub(super) static POPF: [Published; 4] = [
    Published {
        variant: Some("popf-clear"),
        what: "push and popf, 4,929,012,093 cycles for 200 million",
        figure: 24.645,
        unit: "cycles per iteration, loop included",
        machine: INTEL,
    },
    Published {
        variant: Some("popf-clear"),
        what: "push and popf",
        figure: 0.17,
        unit: "instructions per cycle",
        machine: INTEL,
    },
    Published {
        variant: Some("push-pop"),
        what: "push and pop, 209,247,645 cycles for 200 million",
        figure: 1.046,
        unit: "cycles per iteration, loop included",
        machine: INTEL,
    },
    Published {
        variant: Some("push-pop"),
        what: "push and pop",
        figure: 3.83,
        unit: "instructions per cycle",
        machine: INTEL,
    },
];

/// J. Fitzhardinge 2006: lmbench's null system call. At 1 GHz a nanosecond is a cycle.
pub(super) static PERCPU: [Published; 4] = [
    Published {
        variant: Some("sysenter"),
        what: "null system call without %gs, .237 µs",
        figure: 237.0,
        unit: "ns, and cycles at 1 GHz; a whole system call",
        machine: CORE_DUO,
    },
    Published {
        variant: Some("sysenter-gs"),
        what: "null system call with %gs saved, loaded and restored, .245 µs",
        figure: 245.0,
        unit: "ns, and cycles at 1 GHz; a whole system call",
        machine: CORE_DUO,
    },
    Published {
        variant: Some("gs-around-tls"),
        what: "the difference, \"around 9 CPU cycles\"",
        figure: 9.0,
        unit: "cycles",
        machine: CORE_DUO,
    },
    Published {
        variant: None,
        what: "the kernel's text, 2889361 bytes before and 2883936 after",
        figure: 5425.0,
        unit: "bytes saved",
        machine: CORE_DUO,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_from_the_mails_own_numbers() {
        let [popf, _, pop, _] = &POPF;
        assert!((popf.figure - 4_929_012_093.0 / 2e8).abs() < 1e-3);
        assert!((pop.figure - 209_247_645.0 / 2e8).abs() < 1e-3);
        let [before, after, difference, text] = &PERCPU;
        // The mail says 8 to 9 ns, and around 9 cycles.
        assert!((after.figure - before.figure - difference.figure).abs() <= 1.0);
        assert_eq!(text.figure, f64::from(2_889_361 - 2_883_936));
    }
}
