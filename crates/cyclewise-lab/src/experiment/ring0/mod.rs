//! The experiments of ring 0: instructions that user mode cannot execute, in a guest of two megabytes.
//!
//! The guest is that of the package `cyclewise-guest`. Where a CPU runs it, its payloads are measured by the same slope as in user
//! mode. Where an emulator does, a cost would be the emulator's: then only what the instructions do is shown.

#[cfg(ring0)]
mod checks;
mod published;
#[cfg(ring0)]
mod slope;
#[cfg(ring0)]
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

#[cfg(ring0)]
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

#[cfg(not(ring0))]
mod setups {
    use super::{Options, Result, Setup};

    pub(super) fn none(_: &Options) -> Result<Setup> {
        Err(crate::machine::guest::missing())
    }

    pub(super) use none as popf;
    pub(super) use none as percpu;
    pub(super) use none as lock_prefix;
    pub(super) use none as rdtsc;
}

use setups::{lock_prefix, percpu, popf, rdtsc};

#[cfg(all(test, ring0))]
mod tests;
