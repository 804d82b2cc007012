//! `rdtsc`: the cost of each way to order a read of the time stamp counter, and of the vDSO's and std's clocks.

use super::{Definition, Options, Published};
use crate::arch::counter;
use crate::error::Result;
use crate::record::Unit;
use crate::runner::{Bench, Guards, Kinds, Setup};
use crate::sys::clock;
use std::hint::black_box;
use std::time::Instant;

pub(super) static DEFINITION: Definition = Definition {
    name: "rdtsc",
    question: "What does each way of ordering a read of the time stamp counter cost?",
    source: "Andy Lutomirski and Ingo Molnar, \"x86-64: Optimize vread_tsc's barriers\", April 2011",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &PUBLISHED,
    setup,
};

#[cfg(target_arch = "x86_64")]
const BARE: &str = "rdtsc";
#[cfg(target_arch = "aarch64")]
const BARE: &str = "cntvct";

const COMPARE: [(&str, &str); 4] = [
    (
        BARE,
        "lfence-rdtsc mfence-rdtsc rdtscp lfence-rdtsc-lfence rdtsc-dependent-load isb-cntvct vdso-monotonic",
    ),
    ("lfence-rdtsc-lfence", "lfence-rdtsc-dependent-load"),
    ("lfence-rdtsc", "rdtscp"),
    ("vdso-monotonic", "std-instant"),
];

/// A fence, RDTSCP and ISB wait for the copy before; bare reads do not. What MFENCE waits for differs by vendor.
const KINDS: Kinds = Kinds::new(
    "lfence-rdtsc rdtscp lfence-rdtsc-lfence lfence-rdtsc-dependent-load isb-cntvct",
    "rdtsc rdtsc-dependent-load cntvct",
);

fn setup(_: &Options) -> Result<Setup> {
    let mut bench = Bench::new();
    let mut notes = vec![
        "lfence-rdtsc-dependent-load is the sequence the source proposes in place of lfence-rdtsc-lfence; \
         rdtsc-dependent-load is its second half alone"
            .to_string(),
    ];
    let (mut samplers, mut missing) = (Vec::new(), Vec::new());
    for body in counter::BODIES {
        if runs_here(body.name) {
            samplers.push(bench.body(body));
        } else {
            let why = "this CPU does not have it (CPUID 8000_0001h, EDX bit 27 is 0)";
            super::left_out(&mut notes, &mut missing, &[body.name], why);
        }
    }
    samplers.push(bench.calls("vdso-monotonic", || {
        black_box(clock::monotonic_ns());
    }));
    samplers.push(bench.calls("std-instant", || {
        black_box(Instant::now());
    }));
    Ok(Setup {
        notes,
        missing,
        ..super::by_name(samplers, &COMPARE, BARE, KINDS)
    })
}

#[cfg(target_arch = "x86_64")]
fn runs_here(name: &str) -> bool {
    name != "rdtscp" || counter::has_rdtscp()
}

#[cfg(not(target_arch = "x86_64"))]
fn runs_here(_: &str) -> bool {
    true
}

const SANDY_BRIDGE: &str = "Sandy Bridge i7-2600";

static PUBLISHED: [Published; 2] = published! {
    SANDY_BRIDGE => {
        "vdso-monotonic": "clock_gettime(CLOCK_MONOTONIC) with two fences", 22.7, "ns";
        "vdso-monotonic": "clock_gettime(CLOCK_MONOTONIC) with one fence and a dependent load", 17.7, "ns";
    }
};
