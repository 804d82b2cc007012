//! Sizes of the second-level and the last-level cache, from /sys, or from CPUID where that is masked.
//!
//! # References
//! Linux Documentation/ABI/testing/sysfs-devices-system-cpu; Intel SDM vol. 2, CPUID leaf 4; AMD APM vol. 3, CPUID
//! 8000_001D.

use super::topology;
use crate::sys::procfs::Sysfs;

/// Sizes in bytes; `None` where they cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheSizes {
    /// The second-level cache.
    pub l2: Option<u64>,
    /// The third-level cache.
    pub l3: Option<u64>,
}

pub fn cache_sizes(cpu: u32) -> CacheSizes {
    let known = in_sysfs(&Sysfs::machine(), cpu);
    let by_cpuid = by_cpuid();
    CacheSizes {
        l2: known.l2.or(by_cpuid.l2),
        l3: known.l3.or(by_cpuid.l3),
    }
}

fn in_sysfs(fs: &Sysfs, cpu: u32) -> CacheSizes {
    let caches = topology::caches(fs, cpu);
    let size = |name: &str| caches.iter().find(|c| c.name == name).and_then(|c| bytes(&c.size));
    CacheSizes {
        l2: size("L2"),
        l3: size("L3"),
    }
}

/// `512K`, `32M` or a number of bytes; zero is no size.
fn bytes(size: &str) -> Option<u64> {
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &size[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|bytes| *bytes > 0)
}

#[cfg(target_arch = "x86_64")]
fn by_cpuid() -> CacheSizes {
    use raw_cpuid::CpuId;
    let sizes: Vec<(u8, u64)> = CpuId::new()
        .get_cache_parameters()
        .into_iter()
        .flatten()
        .map(|c| {
            let line = c.coherency_line_size() as u64 * c.physical_line_partitions() as u64;
            (c.level(), c.sets() as u64 * c.associativity() as u64 * line)
        })
        .collect();
    let of = |level| {
        sizes
            .iter()
            .find(|(l, bytes)| *l == level && *bytes > 0)
            .map(|(_, bytes)| *bytes)
    };
    CacheSizes { l2: of(2), l3: of(3) }
}

#[cfg(not(target_arch = "x86_64"))]
fn by_cpuid() -> CacheSizes {
    CacheSizes::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("512K"), Some(512 << 10));
        assert_eq!(bytes("32M"), Some(32 << 20));
        assert_eq!(bytes("2048"), Some(2048));
        for wrong in [
            "",
            "K",
            "0K",
            "-1K",
            "12Q",
            "99999999999999999999G",
            "18446744073709551615K",
        ] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sysfs_is_read_and_may_be_masked() {
        let tree = Tree::guest();
        assert_eq!(in_sysfs(&tree.fs(), 0), CacheSizes::default());
        let index = "/sys/devices/system/cpu/cpu0/cache/index2";
        for (file, text) in [
            ("level", "2"),
            ("type", "Unified"),
            ("size", "1024K"),
            ("shared_cpu_list", "0"),
        ] {
            tree.write(&format!("{index}/{file}"), text);
        }
        let known = in_sysfs(&tree.fs(), 0);
        assert_eq!((known.l2, known.l3), (Some(1 << 20), None));
    }

    #[test]
    fn what_cpuid_says_is_a_size_of_a_cache() {
        let CacheSizes { l2, l3 } = by_cpuid();
        for size in [l2, l3].into_iter().flatten() {
            assert!((16 << 10..1 << 36).contains(&size), "{size}");
        }
    }
}
