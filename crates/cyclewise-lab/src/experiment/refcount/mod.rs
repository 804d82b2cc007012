//! `refcount`: the cost of saturation, compared with an unchecked counter and with the loops of 2019.
//!
//! An operation is what every user of a count does: take a reference, drop it, and test whether to free, which never
//! happens. The same code surrounds each count.

pub(crate) mod cas_full;
mod timing;
pub(crate) mod unchecked;

use super::c_rows::{self, CRow};
use super::elided::ElidedRows;
use super::{Definition, Options, Published};
use crate::arch::c;
use crate::error::Result;
use crate::record::Unit;
use crate::runner::{Bench, Guards, Kinds, Mode, Setup};
use cas_full::{CasFull, CasFull64};
use cyclewise::refs::rcuref::{Got, Rcuref};
use cyclewise::refs::{Refcount, Refcount64};
use std::hint::black_box;
use unchecked::{Unchecked, Unchecked64};

pub(super) static DEFINITION: Definition = Definition {
    name: "refcount",
    question: "Does a saturating reference count cost as little as a plain atomic, and as a non-atomic count while LOCK is elided?",
    source: "Jan Glauber, Kees Cook, Ard Biesheuvel and others, \"[RFC] Disable lockref on arm64\", April to June 2019",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &PUBLISHED,
    setup,
};

/// By reference, what is compared with it; pairs with a row that this machine or mode lacks are left out.
const COMPARE: [(&str, &str); 12] = [
    ("atomic", "refcount cas-full rcuref"),
    ("plain", "refcount-elided atomic-elided rcuref-elided"),
    ("refcount", "cas-full refcount-elided c-refcount"),
    ("atomic64", "refcount64 cas-full64"),
    ("plain64", "refcount64-elided"),
    ("inc-not-zero", "rcuref"),
    ("lkdtm-atomic", "lkdtm-refcount lkdtm-cas-full"),
    ("refcount64", "c-refcount64"),
    ("c11-atomic", "c-refcount"),
    ("c11-atomic64", "c-refcount64"),
    ("refcount-elided", "c-refcount-elided"),
    ("refcount64-elided", "c-refcount64-elided"),
];

/// The same in C.
const C: [CRow; 4] = [
    ("c-refcount", c::refcount),
    ("c-refcount64", c::refcount64),
    ("c11-atomic", c::c11_count),
    ("c11-atomic64", c::c11_count64),
];
const C_ELIDED: [CRow; 2] = [
    ("c-refcount-elided", c::refcount),
    ("c-refcount64-elided", c::refcount64),
];

/// A reference count: the operations that every variant has.
trait Count: 'static {
    fn set(&self, references: u32);
    fn inc(&self);
    fn dec_and_test(&self) -> bool;
}

macro_rules! counts {
    ($($name:ident),*) => { $(
        impl Count for $name {
            #[inline(always)]
            fn set(&self, references: u32) {
                self.set(references.into());
            }
            #[inline(always)]
            fn inc(&self) {
                self.inc();
            }
            #[inline(always)]
            fn dec_and_test(&self) -> bool {
                self.dec_and_test()
            }
        }
    )* };
}

counts!(Refcount, Refcount64, CasFull, CasFull64, Unchecked, Unchecked64);

/// Takes a reference and drops it.
fn pair<C: Count>(count: C) -> impl FnMut() + 'static {
    move || {
        count.inc();
        if count.dec_and_test() {
            free();
        }
    }
}

/// Takes a reference to an object that may be dead, and drops it.
fn found(count: Refcount) -> impl FnMut() + 'static {
    move || {
        if count.inc_not_zero() && count.dec_and_test() {
            free();
        }
    }
}

/// The same without a loop.
fn found_at_once(count: Rcuref) -> impl FnMut() + 'static {
    move || {
        if count.get() != Got::Dead && count.put() {
            free();
        }
    }
}

/// Called after the last drop, which never happens here.
#[cold]
#[inline(never)]
fn free() {
    black_box(());
}

/// Every pair changes one count.
const KINDS: Kinds = Kinds::new(
    "atomic refcount cas-full atomic64 refcount64 cas-full64 inc-not-zero rcuref plain plain64 atomic-elided \
     refcount-elided refcount64-elided rcuref-elided c-refcount c-refcount64 c11-atomic c11-atomic64 \
     c-refcount-elided c-refcount64-elided",
    "",
);

fn setup(options: &Options) -> Result<Setup> {
    let mut bench = Bench::new();
    let mut notes = vec![
        "an operation takes and drops a reference (inc, dec_and_test and its branch), uncontended".to_string(),
        "atomic checks nothing; refcount detects overflow, increment from zero and decrement to zero; cas-full is REFCOUNT_FULL of 2019, a loop for each operation".to_string(),
        "inc-not-zero and rcuref take a reference to an object that may be dead: by a loop, and by an addition that checks the sign".to_string(),
    ];
    let mut samplers = vec![
        bench.calls("atomic", pair(Unchecked::new(1))),
        bench.calls("refcount", pair(Refcount::new(1))),
        bench.calls("cas-full", pair(CasFull::new(1))),
        bench.calls("atomic64", pair(Unchecked64::new(1))),
        bench.calls("refcount64", pair(Refcount64::new(1))),
        bench.calls("cas-full64", pair(CasFull64::new(1))),
        bench.calls("inc-not-zero", found(Refcount::new(1))),
        bench.calls("rcuref", found_at_once(Rcuref::new())),
    ];
    #[cfg(target_arch = "x86_64")]
    samplers.extend(plain(&mut bench));
    let mut missing = Vec::new();
    samplers.extend(c_rows::locked(&mut bench, &C, &mut notes, &mut missing));
    let mut elided = ElidedRows::new();
    samplers.extend(elided.row("atomic-elided", || {
        bench.calls("atomic-elided", pair(Unchecked::new(1)))
    }));
    samplers.extend(elided.row("refcount-elided", || {
        bench.calls("refcount-elided", pair(Refcount::new(1)))
    }));
    samplers.extend(elided.row("refcount64-elided", || {
        bench.calls("refcount64-elided", pair(Refcount64::new(1)))
    }));
    samplers.extend(elided.row("rcuref-elided", || {
        bench.calls("rcuref-elided", found_at_once(Rcuref::new()))
    }));
    for row in C_ELIDED {
        samplers.extend(c_rows::elided(&mut bench, &mut elided, row));
    }
    elided.tell(&mut notes, &mut missing);
    if options.mode == Mode::Full {
        samplers.extend(timing::subjects());
        notes.push(timing::NOTE.to_string());
    }
    Ok(Setup {
        notes,
        missing,
        ..super::by_name(samplers, &COMPARE, "refcount", KINDS)
    })
}

#[cfg(target_arch = "x86_64")]
fn plain(bench: &mut Bench) -> Vec<Box<dyn crate::runner::Sampler>> {
    use crate::arch::plain;
    let (mut narrow, mut wide) = (Box::new(1u32), Box::new(1u64));
    vec![
        bench.calls("plain", move || {
            plain::inc32(&mut narrow);
            if plain::dec32_and_test(&mut narrow) {
                free();
            }
        }),
        bench.calls("plain64", move || {
            plain::inc(&mut wide);
            if plain::dec_and_test(&mut wide) {
                free();
            }
        }),
    ]
}

/// LKDTM's 2147483646 increments and 2147483647 decrements.
const CYCLES: &str = "cycles for 1 to INT_MAX to 0";

static PUBLISHED: [Published; 6] = published! {
    "x86, commit 7a46ec0e2f48" => {
        "atomic": "atomic_t", 82_249_267_387.0, CYCLES;
        "refcount": "refcount_t-fast, 1.00 of it, without inc-from-zero", 82_211_446_892.0, CYCLES;
        "cas-full": "refcount_t-full, 1.76 of it", 144_814_735_193.0, CYCLES;
    }
    "ThunderX2 2.2 GHz, one core" => {
        "atomic": "ATOMIC_TIMING", 116_252_672_661.0, CYCLES;
        "refcount": "REFCOUNT_TIMING with LSE atomics, 1.09 of it", 127_060_259_162.0, CYCLES;
        "cas-full": "REFCOUNT_TIMING with REFCOUNT_FULL, 1.64 of it", 191_057_942_484.0, CYCLES;
    }
};
