//! What runs the guest's instructions: a CPU in guest mode, or an emulator. Decided by several witnesses, each of which is shown.
//!
//! A cost from an emulator is none of a CPU's, so one witness against hardware is enough. Which kernel modules are loaded, and what
//! CPUID says, can be made up; how long a NOP takes cannot.

mod witnesses;

use crate::arch::witness;
use crate::error::Result;
use crate::image::Image;
use crate::machine::Machine;
use crate::semantics::Features;
use std::fmt;
use std::path::Path;
use witnesses::{guest, host, ratio, ring3};

/// What a witness says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// A CPU's own virtualization.
    Hardware,
    /// The same, inside another hypervisor.
    Nested,
    /// An emulator.
    Emulated,
    /// Neither.
    Nothing,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// What was looked at.
    pub name: &'static str,
    /// What was found.
    pub found: String,
    /// What it says.
    pub says: Says,
}

/// What runs the guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Virtualization {
    /// Intel's VMX.
    Vmx,
    /// AMD's SVM.
    Svm,
    /// One of the two, inside another hypervisor.
    Nested,
    /// KVM without them: a PVM host, which emulates privileged code.
    Pvm,
    /// An emulator.
    Emulated,
    /// The witnesses do not say.
    Unknown,
}

impl Virtualization {
    /// The word of the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Vmx => "vmx",
            Self::Svm => "svm",
            Self::Nested => "nested",
            Self::Pvm => "pvm",
            Self::Emulated => "emulated",
            Self::Unknown => "unknown",
        }
    }

    /// Whether a CPU ran the instructions, so that ticks are a cost.
    pub fn is_hardware(self) -> bool {
        matches!(self, Self::Vmx | Self::Svm | Self::Nested)
    }
}

impl fmt::Display for Virtualization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vmx => "hardware (VMX)",
            Self::Svm => "hardware (SVM)",
            Self::Nested => "hardware, nested",
            Self::Pvm => "emulated (PVM)",
            Self::Emulated => "emulated",
            Self::Unknown => "unknown",
        })
    }
}

/// The verdict and its witnesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// What runs the guest.
    pub kind: Virtualization,
    /// Why.
    pub witnesses: Vec<Witness>,
}

impl Provenance {
    /// Asks the witnesses about `/dev/kvm`.
    ///
    /// # Errors
    /// Where no guest runs.
    pub fn of_kvm(machine: &mut dyn Machine) -> Result<Self> {
        let features = Features::ask(machine)?;
        let user = machine.run_once(Image::once(&witness::USER)?, false)?;
        let mut witnesses = host(Path::new("/sys/module"));
        witnesses.extend(guest(features.seen()));
        witnesses.push(ring3(&user));
        witnesses.push(ratio()?);
        Ok(Self {
            kind: decide(&witnesses),
            witnesses,
        })
    }
}

/// The names of the witnesses that the verdict depends on.
const MODULES: &str = "modules";
const HOST_CPUID: &str = "host CPUID";

fn decide(witnesses: &[Witness]) -> Virtualization {
    let says = |says| witnesses.iter().any(|w| w.says == says);
    let found = |name, word| witnesses.iter().any(|w| w.name == name && w.found.contains(word));
    if says(Says::Emulated) {
        return match found(MODULES, "kvm_pvm") {
            true => Virtualization::Pvm,
            false => Virtualization::Emulated,
        };
    }
    match () {
        () if says(Says::Nested) => Virtualization::Nested,
        () if !says(Says::Hardware) => Virtualization::Unknown,
        () if found(HOST_CPUID, "VMX") => Virtualization::Vmx,
        () if found(HOST_CPUID, "SVM") => Virtualization::Svm,
        () => Virtualization::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::witnesses::{of_costs, of_host_cpuid, of_modules};
    use super::*;
    use crate::arch::host_nop;
    use crate::outcome::Mailbox;

    const GOOD: f64 = 0.25;

    fn verdict(modules: &[&str], cpuid: Witness, nop: f64) -> Virtualization {
        decide(&[of_modules(modules), cpuid, of_costs(GOOD, (Some(nop), Some(nop)))])
    }

    #[test]
    fn hardware_needs_every_witness() {
        assert_eq!(
            verdict(&["kvm_intel"], of_host_cpuid(true, false, false), GOOD),
            Virtualization::Vmx
        );
        assert_eq!(
            verdict(&["kvm_amd"], of_host_cpuid(false, true, false), GOOD),
            Virtualization::Svm
        );
        assert_eq!(
            verdict(&[], of_host_cpuid(false, true, false), GOOD),
            Virtualization::Svm,
            "built into the kernel"
        );
        assert_eq!(
            verdict(&["kvm_amd"], of_host_cpuid(false, true, true), GOOD),
            Virtualization::Nested
        );
    }

    #[test]
    fn one_witness_against_it_is_enough() {
        let svm = || of_host_cpuid(false, true, false);
        // The twin of each row above: everything says hardware but one.
        assert_eq!(verdict(&["kvm_amd"], svm(), 300.0), Virtualization::Emulated);
        assert_eq!(verdict(&["kvm_pvm"], svm(), GOOD), Virtualization::Pvm);
        assert_eq!(
            verdict(&["kvm_amd"], of_host_cpuid(false, false, true), GOOD),
            Virtualization::Emulated
        );
        let unread = of_costs(GOOD, (None, Some(1.0)));
        assert_eq!(
            decide(&[of_modules(&["kvm_amd"]), svm(), unread]),
            Virtualization::Emulated
        );
    }

    #[test]
    fn a_guest_in_ring_3_and_flags_that_stay_are_witnesses() {
        let mut bytes = vec![0u8; 1024];
        let mut put = |index: usize, word: u64| {
            let at = crate::layout::mailbox::RESULTS as usize + 8 * index;
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        };
        put(witness::CS, 0x33);
        put(witness::AFTER_CLI, 0x246);
        put(witness::HYPERVISOR, u64::from_le_bytes(*b"TCGTCGTC"));
        let seen = guest(&Mailbox(bytes));
        assert!(seen.iter().all(|w| w.says == Says::Emulated), "{seen:?}");
        assert!(seen[1].found.contains("privilege 3"));
    }

    #[test]
    fn the_hosts_nop_has_a_cost() {
        let ticks = host_nop::ticks_per_nop();
        assert!(ticks > 0.0 && ticks.is_finite(), "{ticks}");
    }
}
