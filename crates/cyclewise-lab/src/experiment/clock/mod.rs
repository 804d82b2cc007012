//! `clock`: the cost of reading our clock in each order, compared with the counter itself and with other clocks.

mod background;
mod tail;

use super::c_rows::{self, CRow};
use super::{Definition, Options};
use crate::arch::{c, raw};
use crate::error::Result;
use crate::record::Unit;
use crate::runner::{Bench, Guards, Kinds, Sampler, Setup};
use crate::sys::clock as kernel;
use cyclewise::clock::{
    AfterStores, Bracketed, Clock, Conversion, DependentLoad, Instant, LoadOrdered, Mode, PerTask, System, Ticks,
};
use std::hint::black_box;
use std::time::Duration;

pub(super) static DEFINITION: Definition = Definition {
    name: "clock",
    question: "Does an ordered, disciplined, monotonic clock cost as little as reading the counter?",
    source: "Andy Lutomirski and Ingo Molnar, \"x86-64: Optimize vread_tsc's barriers\", April 2011",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &[],
    setup,
};

#[cfg(target_arch = "x86_64")]
const NAMES: [&str; 3] = ["rdtsc", "lfence-rdtsc", "rdtscp"];
#[cfg(not(target_arch = "x86_64"))]
const NAMES: [&str; 3] = ["cntvct", "isb-cntvct", ""];

const COMPARE: [(&str, &str); 11] = [
    (NAMES[0], "task-ticks task-now quanta quanta-raw"),
    (NAMES[1], "ticks now"),
    (NAMES[2], "ticks now"),
    ("std-instant", "now"),
    ("vdso-monotonic", "now"),
    ("now", "converted dependent-now bracketed-now c-now"),
    ("bracketed-now", "after-stores-now"),
    ("quanta", "task-now"),
    ("coarsetime", "recent"),
    ("ticks", "c-ticks"),
    ("task-ticks", "c-task-ticks"),
];

/// The same in C, read inline.
const C: [CRow; 3] = [
    ("c-now", c::clock_now),
    ("c-ticks", c::ticks_ordered),
    ("c-task-ticks", c::ticks),
];

/// A clock that a thread on another CPU refreshes.
static KEPT: Clock = Clock::new(System);

/// Bare reads of the counter wait for nothing, and those behind a fence for the copy before. The others do more than read it.
const KINDS: Kinds = Kinds::new("lfence-rdtsc rdtscp isb-cntvct bracketed-now", "rdtsc cntvct converted");

fn setup(options: &Options) -> Result<Setup> {
    let mut missing = Vec::new();
    let cpus = &options.cpus()?;
    let mut notes = learn();
    let bench = &mut Bench::new();
    let mut samplers = counters(bench);
    samplers.extend(ours(bench));
    samplers.extend(c_rows::locked(bench, &C, &mut notes, &mut missing));
    match Clock::process().conversion() {
        Some(conversion) => samplers.push(converted(bench, conversion)),
        None => super::left_out(
            &mut notes,
            &mut missing,
            &["converted"],
            "the clock does not know the counter's rate",
        ),
    }
    samplers.extend(peers(bench));
    let recent = tail::row(bench, "recent", || {
        black_box(KEPT.recent());
    });
    match background::kept(recent, cpus, &KEPT)? {
        Some(recent) => samplers.push(recent),
        None => super::left_out(
            &mut notes,
            &mut missing,
            &["recent"],
            "this process may use one CPU only",
        ),
    }
    notes.push(
        "read-*: single reads between stamps, whose cost is included; means over samples of 4000 reads".to_string(),
    );
    Ok(Setup {
        notes,
        missing,
        ..super::by_name(samplers, &COMPARE, "now", KINDS)
    })
}

/// Reads until the clock knows the counter's rate; returns notes on what the clock reads.
fn learn() -> Vec<String> {
    let begun = std::time::Instant::now();
    while Clock::process().status().mode == Mode::Starting && begun.elapsed() < Duration::from_millis(100) {
        Instant::now();
    }
    let status = Clock::process().status();
    match (status.mode, status.reason) {
        (Mode::Counter, _) => vec![format!("the clock reads the counter; {}", order())],
        (_, Some(reason)) => vec![format!("the clock's variants read the kernel's clock: {reason}")],
        (_, None) => {
            vec![
                "the clock's variants read the kernel's clock: it did not learn the counter's rate in 100 ms"
                    .to_string(),
            ]
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn order() -> String {
    use cyclewise::arch::tsc_order;
    format!(
        "load-ordered reads are {:?}, LFENCE in the litmus test: {:?}",
        tsc_order::choose(),
        tsc_order::litmus()
    )
}

#[cfg(not(target_arch = "x86_64"))]
fn order() -> String {
    "load-ordered reads wait for loads by DSB ISHLD".to_string()
}

/// Rows of reads, each with the tail of single ones.
macro_rules! rows {
    ($bench:ident: $($name:expr => $read:expr,)*) => {
        vec![$(tail::row($bench, $name, move || {
            black_box($read);
        }),)*]
    };
}

fn counters(bench: &mut Bench) -> Vec<Box<dyn Sampler>> {
    let rows = rows! { bench:
        NAMES[0] => raw::bare(),
        NAMES[1] => raw::fenced(),
    };
    #[cfg(target_arch = "x86_64")]
    let rows = {
        let mut rows = rows;
        if let Some(waiting) = raw::Waiting::find() {
            rows.extend(rows! { bench: NAMES[2] => waiting.read(), });
        }
        rows
    };
    rows
}

fn ours(bench: &mut Bench) -> Vec<Box<dyn Sampler>> {
    rows! { bench:
        "task-ticks" => Ticks::<PerTask>::read(),
        "task-now" => Instant::<PerTask>::read(),
        "ticks" => Ticks::<LoadOrdered>::read(),
        "now" => Instant::now(),
        "dependent-ticks" => Ticks::<DependentLoad>::read(),
        "dependent-now" => Instant::<DependentLoad>::read(),
        "bracketed-now" => Instant::<Bracketed>::read(),
        "after-stores-now" => Instant::<AfterStores>::read(),
    }
}

/// The other half of a stamp that is converted later: `ticks` is the first.
fn converted(bench: &mut Bench, conversion: Conversion) -> Box<dyn Sampler> {
    let stamp = Ticks::<LoadOrdered>::read();
    tail::row(bench, "converted", move || {
        black_box(conversion.time(black_box(stamp)));
    })
}

fn peers(bench: &mut Bench) -> Vec<Box<dyn Sampler>> {
    let (quanta, raw) = (quanta::Clock::new(), quanta::Clock::new());
    rows! { bench:
        "std-instant" => std::time::Instant::now(),
        "vdso-monotonic" => kernel::monotonic_ns(),
        "quanta" => quanta.now(),
        "quanta-raw" => raw.raw(),
        "coarsetime" => coarsetime::Instant::now(),
    }
}
