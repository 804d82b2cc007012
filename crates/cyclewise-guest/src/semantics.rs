//! What the instructions of each experiment do, as cases to run; and running them wherever a guest can be run.

use crate::arch::case::{Case, Verdict};
use crate::arch::payload::{Needs, Payload};
use crate::arch::{cases, lock_prefix, percpu32, percpu64, popf, rdtsc, witness};
use crate::error::Result;
use crate::image::Image;
use crate::machine::Machine;
use crate::outcome::{Mailbox, Outcome};

/// The experiments of ring 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// POPF, CLI, STI and what POPF_IF would be.
    Popf,
    /// Per-CPU data by segments, and what entries to the kernel pay for them.
    Percpu,
    /// LOCK prefixes.
    LockPrefix,
    /// The time stamp counter and serializing instructions.
    Rdtsc,
}

impl Family {
    /// All of them, in the order of the experiments.
    pub const ALL: [Self; 4] = [Self::Popf, Self::Percpu, Self::LockPrefix, Self::Rdtsc];

    /// The payloads that are measured.
    pub fn payloads(self) -> impl Iterator<Item = &'static Payload> {
        let (first, second): (&[Payload], &[Payload]) = match self {
            Self::Popf => (&popf::PAYLOADS, &[]),
            Self::Percpu => (&percpu32::PAYLOADS, &percpu64::PAYLOADS),
            Self::LockPrefix => (&lock_prefix::PAYLOADS, &[]),
            Self::Rdtsc => (&rdtsc::PAYLOADS, &[]),
        };
        first.iter().chain(second)
    }

    /// The cases of what they do.
    pub fn cases(self) -> impl Iterator<Item = &'static Case> {
        let parts: [&[Case]; 3] = match self {
            Self::Popf => [&cases::FLAGS, &cases::INTERRUPTS, &cases::POPF_IF],
            Self::Percpu => [&cases::SEGMENTS32, &cases::SEGMENTS64, &[]],
            Self::LockPrefix => [&cases::LOCK, &[], &[]],
            Self::Rdtsc => [&cases::COUNTER, &[], &[]],
        };
        parts.into_iter().flatten()
    }
}

/// What the guest's CPU has, by its CPUID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features(Mailbox);

impl Features {
    /// Asks the CPU.
    ///
    /// # Errors
    /// Where no guest runs. What could not be read is taken for absent.
    pub fn ask(machine: &mut dyn Machine) -> Result<Self> {
        let outcome = machine.run_once(Image::once(&witness::WITNESS)?, false)?;
        Ok(Self(match outcome {
            Outcome::Done(mailbox) => mailbox,
            _ => Mailbox(Vec::new()),
        }))
    }

    /// What the guest saw, by the indices of [`witness`].
    pub fn seen(&self) -> &Mailbox {
        &self.0
    }

    /// The feature that a payload needs and the CPU does not have, in words.
    pub fn lacks(&self, payload: &Payload) -> Option<&'static str> {
        let (index, bit, name) = match payload.needs? {
            Needs::FsGsBase => (witness::LEAF7_EBX, 0, "WRGSBASE (CPUID 7, EBX bit 0)"),
            Needs::Rdtscp => (witness::EXTENDED_EDX, 27, "RDTSCP (CPUID 8000_0001h, EDX bit 27)"),
            Needs::Sysenter => (witness::LEAF1_EDX, 11, "SYSENTER (CPUID 1, EDX bit 11)"),
            Needs::X2Apic => (witness::LEAF1_ECX, 21, "x2APIC (CPUID 1, ECX bit 21)"),
        };
        (self.0.result(index) >> bit & 1 == 0).then_some(name)
    }
}

/// Runs a case. What the CPU lacks is not run.
///
/// # Errors
/// Where no guest runs at all.
pub fn check(machine: &mut dyn Machine, features: &Features, case: &Case) -> Result<Verdict> {
    if let Some(name) = features.lacks(&case.payload) {
        return Ok(Verdict::NotRun(format!("the CPU lacks {name}")));
    }
    let outcome = machine.run_once(Image::once(&case.payload)?, case.payload.apic)?;
    Ok(case.judge(&outcome))
}

/// Runs a payload once, without a loop: whether it comes back at all.
///
/// # Errors
/// Where no guest runs at all.
pub fn try_once(machine: &mut dyn Machine, features: &Features, payload: &Payload) -> Result<Verdict> {
    if let Some(name) = features.lacks(payload) {
        return Ok(Verdict::NotRun(format!("the CPU lacks {name}")));
    }
    Ok(match machine.run_once(Image::once(payload)?, payload.apic)? {
        Outcome::Done(_) => Verdict::Holds,
        outcome @ (Outcome::Refused { .. } | Outcome::Outside { .. }) => Verdict::NotRun(outcome.to_string()),
        outcome => Verdict::Differs(outcome.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_image_fits() {
        for family in Family::ALL {
            let payloads: Vec<_> = family.payloads().collect();
            for (i, payload) in payloads.iter().enumerate() {
                assert!(payloads[..i].iter().all(|p| p.name != payload.name), "{}", payload.name);
                let loops = Image::with_loops(payload).map(|(_, loops)| loops);
                assert!(loops.is_ok_and(|l| l[0] < l[1] && l[1] < l[2]), "{}", payload.name);
            }
            let cases: Vec<_> = family.cases().collect();
            for (i, case) in cases.iter().enumerate() {
                let name = case.payload.name;
                assert!(cases[..i].iter().all(|c| c.payload.name != name), "{name}");
                assert!(!case.claim.ends_with('.'), "{name}");
            }
        }
    }

    #[test]
    fn a_feature_that_could_not_be_read_is_lacking() {
        let nothing = Features(Mailbox(Vec::new()));
        let lacking: Vec<_> = Family::ALL
            .into_iter()
            .flat_map(Family::payloads)
            .filter_map(|p| nothing.lacks(p))
            .collect();
        assert!(lacking.iter().any(|name| name.starts_with("x2APIC")), "{lacking:?}");
        assert_eq!(nothing.lacks(&popf::PAYLOADS[0]), None);
    }
}
