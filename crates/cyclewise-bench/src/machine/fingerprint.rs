//! The fingerprint: the static part of a record's machine, with its warnings.

use super::cpuid::Cpuid;
use super::cpuinfo::CpuInfo;
use super::identity::{self, Variables};
use super::{cpu_topology, topology, warnings};
use crate::record::{Machine, Warning, map_of};
use crate::sys::affinity;
use crate::sys::procfs::Sysfs;
use std::collections::BTreeMap;

/// This machine's fingerprint. What must be measured (tick rate, core cycles, steal, pinned CPU) has its default value.
pub fn fingerprint() -> Machine {
    let fs = Sysfs::machine();
    let mut machine = fingerprint_of(&fs, Cpuid::this_cpu().as_ref(), std::env::consts::ARCH);
    let cpuinfo = CpuInfo::parse(&fs.text("/proc/cpuinfo").unwrap_or_default());
    machine.identity = identity::identity_of(&fs, &cpuinfo, &Variables::of_this_process());
    if topology::allowed(&fs).is_none()
        && let Ok(cpus) = affinity::allowed()
    {
        // Without /proc, the kernel is asked.
        machine.cpus = cpus.len() as u32;
    }
    machine
}

/// The fingerprint of the machine that these files and CPUID leaves describe.
pub fn fingerprint_of(fs: &Sysfs, cpuid: Option<&Cpuid>, arch: &str) -> Machine {
    let cpuinfo = CpuInfo::parse(&fs.text("/proc/cpuinfo").unwrap_or_default());
    let hypervisor = hypervisor(fs, cpuid, &cpuinfo);
    let clocksource = fs.text(CLOCKSOURCE).unwrap_or_default();
    let cpus = topology::allowed(fs).or_else(|| topology::online(fs));
    let governor = governor(fs, cpus.as_deref().unwrap_or(&[0]));
    let warnings = warnings::all(&warnings::Facts {
        fs,
        cpuid,
        cpuinfo: &cpuinfo,
        arch,
        hypervisor: hypervisor.as_deref(),
        clocksource: &clocksource,
        governor: governor.as_deref(),
    });
    let places = cpus.as_ref().map(|c| cpu_topology::cpu_topology_in(fs, c));
    Machine {
        arch: arch.to_owned(),
        cpu_model: cpu_model(cpuid, &cpuinfo, fs),
        cpu_id: cpu_id(fs, cpuid, &cpuinfo),
        topology: places.as_deref().map(cpu_topology::count_groups),
        cores: places
            .as_deref()
            .map(cpu_topology::threads_of_cores)
            .unwrap_or_default(),
        // At least one CPU runs this.
        cpus: cpus.map_or(1, |c| c.len() as u32),
        kernel: fs.text("/proc/sys/kernel/osrelease").unwrap_or_default(),
        hypervisor,
        clocksource,
        governor,
        smt: fs.text(&format!("{}/smt/control", topology::CPUS)),
        mitigations: mitigations(fs),
        warnings: warnings.into_iter().map(Warning::Other).collect(),
        ..Machine::default()
    }
}

/// The kernel's clocksource.
pub const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// The kernel's list of vulnerabilities and mitigations.
pub const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";
/// MIDR_EL1 of the first CPU.
pub const MIDR: &str = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";

/// The brand string; on Arm, which has none, the firmware's name of the machine.
pub fn cpu_model(cpuid: Option<&Cpuid>, cpuinfo: &CpuInfo, fs: &Sysfs) -> String {
    cpuid
        .and_then(Cpuid::brand)
        .or_else(|| cpuinfo.get("model name").map(str::to_owned))
        .or_else(|| fs.text("/proc/device-tree/model"))
        .or_else(|| fs.text("/sys/class/dmi/id/product_name"))
        .unwrap_or_default()
}

/// `family 25 model 17 stepping 1`, `MIDR 0x413fd0c1`, or an empty string.
pub fn cpu_id(fs: &Sysfs, cpuid: Option<&Cpuid>, cpuinfo: &CpuInfo) -> String {
    if let Some((family, model, stepping)) = cpuid.and_then(Cpuid::family_model_stepping) {
        return format!("family {family} model {model} stepping {stepping}");
    }
    let midr = fs
        .text(MIDR)
        .and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok())
        .or_else(|| cpuinfo.midr());
    midr.map(|m| format!("MIDR {m:#x}")).unwrap_or_default()
}

/// The hypervisor's signature; without CPUID, its name from Xen or firmware.
pub fn hypervisor(fs: &Sysfs, cpuid: Option<&Cpuid>, cpuinfo: &CpuInfo) -> Option<String> {
    if let Some(first) = cpuid.and_then(|c| c.hypervisors().into_iter().next()) {
        return Some(first.signature);
    }
    if cpuid.is_some_and(Cpuid::has_hypervisor) || cpuinfo.has("hypervisor") {
        return Some("unknown".to_owned());
    }
    fs.text("/sys/hypervisor/type")
        .or_else(|| fs.text("/proc/device-tree/hypervisor/compatible"))
        .or_else(|| virtual_product(fs))
}

/// The firmware's name of a virtual machine: Arm guests have no CPUID bit.
fn virtual_product(fs: &Sysfs) -> Option<String> {
    let product = fs.text("/sys/class/dmi/id/product_name")?;
    let known = ["KVM Virtual Machine", "QEMU", "VMware", "Virtual Machine", "HVM domU"];
    known.iter().any(|k| product.starts_with(k)).then_some(product)
}

/// The governors of these CPUs, each once.
pub fn governor(fs: &Sysfs, cpus: &[u32]) -> Option<String> {
    let read = |cpu: &u32| fs.text(&format!("{}/cpu{cpu}/cpufreq/scaling_governor", topology::CPUS));
    let mut governors: Vec<String> = cpus.iter().filter_map(read).collect();
    governors.sort();
    governors.dedup();
    (!governors.is_empty()).then(|| governors.join(", "))
}

/// The kernel's mitigations, by vulnerability.
pub fn mitigations(fs: &Sysfs) -> BTreeMap<String, String> {
    let names = fs.names(VULNERABILITIES).unwrap_or_default();
    map_of(
        names
            .into_iter()
            .filter_map(|name| fs.text(&format!("{VULNERABILITIES}/{name}")).map(|text| (name, text))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::{AARCH64, Tree, kvm_guest};

    #[test]
    fn a_guest_of_kvm() {
        let machine = fingerprint_of(&Tree::guest().fs(), Some(&kvm_guest()), "x86_64");
        assert_eq!((machine.cpu_model.as_str(), machine.cpus), ("AMD EPYC", 2));
        assert_eq!(machine.cpu_id, "family 25 model 17 stepping 1");
        assert_eq!(machine.hypervisor.as_deref(), Some("KVMKVMKVM"));
        assert_eq!(
            (machine.kernel.as_str(), machine.clocksource.as_str()),
            ("6.18.0", "tsc")
        );
        assert_eq!((machine.governor, machine.smt.as_deref()), (None, Some("notsupported")));
        assert_eq!(machine.mitigations["spectre_v2"], "Mitigation: Retpolines");
        assert_eq!(machine.warnings.len(), 1, "{:?}", machine.warnings);
    }

    #[test]
    fn an_arm_server() {
        let tree = Tree::new();
        tree.write("/proc/cpuinfo", AARCH64);
        tree.write("/sys/class/dmi/id/product_name", "TaiShan 200");
        tree.write(CLOCKSOURCE, "arch_sys_counter");
        let machine = fingerprint_of(&tree.fs(), None, "aarch64");
        assert_eq!(
            (machine.cpu_id.as_str(), machine.cpu_model.as_str()),
            ("MIDR 0x413fd0c1", "TaiShan 200")
        );
        assert_eq!((machine.hypervisor, machine.warnings), (None, vec![]));
        tree.write(MIDR, "0x00000000431f0af1");
        assert_eq!(fingerprint_of(&tree.fs(), None, "aarch64").cpu_id, "MIDR 0x431f0af1");
        tree.write("/sys/class/dmi/id/product_name", "KVM Virtual Machine");
        let guest = fingerprint_of(&tree.fs(), None, "aarch64");
        assert_eq!(guest.hypervisor.as_deref(), Some("KVM Virtual Machine"));
    }

    #[test]
    fn unreadable_files_cause_no_panic() {
        let machine = fingerprint_of(&Tree::new().fs(), None, "x86_64");
        assert_eq!((machine.cpus, machine.kernel.as_str(), machine.smt), (1, "", None));
        assert_says!(machine.warnings[0], "unknown");
    }

    #[test]
    fn governors_that_differ_are_all_named() {
        let tree = Tree::new();
        for (cpu, governor) in [(0, "performance"), (1, "powersave"), (2, "powersave")] {
            tree.write(
                &format!("{}/cpu{cpu}/cpufreq/scaling_governor", topology::CPUS),
                governor,
            );
        }
        assert_eq!(
            governor(&tree.fs(), &[0, 1, 2]).as_deref(),
            Some("performance, powersave")
        );
    }

    #[test]
    fn this_machine_has_a_fingerprint() {
        let machine = fingerprint();
        assert!(machine.cpus > 0 && !machine.kernel.is_empty() && !machine.arch.is_empty());
    }
}
