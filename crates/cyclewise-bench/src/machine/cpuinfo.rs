//! /proc/cpuinfo of the first CPU, in its x86 or Arm format.

use std::collections::{BTreeMap, BTreeSet};

/// The first CPU's fields in /proc/cpuinfo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuInfo {
    fields: BTreeMap<String, String>,
    flags: BTreeSet<String>,
}

impl CpuInfo {
    /// Parses the file. A field of a later CPU is kept only if the first CPU has none (Arm's trailing `Hardware`).
    pub fn parse(text: &str) -> Self {
        let mut info = Self::default();
        for line in text.lines() {
            if let Some((key, value)) = line.split_once(':') {
                let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
                info.fields.entry(key).or_insert(value);
            }
        }
        let flags = info.get("flags").or_else(|| info.get("Features")).unwrap_or_default();
        info.flags = flags.split_whitespace().map(str::to_owned).collect();
        info
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.fields.get(key).map(String::as_str).filter(|v| !v.is_empty())
    }

    /// Whether there was anything to read: without it, a flag that is not set says nothing.
    pub fn is_readable(&self) -> bool {
        !self.fields.is_empty()
    }

    /// Whether `flags` (x86) or `Features` (Arm) contains `flag`.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    /// Evidence: `flag set` or `flag not set` for each of `flags`.
    pub fn evidence(&self, flags: &[&str]) -> String {
        if !self.is_readable() {
            return "/proc/cpuinfo cannot be read".to_owned();
        }
        if self.flags.is_empty() {
            return "/proc/cpuinfo: no flags".to_owned();
        }
        let said: Vec<String> = flags
            .iter()
            .map(|f| format!("{f} {}", if self.has(f) { "set" } else { "not set" }))
            .collect();
        format!("/proc/cpuinfo flags: {}", said.join(", "))
    }

    /// The TSC rate in hertz, from `bogomips`: on x86 the kernel derives loops_per_jiffy from the TSC, and `bogomips` is twice
    /// that, in millions.
    pub fn tsc_hz_from_bogomips(&self) -> Option<f64> {
        let bogomips: f64 = self.get("bogomips")?.parse().ok()?;
        (bogomips > 0.0).then_some(bogomips / 2.0 * 1e6)
    }

    /// MIDR_EL1, assembled from Arm's fields (the revision is `r<variant>p<revision>`).
    pub fn midr(&self) -> Option<u64> {
        let hex = |key| u64::from_str_radix(self.get(key)?.trim_start_matches("0x"), 16).ok();
        let implementer = hex("CPU implementer")?;
        let revision: u64 = self.get("CPU revision")?.parse().ok()?;
        Some(implementer << 24 | hex("CPU variant")? << 20 | 0xf << 16 | hex("CPU part")? << 4 | revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::{AARCH64, X86};

    #[test]
    fn the_first_cpu_of_an_x86() {
        let info = CpuInfo::parse(X86);
        assert_eq!(info.get("model name"), Some("AMD EPYC"));
        assert!(info.has("constant_tsc") && !info.has("vmx"));
        assert_eq!(
            info.evidence(&["rdpid", "vmx"]),
            "/proc/cpuinfo flags: rdpid set, vmx not set"
        );
        assert_eq!(info.tsc_hz_from_bogomips(), Some(2_596_140_000.0));
        assert_eq!(info.midr(), None);
    }

    #[test]
    fn an_arm_has_features_and_a_midr() {
        let info = CpuInfo::parse(AARCH64);
        assert!(info.has("atomics"));
        assert_eq!(info.midr(), Some(0x413f_d0c1));
        assert_eq!(info.get("model name"), None);
    }

    #[test]
    fn an_absent_file_has_no_fields() {
        let info = CpuInfo::parse("");
        assert_eq!(info, CpuInfo::default());
        assert_eq!(info.evidence(&["vmx"]), "/proc/cpuinfo cannot be read");
        let bare = CpuInfo::parse("processor : 0\n");
        assert_eq!(bare.evidence(&["vmx"]), "/proc/cpuinfo: no flags");
        assert_eq!(info.tsc_hz_from_bogomips(), None);
    }
}
