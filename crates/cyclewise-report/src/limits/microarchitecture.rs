//! The name under which people know a CPU, where its brand string does not say it.
//!
//! # References
//! Linux, arch/x86/kernel/cpu/amd.c (`bsp_init_amd`) and arch/x86/include/asm/intel-family.h.

use crate::record::Machine;

/// The microarchitecture, by the family and model of CPUID; `None` if they are not in the table.
pub(super) fn name(machine: &Machine) -> Option<&'static str> {
    let number = |word: &str| {
        let mut words = machine.cpu_id.split(' ');
        words.find(|w| *w == word)?;
        words.next()?.parse::<u32>().ok()
    };
    let is_amd = machine.cpu_model.starts_with("AMD");
    let is_intel = machine.cpu_model.starts_with("Intel");
    match (number("family")?, number("model")?) {
        (0x17, 0x00..=0x2f | 0x50..=0x5f) if is_amd => Some("Zen"),
        (0x17, 0x30..=0x4f | 0x60..=0x7f | 0x90..=0x91 | 0xa0..=0xaf) if is_amd => Some("Zen 2"),
        (0x19, 0x00..=0x0f | 0x20..=0x5f) if is_amd => Some("Zen 3"),
        (0x19, 0x10..=0x1f | 0x60..=0xaf) if is_amd => Some("Zen 4"),
        (0x1a, 0x00..=0x2f | 0x40..=0x4f | 0x60..=0x7f) if is_amd => Some("Zen 5"),
        (6, 0x55) if is_intel => Some("Skylake or Cascade Lake"),
        (6, 0x6a) if is_intel => Some("Ice Lake"),
        (6, 0x8f) if is_intel => Some("Sapphire Rapids"),
        (6, 0xad) if is_intel => Some("Granite Rapids"),
        (6, 0xcf) if is_intel => Some("Emerald Rapids"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_of_the_records_have_names() {
        let named = |cpu_model: &str, cpu_id: &str| {
            name(&Machine {
                cpu_model: cpu_model.to_owned(),
                cpu_id: cpu_id.to_owned(),
                ..Machine::default()
            })
        };
        assert_eq!(named("AMD EPYC", "family 25 model 1 stepping 1"), Some("Zen 3"));
        assert_eq!(named("AMD EPYC", "family 25 model 17 stepping 1"), Some("Zen 4"));
        assert_eq!(named("AMD EPYC", "family 26 model 2 stepping 1"), Some("Zen 5"));
        assert_eq!(
            named("Intel(R) Xeon(R) Processor", "family 6 model 207 stepping 2"),
            Some("Emerald Rapids")
        );
        // Linux has models 0x50 to 0x5f as Zen 1, and none at 0x80.
        assert_eq!(named("AMD Athlon", "family 23 model 80 stepping 1"), Some("Zen"));
        assert_eq!(named("AMD Ryzen", "family 23 model 113 stepping 0"), Some("Zen 2"));
        assert_eq!(named("AMD", "family 23 model 128 stepping 0"), None);
        assert_eq!(named("AMD", "family 26 model 80 stepping 0"), None);
        assert_eq!(named("Hygon C86", "family 24 model 1 stepping 1"), None);
        assert_eq!(named("AMD EPYC", "family 99 model 1 stepping 1"), None);
        for unknown in ["", "family", "family x model y", "MIDR 0x410fd0c0"] {
            assert_eq!(named("AMD EPYC", unknown), None, "{unknown}");
        }
    }
}
