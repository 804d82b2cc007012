//! Reads the CPUID leaves of this thread's CPU.
//!
//! # Invariants
//! 1. A leaf beyond the maximum of its range is absent: for such a leaf, Intel returns the data of the last basic leaf.
//! 2. Hypervisor leaves are read only if leaf 1 reports a hypervisor.

use super::Cpuid;
#[cfg(any(target_arch = "x86_64", test))]
use super::Leaf;

/// The leaves that the lab uses, by range; the first leaf of a range contains its maximum.
#[cfg(any(target_arch = "x86_64", test))]
const RANGES: [&[u32]; 2] = [
    &[0x0, 0x1, 0x7, 0x15, 0x16],
    &[
        0x8000_0000,
        0x8000_0001,
        0x8000_0002,
        0x8000_0003,
        0x8000_0004,
        0x8000_0007,
    ],
];

/// All leaves that are present, read by `cpuid`.
#[cfg(any(target_arch = "x86_64", test))]
pub(super) fn all(cpuid: impl Fn(u32) -> Leaf) -> Cpuid {
    let mut found = Vec::new();
    for range in RANGES {
        let last = cpuid(range[0]).eax;
        found.extend(range.iter().filter(|n| **n <= last));
    }
    if cpuid(1).ecx >> 31 == 1 {
        for base in super::HYPERVISOR_BASES {
            let last = last_of_hypervisor(base, cpuid(base).eax);
            found.extend([base, base + 1, base + 0x10].into_iter().filter(|n| *n <= last));
        }
    }
    Cpuid::from_leaves(found.into_iter().map(|n| (n, cpuid(n))))
}

/// The last leaf of a hypervisor's range, or 0 if `said` is not a leaf of the range.
#[cfg(any(target_arch = "x86_64", test))]
fn last_of_hypervisor(base: u32, said: u32) -> u32 {
    match said {
        // Old KVM returns 0 and means base + 1; at the second base, 0 means an absent leaf.
        0 if base == super::HYPERVISOR_BASES[0] => base + 1,
        _ if said >= base && said - base < 0x100 => said,
        _ => 0,
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) fn this_cpu() -> Option<Cpuid> {
    Some(all(|number| {
        let r = core::arch::x86_64::__cpuid_count(number, 0);
        Leaf::from([r.eax, r.ebx, r.ecx, r.edx])
    }))
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn this_cpu() -> Option<Cpuid> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// An Intel CPU, which repeats its last basic leaf beyond the maximum.
    fn intel(leaves: &BTreeMap<u32, Leaf>, number: u32) -> Leaf {
        leaves.get(&number).copied().unwrap_or(leaves[&0x7])
    }

    fn leaves(hypervisor: bool, said: u32) -> BTreeMap<u32, Leaf> {
        let leaves = [
            (0x0, [0x7, 0, 0, 0]),
            (0x1, [0, 0, u32::from(hypervisor) << 31, 0]),
            (0x7, [0, 0x4141_4141, 0x4242_4242, 0x4343_4343]),
            (0x8000_0000, [0x8000_0001, 0, 0, 0]),
            (0x8000_0001, [1, 0, 0, 0]),
            (0x4000_0000, [said, u32::from_le_bytes(*b"KVMK"), 0, 0]),
        ];
        leaves.map(|(number, leaf)| (number, leaf.into())).into()
    }

    #[test]
    fn leaves_beyond_the_maximum_are_absent() {
        let known = leaves(false, 0);
        let cpuid = all(|n| intel(&known, n));
        assert_eq!((cpuid.leaf(0x15), cpuid.leaf(0x8000_0007)), (None, None));
        assert!(cpuid.leaf(7).is_some() && cpuid.hypervisors().is_empty());
    }

    #[test]
    fn a_repeated_leaf_is_not_a_second_hypervisor() {
        for said in [0, 0x4000_0001, 0x4000_0010] {
            let known = leaves(true, said);
            let cpuid = all(|n| intel(&known, n));
            assert_eq!(cpuid.hypervisors().len(), 1, "{said:#x}");
            assert_eq!(cpuid.leaf(0x4000_0010).is_some(), said == 0x4000_0010);
        }
    }

    #[test]
    fn only_x86_has_cpuid() {
        assert_eq!(this_cpu().is_some(), cfg!(target_arch = "x86_64"));
    }
}
