//! `popf`: what restoring the flags costs when nothing changes, and what a test and a branch would.

use super::{Definition, Options, Published};
use crate::error::Result;
use crate::record::Unit;
use crate::runner::{Guards, Setup};

pub(super) static DEFINITION: Definition = Definition {
    name: "popf",
    question: "Is POPF slow even when the flags it restores do not change?",
    source: "Denys Vlasenko, \"RFC: Petition Intel/AMD to add POPF_IF insn\", August 2016",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &PUBLISHED,
    setup,
};

#[cfg(target_arch = "x86_64")]
const COMPARE: [(&str, &str); 4] = [
    ("push-popf", "push-pop"),
    ("push-rep-popf", "push-popf"),
    ("pushf-pop", "push-pop"),
    ("test-branch", "push-popf"),
];

#[cfg(target_arch = "x86_64")]
fn setup(_: &Options) -> Result<Setup> {
    use crate::runner::{Bench, Control};
    let mut bench = Bench::new();
    let subjects: Vec<_> = crate::arch::popf::BODIES
        .into_iter()
        .map(|body| bench.body(body))
        .collect();
    Ok(Setup {
        compare: super::pairs(&subjects, &COMPARE),
        control: Control::Repeat(super::index(&subjects, "push-popf").unwrap_or(0)),
        notes: vec![
            "in user mode POPF leaves the interrupt flag alone; the kernel's cost when it does change is not seen here"
                .to_string(),
            "push-rep-popf is F3 9D, the encoding proposed for POPF_IF: this CPU runs it as POPF".to_string(),
        ],
        subjects,
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn setup(_: &Options) -> Result<Setup> {
    Err(crate::error::Error::unsupported(
        "popf needs x86-64: this architecture has no POPF; `cyclewise list` shows what it can run",
    ))
}

const MACHINE: &str = "Intel, 3.4 GHz (model not named)";

static PUBLISHED: [Published; 4] = [
    Published {
        variant: Some("push-popf"),
        what: "push and popf, 4,929,012,093 cycles for 200 million",
        figure: 24.645,
        unit: "cycles per iteration, loop included",
        machine: MACHINE,
    },
    Published {
        variant: Some("push-popf"),
        what: "push and popf",
        figure: 0.17,
        unit: "instructions per cycle",
        machine: MACHINE,
    },
    Published {
        variant: Some("push-pop"),
        what: "push and pop, 209,247,645 cycles for 200 million",
        figure: 1.046,
        unit: "cycles per iteration, loop included",
        machine: MACHINE,
    },
    Published {
        variant: Some("push-pop"),
        what: "push and pop",
        figure: 3.83,
        unit: "instructions per cycle",
        machine: MACHINE,
    },
];
