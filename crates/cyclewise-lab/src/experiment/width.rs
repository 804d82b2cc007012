//! `width`: what a free lock costs by the width of the word that is taken, and of the store that gives it back.
//!
//! A locked instruction reads the word that the last release has stored. Where the store is of that width and place, a CPU may
//! hand the value over before it is in the cache; what a narrower store or a word of 8 or 16 bits costs differs by CPU. The
//! rows are in `arch`, in assembly, since memory models forbid accesses of different widths to one atomic.

use super::{Definition, Options, spinlock};
use crate::arch::width::{BODIES, BYTE_WORD_MIXED, COMPARE, LOCKS, lacks};
use crate::error::Result;
use crate::record::{FigureKind, Unit};
use crate::runner::{Bench, Control, Guards, Kinds, Setup};

pub(super) static DEFINITION: Definition = Definition {
    name: "width",
    question: "What does a free lock cost by the width of its word, and by that of the store that gives it back?",
    source: "Waiman Long and Peter Zijlstra, \"qspinlock: a 4-byte queue spinlock with PV support\", 2014 to 2015, whose word of 32 bits is given back by a store of 8",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &[],
    setup,
};

fn setup(_: &Options) -> Result<Setup> {
    let mut bench = Bench::new();
    let mut notes = notes();
    let (mut samplers, mut missing) = (Vec::new(), Vec::new());
    for body in BODIES {
        match lacks(body.name) {
            None => samplers.push(bench.body(body)),
            Some(why) => super::left_out(&mut notes, &mut missing, &[body.name], why),
        }
    }
    samplers.extend(spinlock::free_locks(&mut bench));
    let control = super::index(&samplers, BYTE_WORD_MIXED[1]).unwrap_or(0);
    Ok(Setup {
        compare: super::pairs(&samplers, &[COMPARE, &LOCKS.map(|(lock, form)| (form, lock))].concat()),
        control: Control::Repeat(control),
        notes,
        samplers,
        // Every copy takes what the one before has given back; the company alone is a chain.
        kinds: Kinds::all(FigureKind::Latency),
        missing,
        ..Setup::default()
    })
}

/// What the names mean, and which lock does which; each from its source.
#[cfg(target_arch = "x86_64")]
fn notes() -> Vec<String> {
    [
        "an operation takes a free lock and gives it back, without the branch for a lock that is held; numbers in names are bits; \
         cmpxchg32-mov8 takes by LOCK CMPXCHG of 32 bits and gives back by a store of 8 bits at the same address; load32: \
         the word is loaded before the release; second-word: the release is of the word behind; the take is locked always, the release where it is CMPXCHG, XCHG or lock-dec",
        "adds30 and loads8 have 30 dependent additions, or 8 dependent loads that hit L1, between a release and the next take; \
         the rows with these names alone have no lock",
        "cyclewise, parking-lot, std-mutex, spin, spin-ticket and mcs are locks as Rust compiles them, each compared with the row \
         that it does when it is free; what it takes longer is its branches and what else it looks at",
        "cmpxchg8-mov8: spin::Mutex 0.12 (mutex/spin.rs, AtomicBool); cmpxchg8-cmpxchg8: parking_lot::Mutex 0.12 (raw_mutex.rs, \
         AtomicU8); cmpxchg32-xchg32: std::sync::Mutex on Linux (sys/sync/mutex/futex.rs, AtomicU32); cmpxchg32-lock-dec32 and \
         cmpxchg32-xchg32: glibc's pthread_mutex (lowlevellock.h of x86 and of others)",
        "cmpxchg32-mov32: cyclewise's lock::SpinLock, which loads its tail too; cmpxchg32-mov8: Linux's qspinlock (asm-generic/qspinlock.h, and asm/qspinlock.h of x86); xadd32-inc16: its ticket lock \
         before that; xadd64-mov64-second-word: spin's TicketMutex (mutex/ticket.rs, two AtomicUsize); xchg64-cmpxchg64: MCS, \
         and xchg64-mov32-second-word: CLH, as in Concurrency Kit (spinlock/mcs.h, clh.h), without their nodes",
    ]
    .map(str::to_owned)
    .into()
}

/// As on x86-64.
#[cfg(not(target_arch = "x86_64"))]
fn notes() -> Vec<String> {
    [
        "an operation takes a free lock and gives it back, without the branch for a lock that is held; numbers in names are bits; \
         cas32-stlr8 takes by CASA of 32 bits and gives back by STLR of 8 bits at the same address; exclusive: LDAXR and STXR; \
         load32: the word is loaded before the release; second-word: the release is of the word behind",
        "adds30 and loads8 have 30 dependent additions, or 8 dependent loads that hit L1, between a release and the next take; \
         the rows with these names alone have no lock",
        "cyclewise, parking-lot, std-mutex, spin, spin-ticket and mcs are locks as Rust compiles them, each compared with the row \
         that it does when it is free; what it takes longer is its branches and what else it looks at",
        "cas32-stlr32: cyclewise's lock::SpinLock, which loads its tail too; cas8-stlr8: spin::Mutex 0.12; cas8-cas8: parking_lot::Mutex 0.12; cas32-swp32: std::sync::Mutex on Linux and glibc's \
         pthread_mutex; cas32-stlr8: Linux's qspinlock; ldadd32-stlr16: its ticket lock before that; ldadd64-stlr64-second-word: \
         spin's TicketMutex; swp64-cas64: MCS, without its nodes",
    ]
    .map(str::to_owned)
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_one_name_and_every_comparison_its_rows() {
        for (i, body) in BODIES.iter().enumerate() {
            assert!(BODIES[..i].iter().all(|other| other.name != body.name), "{}", body.name);
        }
        let is_row = |name: &str| BODIES.iter().any(|b| b.name == name);
        let pairs: Vec<_> = crate::experiment::each_pair(COMPARE).collect();
        for (i, (a, b)) in pairs.iter().enumerate() {
            assert!(is_row(a) && is_row(b) && a != b, "{a} against {b}");
            assert!(!pairs[..i].contains(&(a, b)), "{a} against {b}");
        }
        for (lock, form) in LOCKS {
            assert!(is_row(form) && !is_row(lock), "{lock}: {form}");
        }
        let compared = |name| pairs.iter().any(|(a, b)| *a == name || *b == name);
        for body in &BODIES {
            assert!(compared(body.name), "{} is compared with nothing", body.name);
        }
        assert!(BYTE_WORD_MIXED.into_iter().all(is_row));
    }

    #[test]
    fn locks_that_the_notes_name_are_rows() {
        for note in &notes()[3..] {
            for part in note.split("; ") {
                for name in part.split(": ").next().unwrap_or_default().split(" and ") {
                    let name = name.rsplit(' ').next().unwrap_or_default();
                    let known = BODIES.iter().any(|b| b.name == name);
                    assert!(known, "{name:?} in {part:?}");
                }
            }
        }
    }
}
