//! The operations: the rows of the matrix.
//!
//! Rows that are measured with LOCK and without it have one loop, whose prefixes are patched.

use crate::arch::{Word, observe, operations as asm};
use crate::cell::Loop;
use crate::surroundings::Surroundings;
use cyclewise::atomic::AtomicU64;
use cyclewise::clock::Instant;
use cyclewise::lock::SpinLock;
use cyclewise::mask;
use cyclewise::percpu::PerCpu;
use cyclewise::refs::lockref::LockRef;
use cyclewise::refs::{self, Refcount};
use std::hint::black_box;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

/// A row of the matrix.
pub struct Operation {
    /// The name scripts use.
    pub name: &'static str,
    pub what: &'static str,
    /// The row of another experiment that repeats it back to back: experiment and variant.
    pub loop_row: Option<[&'static str; 2]>,
    /// Whether it is measured while LOCK is elided.
    pub elided: bool,
    /// Its loops, in the order of the columns.
    pub loops: Vec<Box<dyn Loop>>,
}

/// An operation that this machine lacks.
pub struct Skipped {
    pub name: &'static str,
    pub why: &'static str,
}

/// Called after the last drop, which never happens here.
#[cold]
#[inline(never)]
fn free() {
    black_box(());
}

/// A pointer that lives as long as the program, whose target lies in the second half of a page: away from the page offsets
/// of the surroundings' memory, which some CPUs take for the same address until they have compared all of it.
fn away<T: Deref>(make: impl Fn() -> T) -> &'static T {
    let mut made = make();
    for _ in 0..64 {
        let address = (&raw const *made).cast::<u8>().addr();
        if address % 4096 >= 2048 {
            break;
        }
        // Kept, or the next one would be at its address.
        std::mem::forget(std::mem::replace(&mut made, make()));
    }
    Box::leak(Box::new(made))
}

/// A value that lives as long as the program, in the second half of a page of its own.
#[repr(C, align(4096))]
struct Page<T> {
    before: [u64; 256],
    value: T,
}

fn placed<T>(value: T) -> &'static T {
    let page: &'static Page<T> = Box::leak(Box::new(Page {
        before: [0; 256],
        value,
    }));
    observe(&raw const page.before);
    &page.value
}

fn pair<T: Clone + Deref + 'static>(value: &'static T) -> impl Fn() + Copy + 'static {
    move || {
        let other = value.clone();
        observe(&raw const *other);
    }
}

/// Adds rows, each with its name, what it is, the row that repeats it back to back, and its operation.
macro_rules! rows {
    ($rows:ident, $around:ident: $($name:literal $($elided:ident)?, $what:literal, $loop_row:expr, $operation:expr;)*) => {{ $(
        $rows.push(Operation {
            name: $name,
            what: $what,
            loop_row: $loop_row,
            elided: rows!($($elided)?),
            loops: $around.around($operation),
        });
    )* }};
    () => { false };
    (elided) => { true };
}

/// Every operation that this machine has, in the order of the table.
pub(crate) fn all(around: &Surroundings) -> (Vec<Operation>, Vec<Skipped>) {
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    read_modify_writes(around, &mut rows);
    references(around, &mut rows);
    #[cfg(target_arch = "x86_64")]
    flags(around, &mut rows);
    times(around, &mut rows, &mut skipped);
    let per_cpu = placed(PerCpu::<u64>::new());
    rows! { rows, around:
        "percpu-add", "an addition to the current CPU's word", Some(["percpu", "rseq-add"]), move || per_cpu.add(1);
        "soft-mask", "the soft mask held and released", Some(["popf", "soft-mask"]), || drop(mask::hold());
    }
    let lock = placed(SpinLock::new(()));
    let section = move || drop(lock.lock());
    rows! { rows, around:
        "spinlock", "a free spinlock taken and given back", Some(["spinlock", "cyclewise"]), section;
        "spinlock-elided" elided, "the same with LOCK elided", Some(["spinlock", "cyclewise-elided"]), section;
    }
    (rows, skipped)
}

#[cfg(target_arch = "x86_64")]
fn read_modify_writes(around: &Surroundings, rows: &mut Vec<Operation>) {
    let word = Word::new(7);
    let atomic = placed(AtomicU64::new(0));
    let seven = placed(AtomicU64::new(7));
    rows! { rows, around:
        "plain-inc64", "INC of a word", Some(["lock-prefix", "plain-inc64"]), move || asm::inc(word);
        "inc-elided" elided, "the library's, with LOCK elided", Some(["atomics", "inc-elided"]), move || { atomic.inc(Relaxed); };
        "lock-inc64", "LOCK INC of a word", Some(["lock-prefix", "lock-inc64"]), move || asm::lock_inc(word);
        "plain-xadd", "XADD of 1", Some(["atomics", "plain-xadd"]), move || asm::xadd(word);
        "xadd-elided" elided, "the library's, with LOCK elided", Some(["atomics", "fetch-add-elided"]), move || { let _ = atomic.fetch_add(1, Relaxed); };
        "lock-xadd64", "LOCK XADD of 1", Some(["lock-prefix", "lock-xadd64"]), move || asm::lock_xadd(word);
    }
    let word = Word::new(7);
    rows! { rows, around:
        "plain-cmpxchg", "CMPXCHG that succeeds", Some(["atomics", "plain-cmpxchg"]), move || asm::cmpxchg(word);
        "cmpxchg-elided" elided, "the library's, with LOCK elided", Some(["atomics", "cmpxchg-elided"]), move || { let _ = seven.compare_exchange(7, 7, Relaxed, Relaxed); };
        "lock-cmpxchg64", "LOCK CMPXCHG that succeeds", Some(["lock-prefix", "lock-cmpxchg64"]), move || { asm::lock_cmpxchg(word); };
    }
    let word = Word::new(7);
    rows! { rows, around: "lock-inc-dec", "LOCK INC and LOCK DEC of a word", None, move || asm::lock_inc_dec(word); }
}

#[cfg(not(target_arch = "x86_64"))]
fn read_modify_writes(around: &Surroundings, rows: &mut Vec<Operation>) {
    let word = Word::new(7);
    let atomic = placed(AtomicU64::new(0));
    let seven = placed(AtomicU64::new(7));
    rows! { rows, around:
        "plain-inc64", "load, add and store of a word", None, move || asm::inc(word);
        "atomic-inc", "an atomic addition of 1", Some(["atomics", "inc-locked"]), move || { atomic.inc(Relaxed); };
        "atomic-fetch-add", "the same with its result", Some(["atomics", "fetch-add-locked"]), move || { let _ = atomic.fetch_add(1, Relaxed); };
        "atomic-cmpxchg", "a compare-and-exchange that succeeds", Some(["atomics", "cmpxchg-locked"]), move || { let _ = seven.compare_exchange(7, 7, Relaxed, Relaxed); };
    }
}

fn references(around: &Surroundings, rows: &mut Vec<Operation>) {
    let rc = pair(away(|| Rc::new(1u64)));
    let std_arc = pair(away(|| std::sync::Arc::new(1u64)));
    let arc = pair(away(|| refs::Arc::new(1u64)));
    let count = placed(Refcount::new(1));
    let counted = move || {
        count.inc();
        if count.dec_and_test() {
            free();
        }
    };
    let lockref = placed(LockRef::new(()));
    let got = move || {
        lockref.get();
        drop(lockref.put_or_lock());
    };
    rows! { rows, around:
        "rc", "clone and drop of an Rc", Some(["arc", "rc"]), rc;
        "std-arc", "clone and drop of std's Arc", Some(["arc", "std-arc"]), std_arc;
        "arc-locked", "clone and drop of the library's Arc", Some(["arc", "arc-locked"]), arc;
        "arc-elided" elided, "the same with LOCK elided", Some(["arc", "arc-elided"]), arc;
        "refcount", "inc, dec_and_test and its branch", Some(["refcount", "refcount"]), counted;
        "refcount-elided" elided, "the same with LOCK elided", Some(["refcount", "refcount-elided"]), counted;
        "lockref", "get and put", Some(["lockref", "lockref"]), got;
        "lockref-elided" elided, "the same with LOCK elided", Some(["lockref", "lockref-elided"]), got;
    }
}

#[cfg(target_arch = "x86_64")]
fn flags(around: &Surroundings, rows: &mut Vec<Operation>) {
    let saved = asm::save_flags();
    rows! { rows, around:
        "pushf-pop", "PUSHF and POP", Some(["popf", "pushf-pop"]), || { asm::save_flags(); };
        "push-popf", "PUSH and POPF", Some(["popf", "push-popf"]), move || asm::restore_flags(saved);
        "test-branch", "a test and a branch instead", Some(["popf", "test-branch"]), move || asm::test_branch(saved);
    }
}

#[cfg(target_arch = "x86_64")]
fn times(around: &Surroundings, rows: &mut Vec<Operation>, skipped: &mut Vec<Skipped>) {
    rows! { rows, around:
        "rdtsc", "RDTSC", Some(["rdtsc", "rdtsc"]), asm::rdtsc;
        "lfence-rdtsc", "LFENCE and RDTSC", Some(["rdtsc", "lfence-rdtsc"]), asm::lfence_rdtsc;
    }
    match asm::Rdtscp::find() {
        Some(rdtscp) => rows! { rows, around: "rdtscp", "RDTSCP", Some(["rdtsc", "rdtscp"]), move || rdtscp.read(); },
        None => skipped.push(Skipped {
            name: "rdtscp",
            why: "this CPU does not have it (CPUID 8000_0001h, EDX bit 27 is 0)",
        }),
    }
    now(around, rows);
}

#[cfg(not(target_arch = "x86_64"))]
fn times(around: &Surroundings, rows: &mut Vec<Operation>, _: &mut Vec<Skipped>) {
    rows! { rows, around:
        "cntvct", "MRS CNTVCT_EL0", Some(["rdtsc", "cntvct"]), asm::cntvct;
        "isb-cntvct", "ISB and MRS CNTVCT_EL0", Some(["rdtsc", "isb-cntvct"]), asm::isb_cntvct;
    }
    now(around, rows);
}

fn now(around: &Surroundings, rows: &mut Vec<Operation>) {
    rows! { rows, around: "now", "the library's ordered clock", Some(["clock", "now"]), || { black_box(Instant::now()); }; }
}

#[cfg(test)]
mod tests;
