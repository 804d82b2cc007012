//! CPUID leaves as data, so that tests can use any CPU's.
//!
//! A [`Cpuid`] contains only leaves that the CPU has; `read` ensures that.
//!
//! # References
//! Intel SDM vol. 2, CPUID; AMD APM vol. 3, appendix E; Linux Documentation/virt/kvm/x86/cpuid.rst.

mod read;

/// The leaves of hypervisors' signatures. The second has KVM's if the first emulates Hyper-V's.
const HYPERVISOR_BASES: [u32; 2] = [0x4000_0000, 0x4000_0100];

/// The four registers of one leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leaf {
    pub eax: u32,
    pub ebx: u32,
    pub ecx: u32,
    pub edx: u32,
}

impl From<[u32; 4]> for Leaf {
    fn from([eax, ebx, ecx, edx]: [u32; 4]) -> Self {
        Self { eax, ebx, ecx, edx }
    }
}

/// The leaves of one CPU, subleaf 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpuid {
    leaves: Vec<(u32, Leaf)>,
}

/// A hypervisor's signature and its leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hypervisor {
    /// 0x4000_0000 or 0x4000_0100.
    pub base: u32,
    /// `KVMKVMKVM`, `Microsoft Hv`, `TCGTCGTCGTCG` and the like.
    pub signature: String,
}

impl Cpuid {
    /// The leaves of this thread's CPU; `None` if the architecture has no CPUID.
    pub fn this_cpu() -> Option<Self> {
        read::this_cpu()
    }

    /// From leaves given as data.
    pub fn from_leaves<L: Into<Leaf>>(leaves: impl IntoIterator<Item = (u32, L)>) -> Self {
        let leaves = leaves.into_iter().map(|(number, leaf)| (number, leaf.into()));
        Self {
            leaves: leaves.collect(),
        }
    }

    /// A leaf, if the CPU has it.
    pub fn leaf(&self, number: u32) -> Option<Leaf> {
        let found = self.leaves.iter().find(|(known, _)| *known == number)?;
        Some(found.1)
    }

    pub fn brand(&self) -> Option<String> {
        let mut words = Vec::new();
        for number in 0x8000_0002..=0x8000_0004 {
            let leaf = self.leaf(number)?;
            words.extend([leaf.eax, leaf.ebx, leaf.ecx, leaf.edx]);
        }
        Some(ascii(&words)).filter(|brand| !brand.is_empty())
    }

    /// Family, model and stepping, computed as the kernel does.
    pub fn family_model_stepping(&self) -> Option<(u32, u32, u32)> {
        let eax = self.leaf(1)?.eax;
        let base = eax >> 8 & 0xf;
        let family = if base == 0xf { base + (eax >> 20 & 0xff) } else { base };
        let extended = if base == 0xf || base == 6 { eax >> 16 & 0xf } else { 0 };
        Some((family, extended << 4 | eax >> 4 & 0xf, eax & 0xf))
    }

    /// Leaf 1 ECX bit 31: reserved on hardware, set by a hypervisor unless it hides.
    pub fn has_hypervisor(&self) -> bool {
        self.leaf(1).is_some_and(|l| l.ecx >> 31 == 1)
    }

    /// All hypervisor signatures, in the order of their leaves.
    pub fn hypervisors(&self) -> Vec<Hypervisor> {
        let at = |base| {
            let leaf = self.leaf(base)?;
            let signature = ascii(&[leaf.ebx, leaf.ecx, leaf.edx]);
            (!signature.is_empty()).then_some(Hypervisor { base, signature })
        };
        HYPERVISOR_BASES.into_iter().filter_map(at).collect()
    }

    /// KVM's feature bits: EAX of the leaf after its signature; `None` without KVM.
    pub fn kvm_features(&self) -> Option<u32> {
        let kvm = self
            .hypervisors()
            .into_iter()
            .find(|h| h.signature.starts_with("KVM"))?;
        Some(self.leaf(kvm.base + 1)?.eax)
    }

    /// 8000_0007 EDX bit 8; `None` if the leaf is absent.
    pub fn invariant_tsc(&self) -> Option<bool> {
        Some(self.leaf(0x8000_0007)?.edx >> 8 & 1 == 1)
    }

    /// Leaf 7 EDX bit 15: cores of different kinds in one package.
    pub fn is_hybrid(&self) -> bool {
        self.leaf(7).is_some_and(|l| l.edx >> 15 & 1 == 1)
    }

    /// TSC rate from leaf 15h: crystal × EBX / EAX; `None` if a term is 0.
    pub fn tsc_hz_from_crystal(&self) -> Option<u64> {
        let leaf = self.leaf(0x15)?;
        (leaf.eax != 0 && leaf.ebx != 0 && leaf.ecx != 0)
            .then(|| u64::from(leaf.ecx) * u64::from(leaf.ebx) / u64::from(leaf.eax))
    }

    /// TSC rate from the hypervisor's timing leaf 4000_0010 (kHz in EAX), a convention of VMware that KVM's VMMs follow.
    pub fn tsc_hz_from_hypervisor(&self) -> Option<u64> {
        let khz = self.leaf(0x4000_0010)?.eax;
        (khz != 0).then_some(u64::from(khz) * 1000)
    }
}

/// Registers as characters, without the padding.
fn ascii(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|w| w.to_le_bytes());
    let text: String = bytes
        .map(char::from)
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::kvm_guest;

    #[test]
    fn leaves_are_decoded() {
        let cpuid = kvm_guest();
        assert_eq!(cpuid.brand().as_deref(), Some("AMD EPYC"));
        assert_eq!(cpuid.family_model_stepping(), Some((25, 17, 1)));
        assert_eq!(cpuid.invariant_tsc(), Some(true));
        assert!(cpuid.has_hypervisor() && !cpuid.is_hybrid());
        let [kvm] = &cpuid.hypervisors()[..] else {
            panic!("one signature")
        };
        assert_eq!((kvm.base, kvm.signature.as_str()), (0x4000_0000, "KVMKVMKVM"));
    }

    #[test]
    fn absent_leaves_give_none() {
        let none = Cpuid::default();
        assert_eq!((none.brand(), none.family_model_stepping()), (None, None));
        assert_eq!(
            (
                none.invariant_tsc(),
                none.tsc_hz_from_crystal(),
                none.tsc_hz_from_hypervisor()
            ),
            (None, None, None)
        );
        assert!(!none.has_hypervisor() && !none.is_hybrid() && none.hypervisors().is_empty());
    }

    #[test]
    fn rates_need_every_term() {
        let crystal = |ecx| Cpuid::from_leaves([(0x15, [2, 216, ecx, 0])]);
        assert_eq!(crystal(24_000_000).tsc_hz_from_crystal(), Some(2_592_000_000));
        assert_eq!(crystal(0).tsc_hz_from_crystal(), None);
        let vmware = Cpuid::from_leaves([(0x4000_0010, [2_600_000, 0, 0, 0])]);
        assert_eq!(vmware.tsc_hz_from_hypervisor(), Some(2_600_000_000));
    }

    #[test]
    fn a_skylake_client_has_its_extended_model() {
        let cpuid = Cpuid::from_leaves([(1, [0x0005_06e3, 0, 0, 0])]);
        assert_eq!(cpuid.family_model_stepping(), Some((6, 94, 3)));
    }
}
