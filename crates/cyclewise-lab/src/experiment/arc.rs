//! `arc`: the cost of cloning and dropping a shared reference, with and without LOCK.

use super::c_rows::{self, CRow};
use super::elided::ElidedRows;
use super::{Definition, Options};
use crate::arch::{c, observe};
use crate::error::Result;
use crate::record::Unit;
use crate::runner::{Bench, Guards, Kinds, Sampler, Setup};
use cyclewise::refs::Arc;
use std::hint::black_box;
use std::ops::Deref;
use std::rc::Rc;

pub(super) static DEFINITION: Definition = Definition {
    name: "arc",
    question: "Does an Arc cost as little as an Rc while LOCK is elided, and as much as std's Arc otherwise?",
    source: "Mathieu Desnoyers, \"x86: alternatives: fix LOCK_PREFIX race with preemptible kernel and CPU hotplug\", August 2008, applied to reference counts in userspace",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &[],
    setup,
};

/// Elements of the cloned vector.
const ELEMENTS: u32 = 1000;

const COMPARE: [(&str, &str); 8] = [
    ("rc", "arc-elided"),
    ("std-arc", "arc-locked triomphe-arc"),
    ("arc-locked", "arc-elided c-object-locked"),
    ("rc-vec", "arc-elided-vec"),
    ("std-arc-vec", "arc-locked-vec triomphe-arc-vec"),
    ("arc-locked-vec", "arc-elided-vec"),
    ("c11-object", "c-object-locked"),
    ("arc-elided", "c-object-elided"),
];

/// An object with its count, as a program in C shares one.
const C: [CRow; 2] = [("c-object-locked", c::object), ("c11-object", c::c11_object)];
const C_ELIDED: CRow = ("c-object-elided", c::object);

/// A pair changes the count that the one before has changed; the elements of a vector have counts of their own.
const KINDS: Kinds = Kinds::new(
    "rc std-arc triomphe-arc arc-locked arc-elided c-object-locked c11-object c-object-elided",
    "rc-vec std-arc-vec triomphe-arc-vec arc-locked-vec arc-elided-vec",
);

fn setup(_: &Options) -> Result<Setup> {
    let mut bench = Bench::new();
    let mut notes = vec![
        "an operation is a clone and its drop; the -vec variants clone and drop a Vec of 1000 distinct references: per element, allocation included".to_string(),
        "the -vec variants without LOCK depend on where the vectors lie: one run is one placement, --runs draws several".to_string(),
    ];
    let mut samplers = vec![
        bench.calls("rc", pair(Rc::new(1u64))),
        bench.calls("std-arc", pair(std::sync::Arc::new(1u64))),
        bench.calls("triomphe-arc", pair(triomphe::Arc::new(1u64))),
        bench.calls("arc-locked", pair(Arc::new(1u64))),
    ];
    let mut missing = Vec::new();
    samplers.extend(c_rows::locked(&mut bench, &C, &mut notes, &mut missing));
    let vectors: Vec<Box<dyn Sampler>> = vec![
        bench.calls_of("rc-vec", ELEMENTS, vector(Rc::new)),
        bench.calls_of("std-arc-vec", ELEMENTS, vector(std::sync::Arc::new)),
        bench.calls_of("triomphe-arc-vec", ELEMENTS, vector(triomphe::Arc::new)),
        bench.calls_of("arc-locked-vec", ELEMENTS, vector(Arc::new)),
    ];
    let mut elided = ElidedRows::new();
    samplers.extend(elided.row("arc-elided", || bench.calls("arc-elided", pair(Arc::new(1u64)))));
    samplers.extend(c_rows::elided(&mut bench, &mut elided, C_ELIDED));
    samplers.extend(vectors);
    samplers.extend(elided.row("arc-elided-vec", || {
        bench.calls_of("arc-elided-vec", ELEMENTS, vector(Arc::new))
    }));
    elided.tell(&mut notes, &mut missing);
    Ok(Setup {
        notes,
        missing,
        ..super::by_name(samplers, &COMPARE, "arc-locked", KINDS)
    })
}

fn pair<T: Clone + Deref + 'static>(value: T) -> impl FnMut() + 'static {
    move || {
        let other = value.clone();
        observe(&raw const *other);
    }
}

/// Clones and drops a vector of distinct references.
fn vector<T: Clone + 'static>(make: impl Fn(u64) -> T) -> impl FnMut() + 'static {
    let values: Vec<T> = (0..u64::from(ELEMENTS)).map(make).collect();
    move || {
        let other = values.clone();
        black_box(&other);
    }
}
