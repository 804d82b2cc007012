//! The experiments of ring 0: instructions that user mode cannot execute, in a guest of two megabytes.
//!
//! The guest is that of the package `cyclewise-guest`. Where a CPU runs it, its payloads are measured by the same slope as in user
//! mode. Where an emulator does, a cost would be the emulator's: then only what the instructions do is shown.

#[cfg(target_arch = "x86_64")]
mod checks;
mod published;
#[cfg(target_arch = "x86_64")]
mod slope;
#[cfg(target_arch = "x86_64")]
mod variants;

use super::{Definition, Options};
use crate::error::Result;
use crate::record::Unit;
use crate::runner::{Guards, Setup};

pub(super) static POPF: Definition = Definition {
    name: "popf-ring0",
    question: "What do POPF, CLI and STI cost in ring 0, where the interrupt flag changes?",
    source: "Denys Vlasenko, \"RFC: Petition Intel/AMD to add POPF_IF insn\", August 2016",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &published::POPF,
    setup: popf,
};

pub(super) static PERCPU: Definition = Definition {
    name: "percpu-ring0",
    question: "What does a kernel's segment register save at each access, and cost at each entry?",
    source: "Jeremy Fitzhardinge, \"[PATCH 0/8] Implement per-processor data areas for i386\", August 2006",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &published::PERCPU,
    setup: percpu,
};

pub(super) static LOCK_PREFIX: Definition = Definition {
    name: "lock-prefix-ring0",
    question: "Does a LOCK prefix cost the same in ring 0 as in user mode?",
    source: "Mathieu Desnoyers, \"x86: alternatives: fix LOCK_PREFIX race with preemptible kernel and CPU hotplug\", August 2008",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &[],
    setup: lock_prefix,
};

pub(super) static RDTSC: Definition = Definition {
    name: "rdtsc-ring0",
    question: "What does ordering a read of the time stamp counter by a kernel's serializing instructions cost?",
    source: "Andy Lutomirski and Ingo Molnar, \"x86-64: Optimize vread_tsc's barriers\", April 2011",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &[],
    setup: rdtsc,
};

#[cfg(target_arch = "x86_64")]
mod setups {
    use super::{Options, Result, Setup, variants};
    use cyclewise_guest::semantics::Family;

    pub(super) fn popf(options: &Options) -> Result<Setup> {
        variants::setup(Family::Popf, options)
    }

    pub(super) fn percpu(options: &Options) -> Result<Setup> {
        variants::setup(Family::Percpu, options)
    }

    pub(super) fn lock_prefix(options: &Options) -> Result<Setup> {
        variants::setup(Family::LockPrefix, options)
    }

    pub(super) fn rdtsc(options: &Options) -> Result<Setup> {
        variants::setup(Family::Rdtsc, options)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod setups {
    use super::{Options, Result, Setup};
    use crate::error::Error;

    fn none() -> Result<Setup> {
        Err(Error::unsupported(
            "ring 0 needs x86-64: the guest is written for it; `cyclewise list` shows what this machine can run",
        ))
    }

    pub(super) fn popf(_: &Options) -> Result<Setup> {
        none()
    }

    pub(super) fn percpu(_: &Options) -> Result<Setup> {
        none()
    }

    pub(super) fn lock_prefix(_: &Options) -> Result<Setup> {
        none()
    }

    pub(super) fn rdtsc(_: &Options) -> Result<Setup> {
        none()
    }
}

use setups::{lock_prefix, percpu, popf, rdtsc};

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
