//! `static-key`: the cost of a test that is almost never true, as a patched instruction and as a load.

use super::elided::refused;
use super::{Definition, Options};
use crate::error::Result;
use crate::record::Unit;
use crate::runner::{Bench, Control, Guards, Kinds, Setup};
use cyclewise::static_key;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(super) static DEFINITION: Definition = Definition {
    name: "static-key",
    question: "Does a disabled static key cost as little as no test, and less than a flag in memory?",
    source: "Linux's jump labels (include/linux/jump_label.h), in userspace",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &[],
    setup,
};

const COMPARE: [(&str, &str); 2] = [
    ("no-test", "key-disabled relaxed-bool key-enabled"),
    ("relaxed-bool", "key-disabled"),
];

static_key! {
    static OFF: StaticKey = false;
    static ON: StaticKey = false;
}

static FLAG: AtomicBool = AtomicBool::new(false);

#[cold]
#[inline(never)]
fn taken() {
    black_box(());
}

/// The same code around each test.
#[inline(always)]
fn around(test: impl Fn() -> bool) {
    work();
    if test() {
        taken();
    }
}

#[cfg(target_arch = "x86_64")]
use crate::arch::plain::work;

#[cfg(not(target_arch = "x86_64"))]
fn work() {
    black_box((0..16u64).fold(0u64, |sum, i| black_box(sum + i)));
}

/// The adds around a test begin anew in each copy.
const KINDS: Kinds = Kinds::new("", "no-test key-disabled relaxed-bool key-enabled");

fn setup(_: &Options) -> Result<Setup> {
    ON.enable().map_err(refused)?;
    let mut bench = Bench::new();
    let samplers = vec![
        bench.calls("no-test", || around(|| false)),
        bench.calls("key-disabled", || around(|| OFF.is_enabled())),
        bench.calls("relaxed-bool", || around(|| FLAG.load(Relaxed))),
        bench.calls("key-enabled", || around(|| ON.is_enabled())),
    ];
    Ok(Setup {
        compare: super::pairs(&samplers, &COMPARE),
        control: Control::Repeat(0),
        notes: vec![
            "each test is between the same 64 adds in four chains; key-enabled takes the jump and calls an empty function".to_string(),
        ],
        samplers,
        kinds: KINDS,
        ..Setup::default()
    })
}
