//! What the mails published of ring 0, with the units of our rows beside their own.

use crate::record::Published;

/// The mail measured in user mode, where IF does not change: the figure that ring 0 is compared with.
const INTEL: &str = "Intel, 3.4 GHz (model not named), in user mode";
const CORE_DUO: &str = "Intel Core Duo at 1 GHz";

/// D. Vlasenko 2016: 200 million iterations.
pub(super) static POPF: [Published; 4] = published! {
    INTEL => {
        "popf-clear": "push and popf, 4,929,012,093 cycles for 200 million", 24.645, "cycles per iteration, loop included";
        "popf-clear": "push and popf", 0.17, "instructions per cycle";
        "push-pop": "push and pop, 209,247,645 cycles for 200 million", 1.046, "cycles per iteration, loop included";
        "push-pop": "push and pop", 3.83, "instructions per cycle";
    }
};

/// J. Fitzhardinge 2006: lmbench's null system call. At 1 GHz a nanosecond is a cycle.
pub(super) static PERCPU: [Published; 4] = published! {
    CORE_DUO => {
        "sysenter": "null system call without %gs, .237 µs", 237.0, "ns, and cycles at 1 GHz; a whole system call";
        "sysenter-gs": "null system call with %gs saved, loaded and restored, .245 µs", 245.0, "ns, and cycles at 1 GHz; a whole system call";
        "gs-around-tls": "the difference, \"around 9 CPU cycles\"", 9.0, "cycles";
        _: "the kernel's text, 2889361 bytes before and 2883936 after", 5425.0, "bytes saved";
    }
};

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
