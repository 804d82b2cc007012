//! `percpu-lists`: structures built on per-CPU words, compared with what programs use instead.
//!
//! A pair pops an object and pushes it back, on a structure with 64 objects for each thread. Plain rows run on the
//! lab's thread alone; in the `-cpus` rows a thread on each CPU uses one shared structure, and the figure is the time
//! of a pair on each thread.

mod structures;

use super::{Definition, Options};
use crate::arch::observe;
use crate::error::{Error, Result};
use crate::record::Unit;
use crate::runner::crowd::Crowd;
use crate::runner::{Bench, Guards, Kinds, Sample, Sampler, Setup};
use crossbeam_queue::{ArrayQueue, SegQueue};
use cyclewise::percpu::{Counter, FreeList, PerCpu, Ref, Ring, Slot, Stack, backend};
use std::marker::PhantomData;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::time::Duration;
use structures::{Free, Rings, Stacks, Structure};

pub(super) static DEFINITION: Definition = Definition {
    name: "percpu-lists",
    question: "What do a per-CPU counter and a per-CPU free list cost, alone and with a thread on each CPU, compared with a shared atomic and shared queues?",
    source: "Jeremy Fitzhardinge, \"Implement per-processor data areas for i386\", August 2006, and later uses of such areas in the kernel",
    unit: Unit::TicksPerOp,
    guards: Guards::WholeMachine,
    published: &[],
    setup,
};

const COMPARE: [(&str, &str); 10] = [
    ("rseq-add", "counter-add counter-add-4096"),
    ("lock-add", "counter-add"),
    ("lock-pair", "ref"),
    ("seg-queue", "free-list stack ring"),
    ("array-queue", "free-list stack ring"),
    ("seg-queue-cpus", "free-list-cpus stack-cpus ring-cpus"),
    ("array-queue-cpus", "free-list-cpus stack-cpus ring-cpus"),
    ("ring", "ring-batch"),
    ("free-list", "free-list-batch"),
    ("stack", "stack-batch"),
];

/// The counter's batch, as in the kernel on a machine of up to 16 CPUs. Also the words or nodes that a `-batch` row
/// moves.
const BATCH: u64 = 32;
/// A batch with which a locked instruction for each is no part of the figure.
const LARGE_BATCH: u64 = 4096;

/// Every addition changes one word, every pair of a get and a put likewise.
const KINDS: Kinds = Kinds::new("rseq-add counter-add counter-add-4096 lock-add ref lock-pair", "");

fn setup(options: &Options) -> Result<Setup> {
    let cpus = options.cpus()?;
    let mut bench = Bench::new();
    let word = PerCpu::<u64>::new();
    let [counter, large] = [BATCH, LARGE_BATCH].map(|batch| Box::new(Counter::with_batch(0, batch)));
    let [shared, count] = [(); 2].map(|()| Box::new(AtomicU64::new(0)));
    let users = Box::new(Ref::new(|| ()));
    fn pair<S: Structure>() -> impl FnMut() + 'static {
        let structure = Box::new(S::new(1));
        move || structure.pair()
    }
    let crowd = Crowd {
        cpus: cpus.clone(),
        threads: cpus.len(),
        pinned: true,
        span: Duration::ZERO,
    };
    let samplers = vec![
        bench.calls("rseq-add", move || word.add(1)),
        bench.calls("counter-add", move || counter.add(1)),
        bench.calls("counter-add-4096", move || large.add(1)),
        bench.calls("lock-add", move || {
            shared.fetch_add(1, Relaxed);
        }),
        bench.calls("ref", move || {
            if users.try_get_live() {
                users.put();
            }
        }),
        // The orders of a reference count: nothing is freed here.
        bench.calls("lock-pair", move || {
            count.fetch_add(1, Relaxed);
            count.fetch_sub(1, Release);
        }),
        bench.calls("free-list", pair::<Free>()),
        bench.calls("stack", pair::<Stacks>()),
        bench.calls("ring", pair::<Rings>()),
        bench.calls_of("ring-batch", BATCH as u32, batches()),
        bench.calls_of("free-list-batch", BATCH as u32, chains()),
        bench.calls_of("stack-batch", BATCH as u32, stacks()),
        bench.calls("seg-queue", pair::<SegQueue<u64>>()),
        bench.calls("array-queue", pair::<ArrayQueue<u64>>()),
        StructureRow::<Free>::sampler("free-list-cpus", &crowd),
        StructureRow::<Stacks>::sampler("stack-cpus", &crowd),
        StructureRow::<Rings>::sampler("ring-cpus", &crowd),
        StructureRow::<SegQueue<u64>>::sampler("seg-queue-cpus", &crowd),
        StructureRow::<ArrayQueue<u64>>::sampler("array-queue-cpus", &crowd),
    ];
    let notes = vec![
        format!("backend: {}", backend()),
        format!(
            "the counter's batch is {BATCH}, or in its other variant {LARGE_BATCH}; ref is a get and a put; a pair is a pop and a push; -cpus: {} threads, each on its own CPU, share one structure",
            cpus.len()
        ),
        memory(),
    ];
    Ok(Setup {
        notes,
        ..super::by_name(samplers, &COMPARE, "seg-queue", KINDS)
    })
}

/// Pairs of one thread in a sample: some milliseconds, so that the start is negligible.
const PAIRS: u32 = 100_000;

/// A structure that a thread on each CPU uses.
struct StructureRow<S> {
    name: &'static str,
    crowd: Crowd,
    structure: PhantomData<fn() -> S>,
}

impl<S: Structure> StructureRow<S> {
    fn sampler(name: &'static str, crowd: &Crowd) -> Box<dyn Sampler> {
        Box::new(Self {
            name,
            crowd: crowd.clone(),
            structure: PhantomData,
        })
    }
}

impl<S: Structure> Sampler for StructureRow<S> {
    fn name(&self) -> &str {
        self.name
    }

    /// Ticks of a pair, averaged over the threads.
    fn sample(&mut self) -> Result<Sample> {
        let structure = S::new(self.crowd.threads);
        let name: &str = self.name;
        let run = self.crowd.run(name, |_, _| (0..PAIRS).for_each(|_| structure.pair()))?;
        let expected = structure.expected();
        let found = structure.count();
        if expected.is_some() && expected != found {
            return Err(Error::check(format!(
                "{name}: {expected:?} objects were pushed and {found:?} are left; some were lost or duplicated"
            )));
        }
        let pairs = self.crowd.threads as f64 * f64::from(PAIRS);
        Ok(Sample::new(run.own_ticks().sum::<u64>() as f64 / pairs))
    }
}

/// Memory of the structures, beyond their objects.
fn memory() -> String {
    let slots = Slot::all().count();
    let sizes = [
        ("counter", 16),
        ("free list", 16),
        ("stack of 128", 8 * 130),
        ("ring of 128", 8 * 131),
    ];
    let sizes: Vec<_> = sizes
        .iter()
        .map(|(name, bytes)| format!("{name} {bytes} B, {} KiB in all", bytes * slots / 1024))
        .collect();
    format!(
        "memory of a structure in each of {slots} slots, allocated in 4 KiB pages on first use, which structures share: {}",
        sizes.join("; ")
    )
}

/// Words of a ring popped and pushed in one operation.
fn batches() -> impl FnMut() + 'static {
    let ring = Box::new(Ring::<u64, { 2 * BATCH as usize }>::new());
    let mut words = [1; BATCH as usize];
    ring.push_many(&words);
    move || {
        if ring.pop_many(&mut words) < words.len() {
            // Moved to a CPU that has too few.
            words.fill(1);
        }
        observe(words.as_ptr());
        ring.push_many(&words);
    }
}

/// Words of a stack popped and pushed in one operation.
fn stacks() -> impl FnMut() + 'static {
    let stack = Box::new(Stack::<u64, { 2 * BATCH as usize }>::new());
    let mut words = vec![1; BATCH as usize];
    stack.push_many(&mut words);
    move || {
        if stack.pop_many(&mut words, BATCH as usize) < BATCH as usize {
            // Moved to a CPU that has too few.
            words.resize(BATCH as usize, 1);
        }
        observe(words.as_ptr());
        stack.push_many(&mut words);
        // Moved to a CPU with too many.
        words.clear();
    }
}

/// Nodes popped and pushed in one operation. A push walks to the last node.
fn chains() -> impl FnMut() + 'static {
    let list: &'static FreeList<u64> = Box::leak(Box::new(FreeList::new()));
    let fill = || {
        let nodes: Vec<_> = (0..BATCH).map(|n| list.grow(n)).collect();
        drop(nodes);
    };
    fill();
    move || {
        let chain = list.pop_all();
        if chain.is_empty() {
            // Moved to a CPU without nodes.
            fill();
        }
        chain.push();
    }
}
