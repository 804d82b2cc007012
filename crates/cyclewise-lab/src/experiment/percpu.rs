//! `percpu`: the cost of incrementing the current CPU's word, for each way to find and change it.
//!
//! Each way has two rows. In the plain row every addition is to the same word, so it waits until the previous one has
//! left the store buffer. In the `-64` row additions cycle through 64 words, and none waits.

use super::c_rows::{self, CRow};
use super::{Definition, Options, Published};
use crate::arch::c;
use crate::arch::words::{Apart, Local, Plain};
use crate::arch::{entry, opaque};
use crate::error::Result;
use crate::record::Unit;
use crate::runner::{Bench, Control, Guards, Kinds, Sampler, Setup, code_bytes};
use crate::sys::percpu::{Gs, PerCpuWords, WORDS, here};
use crate::sys::vdso::GetCpu;
use cyclewise::percpu::{Backend, Cid, Cpu, Index, Slot, backend};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(super) static DEFINITION: Definition = Definition {
    name: "percpu",
    question: "Is adding to the current CPU's word as cheap as a plain addition, and how much cheaper than a locked one?",
    source: "Jeremy Fitzhardinge, \"[PATCH 0/8] Implement per-processor data areas for i386\", August 2006, in userspace with restartable sequences",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &PUBLISHED,
    setup,
};

const COMPARE: [(&str, &str); 11] = [
    ("store-and-add-64", "rseq-add-64"),
    ("plain-64", "rseq-add-64 tls-64"),
    (
        "rseq-add-64",
        "lock-inc-64 getcpu-atomic-64 rseq-id-atomic-64 cid-add-64 getppid",
    ),
    ("tls-64", "gs-add-64"),
    ("plain", "rseq-add"),
    ("rseq-add", "lock-inc getcpu-atomic cid-add"),
    ("tls", "gs-add"),
    ("lock-inc", "c-lock-inc"),
    ("lock-inc-64", "c-lock-inc-64"),
    ("c11-inc", "c-lock-inc"),
    ("c11-inc-64", "c-lock-inc-64"),
];

/// The locked additions in C.
const C: [CRow; 4] = [
    ("c-lock-inc", c::inc_round),
    ("c11-inc", c::c11_inc_round),
    ("c-lock-inc-64", c::inc_64),
    ("c11-inc-64", c::c11_inc_64),
];

/// Additions of one call: enough that the loop's share is small.
const OPERATIONS: u32 = WORDS as u32;

/// Both rows of a way.
fn rows(bench: &mut Bench, names: [&'static str; 2], add: impl Fn(usize) + Copy + 'static) -> [Box<dyn Sampler>; 2] {
    let bytes = code_bytes(move || add(0));
    // A copy of the captured addresses in the loop's frame, so that they are in registers there as a caller's would be.
    [
        bench.calls_of_bytes(names[0], OPERATIONS, bytes, move || {
            let add = add;
            round(move |_| add(0));
        }),
        bench.calls_of_bytes(names[1], OPERATIONS, bytes, move || {
            let add = add;
            round(add);
        }),
    ]
}

/// Both rows by GS; they own the guard that confines the thread.
fn gs_rows(bench: &mut Bench, gs: &Rc<Gs>) -> [Box<dyn Sampler>; 2] {
    let (one, all) = (Rc::clone(gs), Rc::clone(gs));
    let words = gs.words();
    let bytes = code_bytes(move || words.inc(0));
    [
        bench.calls_of_bytes("gs-add", OPERATIONS, bytes, move || {
            let words = one.words();
            round(move |_| words.inc(0));
        }),
        bench.calls_of_bytes("gs-add-64", OPERATIONS, bytes, move || {
            let words = all.words();
            round(move |n| words.inc(n));
        }),
    ]
}

/// Sixty-four additions, eight to an iteration, in a loop that is the same for each row.
#[inline(always)]
fn round(add: impl Fn(usize)) {
    let mut left = WORDS as u64;
    while left > 0 {
        left = opaque(left) - 8;
        let n = left as usize;
        add(n);
        add(n + 1);
        add(n + 2);
        add(n + 3);
        add(n + 4);
        add(n + 5);
        add(n + 6);
        add(n + 7);
    }
}

/// One word is changed by every addition of the plain rows, and by each sixty-fourth of the others.
const KINDS: Kinds = Kinds::new(
    "plain store-and-add tls lock-inc getcpu-atomic rseq-id-atomic rseq-add cid-add portable-add gs-add c-lock-inc \
     c11-inc",
    "plain-64 store-and-add-64 tls-64 lock-inc-64 getcpu-atomic-64 rseq-id-atomic-64 rseq-add-64 cid-add-64 \
     portable-add-64 gs-add-64 c-lock-inc-64 c11-inc-64",
);

fn setup(_: &Options) -> Result<Setup> {
    let mut bench = Bench::new();
    let mut notes = vec![
        "the -64 variants cycle through 64 neighbouring words; in the others each addition waits for the previous one to leave the store buffer, which hides the cost of the addition".to_string(),
        "store-and-add: a store to a word on a line of its own, then the addition, as a restartable sequence has to".to_string(),
        format!("backend: {}", backend()),
        memory(),
        "bytes: the code of one more addition whose word's address is known, without the library's shared slow path".to_string(),
    ];
    let (mut samplers, mut missing) = (Vec::new(), Vec::new());
    let local = Local::here();
    let words: &'static Plain = Box::leak(Box::new(Plain::new()));
    samplers.extend(rows(&mut bench, ["plain", "plain-64"], move |n| words.inc(n)));
    let apart: &'static Apart = Box::leak(Box::new(Apart::new()));
    samplers.extend(rows(&mut bench, ["store-and-add", "store-and-add-64"], move |n| {
        apart.store();
        words.inc(n);
    }));
    samplers.extend(rows(&mut bench, ["tls", "tls-64"], move |n| local.inc(n)));
    let locked: &'static [AtomicU64; WORDS] = Box::leak(Box::new([const { AtomicU64::new(0) }; WORDS]));
    samplers.extend(rows(&mut bench, ["lock-inc", "lock-inc-64"], move |n| {
        locked[n % WORDS].fetch_add(1, Relaxed);
    }));
    samplers.extend(c_rows::locked(&mut bench, &C, &mut notes, &mut missing));
    match GetCpu::find() {
        Some(getcpu) => {
            let words = PerCpuWords::<Cpu>::new();
            let names = ["getcpu-atomic", "getcpu-atomic-64"];
            samplers.extend(rows(&mut bench, names, move |n| {
                if let Some(slot) = Slot::from_id(getcpu.call()) {
                    words.add_atomic(slot, n);
                }
            }));
        }
        None => super::left_out(
            &mut notes,
            &mut missing,
            &["getcpu-atomic", "getcpu-atomic-64"],
            "this libc has no getcpu (glibc has it since 2.29)",
        ),
    }
    if backend().backend == Backend::Rseq {
        let words = PerCpuWords::<Cpu>::new();
        let names = ["rseq-id-atomic", "rseq-id-atomic-64"];
        samplers.extend(rows(&mut bench, names, move |n| words.add_atomic(here(), n)));
        samplers.extend(rows(&mut bench, ["rseq-add", "rseq-add-64"], add::<Cpu>()));
        if backend().cid {
            samplers.extend(rows(&mut bench, ["cid-add", "cid-add-64"], add::<Cid>()));
        } else {
            let why = "this kernel does not publish mm_cid";
            super::left_out(&mut notes, &mut missing, &["cid-add", "cid-add-64"], why);
        }
    } else {
        let why = "the backend note has the reason";
        for names in [
            ["rseq-id-atomic", "rseq-id-atomic-64"],
            ["rseq-add", "rseq-add-64"],
            ["cid-add", "cid-add-64"],
        ] {
            super::left_out(&mut notes, &mut missing, &names, why);
        }
        let names = ["portable-add", "portable-add-64"];
        samplers.extend(rows(&mut bench, names, add::<Cpu>()));
    }
    match Gs::enter() {
        Ok(gs) => {
            samplers.extend(gs_rows(&mut bench, &Rc::new(gs)));
        }
        Err(error) => super::left_out(&mut notes, &mut missing, &["gs-add", "gs-add-64"], &error.message),
    }
    // The source compared its saving and restoring of GS with this system call.
    samplers.push(bench.body(entry::GETPPID));
    let control = super::index(&samplers, "rseq-add-64").or(super::index(&samplers, "plain-64"));
    Ok(Setup {
        compare: super::pairs(&samplers, &COMPARE),
        control: Control::Repeat(control.unwrap_or(0)),
        notes,
        samplers,
        kinds: KINDS,
        missing,
        ..Setup::default()
    })
}

/// By the library.
fn add<I: Index>() -> impl Fn(usize) + Copy + 'static {
    let words = PerCpuWords::<I>::new();
    move |n| words.add(n)
}

fn memory() -> String {
    let slots = Slot::all().count();
    format!(
        "memory: a variable takes its size in each used slot, but at least 4 KiB for the first of a page; address space is 64 KiB for each of {slots} slots ({} KiB); a page holds 512 variables of 8 bytes",
        slots * 64
    )
}

static PUBLISHED: [Published; 2] = published! {
    "Intel Xeon E5-2630 v3" => {
        "getcpu-atomic-64": "getcpu and an atomic addition (rseq's first numbers)", 15.3, "ns";
        "rseq-add-64": "a restartable sequence", 2.0, "ns";
    }
};
