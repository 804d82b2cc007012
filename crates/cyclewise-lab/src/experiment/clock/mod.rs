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

const COMPARE: [(&str, &str); 19] = [
    ("task-ticks", NAMES[0]),
    ("task-now", NAMES[0]),
    ("ticks", NAMES[1]),
    ("ticks", NAMES[2]),
    ("now", NAMES[1]),
    ("now", NAMES[2]),
    ("now", "std-instant"),
    ("now", "vdso-monotonic"),
    ("converted", "now"),
    ("dependent-now", "now"),
    ("bracketed-now", "now"),
    ("after-stores-now", "bracketed-now"),
    ("task-now", "quanta"),
    ("quanta", NAMES[0]),
    ("quanta-raw", NAMES[0]),
    ("recent", "coarsetime"),
    ("c-now", "now"),
    ("c-ticks", "ticks"),
    ("c-task-ticks", "task-ticks"),
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

fn counters(bench: &mut Bench) -> Vec<Box<dyn Sampler>> {
    let rows = vec![
        tail::row(bench, NAMES[0], || {
            black_box(raw::bare());
        }),
        tail::row(bench, NAMES[1], || {
            black_box(raw::fenced());
        }),
    ];
    #[cfg(target_arch = "x86_64")]
    let rows = {
        let mut rows = rows;
        rows.extend(raw::Waiting::find().map(|waiting| {
            tail::row(bench, NAMES[2], move || {
                black_box(waiting.read());
            })
        }));
        rows
    };
    rows
}

fn ours(bench: &mut Bench) -> Vec<Box<dyn Sampler>> {
    vec![
        tail::row(bench, "task-ticks", || {
            black_box(Ticks::<PerTask>::read());
        }),
        tail::row(bench, "task-now", || {
            black_box(Instant::<PerTask>::read());
        }),
        tail::row(bench, "ticks", || {
            black_box(Ticks::<LoadOrdered>::read());
        }),
        tail::row(bench, "now", || {
            black_box(Instant::now());
        }),
        tail::row(bench, "dependent-ticks", || {
            black_box(Ticks::<DependentLoad>::read());
        }),
        tail::row(bench, "dependent-now", || {
            black_box(Instant::<DependentLoad>::read());
        }),
        tail::row(bench, "bracketed-now", || {
            black_box(Instant::<Bracketed>::read());
        }),
        tail::row(bench, "after-stores-now", || {
            black_box(Instant::<AfterStores>::read());
        }),
    ]
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
    vec![
        tail::row(bench, "std-instant", || {
            black_box(std::time::Instant::now());
        }),
        tail::row(bench, "vdso-monotonic", || {
            black_box(kernel::monotonic_ns());
        }),
        tail::row(bench, "quanta", move || {
            black_box(quanta.now());
        }),
        tail::row(bench, "quanta-raw", move || {
            black_box(raw.raw());
        }),
        tail::row(bench, "coarsetime", || {
            black_box(coarsetime::Instant::now());
        }),
    ]
}
