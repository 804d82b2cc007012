//! The groups of the synthetic fleet: what their machines have in common, and how much their rows differ from the template's.

use super::machine::Machine;
use serde::Serialize;

/// Machines that are alike.
pub(crate) struct Group {
    /// Index of the record that it is made from.
    pub(crate) template: usize,
    pub(crate) microcode: &'static str,
    pub(crate) kernel: &'static str,
    /// CPUID signature; `None` is bare metal.
    pub(crate) hypervisor: Option<&'static str>,
    pub(crate) instance_type: &'static str,
    /// What the kernel says of `spectre_v2`.
    pub(crate) spectre_v2: &'static str,
    /// Factors of the rows of experiments; those of the others are 1.
    pub(crate) factors: &'static [(&'static str, f64)],
    /// Its share of the machines, in parts of the sum of all.
    pub(crate) weight: usize,
}

const KVM: Option<&str> = Some("KVMKVMKVM");
const IBRS: &str = "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; STIBP: always-on";
const RETPOLINES: &str = "Mitigation: Retpolines; IBPB: conditional; IBRS_FW; STIBP: always-on";

/// Pairs of them differ in one fact, which then explains the factors.
pub(crate) const GROUPS: &[Group] = &[
    group(0, "0xa101148", "6.1.0-18-cloud-amd64", KVM, "m7a.large", IBRS, &[], 30),
    group(
        0,
        "0xa101154",
        "6.1.0-18-cloud-amd64",
        KVM,
        "m7a.large",
        IBRS,
        &[("null-syscall", 1.12), ("popf", 0.93)],
        12,
    ),
    group(
        0,
        "0xa101148",
        "6.12.8-cloud-amd64",
        KVM,
        "m7a.large",
        IBRS,
        &[("percpu", 1.05), ("hackbench", 0.9)],
        10,
    ),
    group(1, "0xb002151", "6.12.8-cloud-amd64", KVM, "m8a.large", IBRS, &[], 20),
    group(2, "0x210002c0", "6.1.0-18-cloud-amd64", KVM, "m7i.large", IBRS, &[], 12),
    group(
        2,
        "0x210002c0",
        "6.1.0-18-cloud-amd64",
        None,
        "m7i.metal",
        IBRS,
        &[("core-to-core", 0.8), ("clock", 0.97)],
        2,
    ),
    group(
        3,
        "0xa0011d5",
        "5.10.0-28-cloud-amd64",
        KVM,
        "m6a.large",
        RETPOLINES,
        &[],
        10,
    ),
    group(
        3,
        "0xa0011d5",
        "5.10.0-28-cloud-amd64",
        KVM,
        "m6a.large",
        "Vulnerable",
        &[("null-syscall", 0.6)],
        4,
    ),
];

#[expect(clippy::too_many_arguments, reason = "a table's columns")]
const fn group(
    template: usize,
    microcode: &'static str,
    kernel: &'static str,
    hypervisor: Option<&'static str>,
    instance_type: &'static str,
    spectre_v2: &'static str,
    factors: &'static [(&'static str, f64)],
    weight: usize,
) -> Group {
    Group {
        template,
        microcode,
        kernel,
        hypervisor,
        instance_type,
        spectre_v2,
        factors,
        weight,
    }
}

/// The group of machine `n`: each sequence of as many machines as all weights has each group by its weight.
pub(crate) fn of(n: usize) -> usize {
    let all: usize = GROUPS.iter().map(|g| g.weight).sum();
    // A step without a common factor with the sum: neighbours are of different groups.
    let mut rest = n * 37 % all;
    GROUPS
        .iter()
        .position(|g| match rest.checked_sub(g.weight) {
            Some(left) => {
                rest = left;
                false
            }
            None => true,
        })
        .unwrap_or(0)
}

/// A group for the truth.
#[derive(Serialize)]
pub(crate) struct Described {
    microcode: &'static str,
    kernel: &'static str,
    hypervisor: Option<&'static str>,
    instance_type: &'static str,
    spectre_v2: &'static str,
    factors: &'static [(&'static str, f64)],
    machines: usize,
}

/// The groups with the number of their machines.
pub(crate) fn described(machines: &[Machine]) -> Vec<Described> {
    let of_group = |index: usize| machines.iter().filter(|m| m.group == index).count();
    let describe = |(index, g): (usize, &Group)| Described {
        microcode: g.microcode,
        kernel: g.kernel,
        hypervisor: g.hypervisor,
        instance_type: g.instance_type,
        spectre_v2: g.spectre_v2,
        factors: g.factors,
        machines: of_group(index),
    };
    GROUPS.iter().enumerate().map(describe).collect()
}
