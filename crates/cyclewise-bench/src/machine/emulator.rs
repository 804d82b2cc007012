//! Whether the CPU is emulated; if so, measurements say nothing about a real CPU.

use super::cpuid::Cpuid;
use super::cpuinfo::CpuInfo;
use crate::sys::procfs::Sysfs;

/// Evidence that instructions are emulated; `None` if there is none.
///
/// A hypervisor that hides leaves no evidence, so `None` is no proof of real hardware.
pub fn evidence(fs: &Sysfs, arch: &str, cpuid: Option<&Cpuid>, cpuinfo: &CpuInfo) -> Option<String> {
    if let Some(evidence) = foreign(fs, arch, cpuinfo) {
        return Some(evidence);
    }
    let hypervisors = cpuid.map(Cpuid::hypervisors).unwrap_or_default();
    if let Some(tcg) = hypervisors.iter().find(|h| h.signature.starts_with("TCG")) {
        return Some(format!("TCG: CPUID {:#x} says {:?}", tcg.base, tcg.signature));
    }
    // QEMU's own model. "QEMU Virtual CPU" is no evidence, because KVM guests have that name too.
    let model = cpuinfo.get("model name").unwrap_or_default();
    if model.starts_with("QEMU TCG") {
        return Some(format!("TCG: the model name is {model:?}"));
    }
    // Implementer 0 is reserved for software, and QEMU's `max` CPU reports it.
    if cpuinfo.midr().is_some_and(|midr| midr >> 24 == 0) {
        return Some("TCG: MIDR names no implementer (software use)".to_owned());
    }
    // A PVM guest's kernel runs unprivileged: user mode is real, but every kernel entry is emulated.
    ["kvm_pvm_guest", "pvm_guest"]
        .into_iter()
        .find(|flag| cpuinfo.has(flag))
        .map(|flag| format!("PVM: /proc/cpuinfo flag {flag}"))
}

/// Evidence of user-mode emulation, in which a program of one architecture sees another's kernel and files.
fn foreign(fs: &Sysfs, arch: &str, cpuinfo: &CpuInfo) -> Option<String> {
    let kernel = fs.read("/proc/sys/kernel/arch"); // Since Linux 6.1.
    if kernel.get().is_some_and(|k| k != arch) {
        return Some(format!("user mode: this program is {arch}, {kernel}"));
    }
    let field = if arch == "aarch64" {
        "vendor_id"
    } else {
        "CPU implementer"
    };
    let value = cpuinfo.get(field)?;
    Some(format!(
        "user mode: this program is {arch}, /proc/cpuinfo has {field}: {value}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::{AARCH64, Tree, X86, kvm_guest};

    /// The evidence on a machine whose only file is /proc/cpuinfo.
    fn on(arch: &str, cpuid: Option<&Cpuid>, cpuinfo: &str) -> Option<String> {
        evidence(&Tree::new().fs(), arch, cpuid, &CpuInfo::parse(cpuinfo))
    }

    #[test]
    fn hardware_and_kvm_are_not_emulators() {
        assert_eq!(on("x86_64", Some(&kvm_guest()), X86), None);
        assert_eq!(on("aarch64", None, AARCH64), None);
        assert_eq!(on("x86_64", None, ""), None);
    }

    #[test]
    fn tcg_is_detected_by_signature_name_or_midr() {
        let word = |s: &[u8; 4]| u32::from_le_bytes(*s);
        let tcg = [0x4000_0001, word(b"TCGT"), word(b"CGTC"), word(b"GTCG")];
        let cpuid = Cpuid::from_leaves([(0x4000_0000, tcg)]);
        let said = on("x86_64", Some(&cpuid), "").unwrap();
        assert_eq!(said, "TCG: CPUID 0x40000000 says \"TCGTCGTCGTCG\"");
        let named = "model name : QEMU TCG CPU version 2.5+\n";
        assert!(on("x86_64", None, named).unwrap().starts_with("TCG"));
        let max = AARCH64.replace("0x41", "0x00");
        assert_says!(on("aarch64", None, &max).unwrap(), "MIDR");
    }

    #[test]
    fn a_pvm_guest_is_detected_by_its_flag() {
        let pvm = "flags : tsc kvm_pvm_guest\n";
        assert!(on("x86_64", None, pvm).unwrap().starts_with("PVM"));
    }

    #[test]
    fn user_mode_emulation_is_detected_by_the_hosts_files() {
        assert_says!(on("aarch64", None, X86).unwrap(), "vendor_id: AuthenticAMD");
        assert_says!(
            on("x86_64", Some(&kvm_guest()), AARCH64).unwrap(),
            "CPU implementer: 0x41"
        );
        let tree = Tree::new();
        tree.write("/proc/sys/kernel/arch", "x86_64");
        let said = |arch| evidence(&tree.fs(), arch, None, &CpuInfo::default());
        assert_eq!(said("x86_64"), None);
        assert_eq!(
            said("aarch64").unwrap(),
            "user mode: this program is aarch64, /proc/sys/kernel/arch: x86_64"
        );
    }
}
