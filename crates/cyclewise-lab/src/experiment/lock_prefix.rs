//! `lock-prefix`: what the LOCK prefix costs, and whether a DS prefix in its place is as cheap as a NOP.

use super::{Definition, Options, Published};
use crate::error::Result;
use crate::record::Unit;
#[cfg(target_arch = "x86_64")]
use crate::runner::Kinds;
use crate::runner::{Guards, Setup};

pub(super) static DEFINITION: Definition = Definition {
    name: "lock-prefix",
    question: "What does an uncontended LOCK prefix cost, and is a DS prefix in its place as cheap as a NOP?",
    source: "Mathieu Desnoyers, \"x86: alternatives: fix LOCK_PREFIX race with preemptible kernel and CPU hotplug\", August 2008",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &PUBLISHED,
    setup,
};

/// The comparisons: every LOCK with its DS, every DS with its NOP or bare form.
#[cfg(target_arch = "x86_64")]
const COMPARE: [(&str, &str); 7] = [
    ("ds-xadd32", "lock-xadd32"),
    ("ds-xadd64", "lock-xadd64"),
    ("ds-inc64", "lock-inc64"),
    ("ds-cmpxchg64", "lock-cmpxchg64"),
    ("nop-xadd32", "ds-xadd32"),
    ("nop-xadd64", "ds-xadd64"),
    ("plain-inc64", "ds-inc64"),
];

/// Every copy changes the word that the one before has changed. The empty loop is neither.
#[cfg(target_arch = "x86_64")]
const KINDS: Kinds = Kinds::new(
    "nop-xadd32 ds-xadd32 lock-xadd32 nop-xadd64 ds-xadd64 lock-xadd64 plain-inc64 ds-inc64 lock-inc64 \
     ds-cmpxchg64 lock-cmpxchg64 xchg64",
    "",
);

#[cfg(target_arch = "x86_64")]
fn setup(_: &Options) -> Result<Setup> {
    use crate::runner::Bench;
    let mut bench = Bench::new();
    let samplers: Vec<_> = crate::arch::lock_prefix::BODIES
        .into_iter()
        .map(|body| bench.body(body))
        .collect();
    Ok(Setup {
        notes: vec![
            "empty is the loop itself (DEC and a taken branch), per iteration; the other variants do not include its cost, but the source's do".to_string(),
            "one word that stays in this core's L1, uncontended; xchg64 locks without a prefix".to_string(),
        ],
        ..super::by_name(samplers, &COMPARE, "lock-inc64", KINDS)
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn setup(_: &Options) -> Result<Setup> {
    Err(crate::error::Error::unsupported(
        "lock-prefix needs x86-64: this architecture has no LOCK prefix; `cyclewise list` shows what it can run",
    ))
}

/// Cycles per iteration of a loop of ten million, the loop included.
const fn figure(variant: &'static str, what: &'static str, machine: &'static str, cycles: f64) -> Published {
    Published {
        variant: Some(variant),
        what,
        figure: cycles,
        unit: "cycles per iteration, loop included",
        machine,
    }
}

const EMPTY: &str = "empty loop";
const NOP: &str = "1-byte NOP and XADD";
const DS: &str = "DS prefix and XADD";
const LOCK: &str = "LOCK XADD";
const E5405: &str = "Xeon E5405 2.0 GHz";
const AMD64: &str = "AMD64 2.0 GHz";
const P4: &str = "Pentium 4 3.0 GHz";
const PM: &str = "Pentium M 2.0 GHz";
const P3: &str = "Pentium 3 550 MHz";
const P2: &str = "Pentium II 350 MHz";

static PUBLISHED: [Published; 24] = [
    figure("empty", EMPTY, E5405, 16.2207948),
    figure("nop-xadd64", NOP, E5405, 17.0755422),
    figure("ds-xadd64", DS, E5405, 17.0000118),
    figure("lock-xadd64", LOCK, E5405, 47.2012134),
    figure("empty", EMPTY, AMD64, 14.6674549),
    figure("nop-xadd64", NOP, AMD64, 15.0273860),
    figure("ds-xadd64", DS, AMD64, 14.9982382),
    figure("lock-xadd64", LOCK, AMD64, 27.0000690),
    figure("empty", EMPTY, P4, 29.0001195),
    figure("nop-xadd32", NOP, P4, 31.0000560),
    figure("ds-xadd32", DS, P4, 31.0000575),
    figure("lock-xadd32", LOCK, P4, 105.0103740),
    figure("empty", EMPTY, PM, 18.0000523),
    figure("nop-xadd32", NOP, PM, 32.0000345),
    figure("ds-xadd32", DS, PM, 31.0000374),
    figure("lock-xadd32", LOCK, PM, 48.0000357),
    figure("empty", EMPTY, P3, 51.0000119),
    figure("nop-xadd32", NOP, P3, 62.0000128),
    figure("ds-xadd32", DS, P3, 62.0000110),
    figure("lock-xadd32", LOCK, P3, 80.0000088),
    figure("empty", EMPTY, P2, 20.0833494),
    figure("nop-xadd32", NOP, P2, 34.0000130),
    figure("ds-xadd32", DS, P2, 34.0000126),
    figure("lock-xadd32", LOCK, P2, 53.0000078),
];
