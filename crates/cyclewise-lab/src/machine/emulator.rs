//! Whether the CPU under this system is an emulator's: its figures are then not CPU figures.

use super::cpuid::Cpuid;
use super::cpuinfo::CpuInfo;

/// How we know that instructions are emulated; `None` where nothing says so.
///
/// A hypervisor that hides leaves no trace here, so `None` is no proof of hardware.
pub(crate) fn evidence(cpuid: Option<&Cpuid>, cpuinfo: &CpuInfo) -> Option<String> {
    let hypervisors = cpuid.map(Cpuid::hypervisors).unwrap_or_default();
    if let Some(tcg) = hypervisors.iter().find(|h| h.signature.starts_with("TCG")) {
        return Some(format!("TCG: CPUID {:#x} says {:?}", tcg.base, tcg.signature));
    }
    // QEMU's own model; "QEMU Virtual CPU" is no evidence, because KVM guests carry that name too.
    let model = cpuinfo.get("model name").unwrap_or_default();
    if model.starts_with("QEMU TCG") {
        return Some(format!("TCG: the model name is {model:?}"));
    }
    // Implementer 0 is reserved for software, and QEMU's `max` CPU reports it.
    if cpuinfo.midr().is_some_and(|midr| midr >> 24 == 0) {
        return Some("TCG: MIDR names no implementer (software use)".to_owned());
    }
    // A PVM guest's kernel runs unprivileged; user mode is real, but every entry to the kernel is emulated.
    ["kvm_pvm_guest", "pvm_guest"]
        .into_iter()
        .find(|flag| cpuinfo.has(flag))
        .map(|flag| format!("PVM: /proc/cpuinfo flag {flag}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::cpuid::Leaf;
    use crate::machine::cpuid::tests::kvm_guest;
    use crate::machine::cpuinfo::tests::{AARCH64, X86};

    #[test]
    fn hardware_and_kvm_are_no_emulators() {
        assert_eq!(evidence(Some(&kvm_guest()), &CpuInfo::parse(X86)), None);
        assert_eq!(evidence(None, &CpuInfo::parse(AARCH64)), None);
        assert_eq!(evidence(None, &CpuInfo::default()), None);
    }

    #[test]
    fn tcg_is_known_by_signature_name_or_midr() {
        let word = |s: &[u8; 4]| u32::from_le_bytes(*s);
        let tcg = Leaf {
            eax: 0x4000_0001,
            ebx: word(b"TCGT"),
            ecx: word(b"CGTC"),
            edx: word(b"GTCG"),
        };
        let cpuid = Cpuid::from_leaves([(0x4000_0000, tcg)]);
        let said = evidence(Some(&cpuid), &CpuInfo::default()).unwrap();
        assert_eq!(said, "TCG: CPUID 0x40000000 says \"TCGTCGTCGTCG\"");
        let named = CpuInfo::parse("model name : QEMU TCG CPU version 2.5+\n");
        assert!(evidence(None, &named).unwrap().starts_with("TCG"));
        let max = CpuInfo::parse(&AARCH64.replace("0x41", "0x00"));
        assert!(evidence(None, &max).unwrap().contains("MIDR"));
    }

    #[test]
    fn a_pvm_guest_is_known_by_its_flag() {
        let pvm = CpuInfo::parse("flags : tsc kvm_pvm_guest\n");
        assert!(evidence(None, &pvm).unwrap().starts_with("PVM"));
    }
}
