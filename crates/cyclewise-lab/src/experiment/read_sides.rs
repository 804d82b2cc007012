//! `read-sides`: what a reader pays to see a value that others replace, and what a writer pays for that.

use super::{Definition, Options, left_out};
use crate::arch::observe;
use crate::error::Result;
use crate::record::Unit;
use crate::runner::{Bench, Guards, Kinds, Sampler, Setup};
use crate::sys::membarrier;
use cyclewise::fence;
use cyclewise::rcu::{self, Domain, Rcu};
use cyclewise::seq::{SeqLatch, SeqLock};
use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

pub(super) static DEFINITION: Definition = Definition {
    name: "read-sides",
    question: "What does a reader pay with RCU or a sequence lock, compared with epochs, borrowed pointers and locks, and what does the writer pay?",
    source: "Andy Lutomirski and Ingo Molnar, \"x86-64: Optimize vread_tsc's barriers\", April 2011, whose clock is read under a sequence lock; P. McKenney et al., \"User-level implementations of read-copy update\", 2012",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &[],
    setup,
};

const COMPARE: [(&str, &str); 13] = [
    ("two-stores", "rcu"),
    ("crossbeam-epoch", "rcu"),
    ("arc-swap", "rcu"),
    ("std-rwlock", "rcu"),
    ("rcu", "rcu-domain"),
    ("atomics-32", "seqlock-32"),
    ("seqlock-crate-32", "seqlock-32"),
    ("seqlock-32", "seqlatch-32"),
    ("no-fence", "light-fence"),
    ("seqcst-fence", "light-fence"),
    ("membarrier", "heavy-fence synchronize"),
    ("heavy-fence", "heavy-batched"),
    ("heavy-batched", "synchronize"),
];

/// Each section stores to a word that the one before has stored to. The others are independent.
const KINDS: Kinds = Kinds::new(
    "rcu rcu-domain crossbeam-epoch arc-swap std-rwlock two-stores",
    "seqlock-32 seqlatch-32 seqlock-crate-32 atomics-32",
);

/// What membarrier(2) makes possible.
const WITH_MEMBARRIER: [&str; 1] = ["membarrier"];

type Value = [u64; 4];

fn setup(_: &Options) -> Result<Setup> {
    let mut bench = Bench::new();
    let mut samplers = pointers(&mut bench);
    samplers.extend(copies(&mut bench));
    samplers.extend(fences(&mut bench));
    let mut notes = vec![format!(
        "light fences are free here: {}; no other thread of the process runs, so that a barrier interrupts no CPU",
        fence::is_asymmetric()
    )];
    let mut missing = Vec::new();
    if membarrier::expedited() {
        samplers.push(bench.calls("membarrier", || {
            black_box(membarrier::expedited());
        }));
    } else {
        left_out(&mut notes, &mut missing, &WITH_MEMBARRIER, "membarrier(2) is refused");
    }
    samplers.push(bench.calls("heavy-fence", fence::heavy));
    samplers.push(bench.calls("heavy-batched", fence::heavy_batched));
    samplers.push(bench.calls("synchronize", rcu::synchronize));
    Ok(Setup {
        notes,
        missing,
        ..super::by_name(samplers, &COMPARE, "rcu", KINDS)
    })
}

/// Sections with one load of a pointer and one of what it points to.
fn pointers(bench: &mut Bench) -> Vec<Box<dyn Sampler>> {
    let shared = Rcu::new(1_u64);
    let domain: &'static Domain = Box::leak(Box::new(Domain::new()));
    let apart = Rcu::new_in(domain, 1_u64);
    let epochs = crossbeam_epoch::Atomic::new(1_u64);
    let swapped = arc_swap::ArcSwap::from_pointee(1_u64);
    let locked = std::sync::RwLock::new(1_u64);
    let word = Box::new(AtomicU64::new(0));
    vec![
        bench.calls("rcu", move || {
            let guard = rcu::read();
            observe(shared.load(&guard));
        }),
        bench.calls("rcu-domain", move || {
            let guard = domain.read();
            observe(apart.load(&guard));
        }),
        bench.calls("crossbeam-epoch", move || {
            let guard = crossbeam_epoch::pin();
            observe(epochs.load(std::sync::atomic::Ordering::Acquire, &guard).as_raw());
        }),
        bench.calls("arc-swap", move || {
            let guard = swapped.load();
            observe(&raw const **guard);
        }),
        bench.calls("std-rwlock", move || {
            let guard = locked.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            observe(&raw const *guard);
        }),
        bench.calls("two-stores", move || {
            word.store(2, Relaxed);
            observe(&raw const *word);
            word.store(1, Relaxed);
        }),
    ]
}

/// Readings of 32 bytes.
fn copies(bench: &mut Bench) -> Vec<Box<dyn Sampler>> {
    let ours = Box::new(SeqLock::<Value>::new([1; 4]));
    let latch = Box::new(SeqLatch::<Value>::new([1; 4]));
    let theirs = Box::new(seqlock::SeqLock::<Value>::new([1; 4]));
    let words = Box::new([const { AtomicU64::new(1) }; 4]);
    vec![
        bench.calls("seqlock-32", move || consume(ours.read())),
        bench.calls("seqlatch-32", move || consume(latch.read())),
        bench.calls("seqlock-crate-32", move || consume(theirs.read())),
        bench.calls("atomics-32", move || {
            // Not by `array::map`: a build may leave that a function, which costs more than the loads.
            let [a, b, c, d] = &*words;
            consume([a.load(Relaxed), b.load(Relaxed), c.load(Relaxed), d.load(Relaxed)]);
        }),
    ]
}

/// Uses all four words.
#[inline(always)]
fn consume(value: Value) {
    observe(&raw const value);
}

/// A store and a load with a fence between.
fn fences(bench: &mut Bench) -> Vec<Box<dyn Sampler>> {
    fn between(fence: impl Fn() + 'static) -> impl FnMut() + 'static {
        let words = Box::new([const { AtomicU64::new(0) }; 2]);
        move || {
            words[0].store(1, Relaxed);
            fence();
            black_box(words[1].load(Relaxed));
        }
    }
    vec![
        bench.calls("light-fence", between(fence::light)),
        bench.calls("no-fence", between(|| ())),
        bench.calls("seqcst-fence", between(|| std::sync::atomic::fence(SeqCst))),
    ]
}
