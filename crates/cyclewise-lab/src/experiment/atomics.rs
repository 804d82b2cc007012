//! `atomics`: our atomics compared with std's while LOCK is present, and with plain instructions while it is elided.

use super::c_rows::{self, CRow};
use super::elided::ElidedRows;
use super::{Definition, Options};
use crate::arch::c;
use crate::error::Result;
use crate::record::{FigureKind, Unit};
use crate::runner::{Bench, Guards, Kinds, Setup};
use cyclewise::atomic::AtomicU64;
use std::hint::black_box;
use std::sync::atomic::{self, Ordering::Relaxed};

pub(super) static DEFINITION: Definition = Definition {
    name: "atomics",
    question: "Do atomics with patchable LOCK prefixes cost as much as std's, and as little as plain instructions while LOCK is elided?",
    source: "Mathieu Desnoyers, \"x86: alternatives: fix LOCK_PREFIX race with preemptible kernel and CPU hotplug\", August 2008",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &[],
    setup,
};

const COMPARE: [(&str, &str); 12] = [
    ("std-inc", "inc-locked"),
    ("plain-inc", "inc-elided"),
    ("std-fetch-add", "fetch-add-locked"),
    ("plain-xadd", "fetch-add-elided"),
    ("std-cmpxchg", "cmpxchg-locked"),
    ("plain-cmpxchg", "cmpxchg-elided"),
    ("inc-locked", "c-inc-locked"),
    ("c11-inc", "c-inc-locked"),
    ("inc-elided", "c-inc-elided"),
    ("fetch-add-locked", "c-fetch-add-locked"),
    ("c11-fetch-add", "c-fetch-add-locked"),
    ("fetch-add-elided", "c-fetch-add-elided"),
];

/// The same in C.
const C: [CRow; 4] = [
    ("c-inc-locked", c::inc),
    ("c11-inc", c::c11_inc),
    ("c-fetch-add-locked", c::fetch_add),
    ("c11-fetch-add", c::c11_fetch_add),
];
const C_ELIDED: [CRow; 2] = [("c-inc-elided", c::inc), ("c-fetch-add-elided", c::fetch_add)];

/// Each operation is one function, so that its elided and locked rows run the same code.
fn inc() -> impl FnMut() + 'static {
    let a = AtomicU64::new(0);
    move || a.inc(Relaxed)
}

fn fetch_add() -> impl FnMut() + 'static {
    let a = AtomicU64::new(0);
    move || {
        black_box(a.fetch_add(1, Relaxed));
    }
}

fn cmpxchg() -> impl FnMut() + 'static {
    let a = AtomicU64::new(7);
    move || {
        let _ = black_box(a.compare_exchange(7, 7, Relaxed, Relaxed));
    }
}

/// Every call changes one word.
const KINDS: Kinds = Kinds::all(FigureKind::Latency);

fn setup(_: &Options) -> Result<Setup> {
    let mut bench = Bench::new();
    let mut notes = Vec::new();
    let (add, exchange) = (atomic::AtomicU64::new(0), atomic::AtomicU64::new(7));
    let count = atomic::AtomicU64::new(0);
    let mut samplers = vec![
        bench.calls("std-inc", move || {
            count.fetch_add(1, Relaxed);
        }),
        bench.calls("inc-locked", inc()),
        bench.calls("std-fetch-add", move || {
            black_box(add.fetch_add(1, Relaxed));
        }),
        bench.calls("fetch-add-locked", fetch_add()),
        bench.calls("std-cmpxchg", move || {
            let _ = black_box(exchange.compare_exchange(7, 7, Relaxed, Relaxed));
        }),
        bench.calls("cmpxchg-locked", cmpxchg()),
    ];
    #[cfg(target_arch = "x86_64")]
    samplers.extend(plain(&mut bench));
    let mut missing = Vec::new();
    samplers.extend(c_rows::locked(&mut bench, &C, &mut notes, &mut missing));
    let mut elided = ElidedRows::new();
    samplers.extend(elided.row("inc-elided", || bench.calls("inc-elided", inc())));
    samplers.extend(elided.row("fetch-add-elided", || bench.calls("fetch-add-elided", fetch_add())));
    samplers.extend(elided.row("cmpxchg-elided", || bench.calls("cmpxchg-elided", cmpxchg())));
    for row in C_ELIDED {
        samplers.extend(c_rows::elided(&mut bench, &mut elided, row));
    }
    elided.tell(&mut notes, &mut missing);
    Ok(Setup {
        notes,
        missing,
        ..super::by_name(samplers, &COMPARE, "fetch-add-locked", KINDS)
    })
}

#[cfg(target_arch = "x86_64")]
fn plain(bench: &mut Bench) -> Vec<Box<dyn crate::runner::Sampler>> {
    use crate::arch::plain;
    let (mut count, mut add, mut exchange) = (Box::new(0u64), Box::new(0u64), Box::new(7u64));
    vec![
        bench.calls("plain-inc", move || plain::inc(&mut count)),
        bench.calls("plain-xadd", move || {
            black_box(plain::xadd(&mut add));
        }),
        bench.calls("plain-cmpxchg", move || {
            let found = plain::cmpxchg(&mut exchange, 7, 7);
            let _ = black_box(if found == 7 { Ok(found) } else { Err(found) });
        }),
    ]
}
