//! The table: for each primitive the rows that are its limit, what sets it, our row, and the peers' rows.
//!
//! A limit is what no implementation on the same machine can be below while it keeps the promise: its fence, its locked
//! instructions, its stores. A row of it does this and nothing else.

/// A row of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The experiment.
    pub experiment: &'static str,
    /// The variant.
    pub variant: &'static str,
}

/// A primitive and what it is compared with.
#[derive(Debug)]
pub struct Primitive {
    /// What it is, and which operation of it.
    pub name: &'static str,
    /// What sets the limit.
    pub set_by: &'static str,
    /// The rows that are the limit: the fastest of those that a record has, of the experiment of our row if there are such.
    /// Empty where none is known.
    pub limit: &'static [Row],
    /// How many operations of such a row the limit is.
    pub times: u32,
    /// The same primitive with LOCK, if ours is without: no row without LOCK costs more.
    pub locked: Option<Row>,
    /// Our rows: the first that a record has counts.
    pub ours: &'static [Row],
    /// The peers' rows.
    pub peers: &'static [Row],
}

const fn row(experiment: &'static str, variant: &'static str) -> Row {
    Row { experiment, variant }
}

/// Every primitive that has a row.
pub static PRIMITIVES: &[Primitive] = &[
    Primitive {
        name: "Arc: clone and drop",
        set_by: "two locked instructions on one word",
        limit: &[row("refcount", "atomic64")],
        times: 1,
        locked: None,
        ours: &[row("arc", "arc-locked")],
        peers: &[row("arc", "std-arc"), row("arc", "triomphe-arc")],
    },
    Primitive {
        name: "Arc without LOCK",
        set_by: "two plain changes of one word",
        limit: &[row("arc", "rc")],
        times: 1,
        locked: Some(row("arc", "arc-locked")),
        ours: &[row("arc", "arc-elided")],
        peers: &[row("arc", "std-arc"), row("arc", "triomphe-arc")],
    },
    Primitive {
        name: "Refcount: inc, dec_and_test",
        set_by: "two locked instructions on one word",
        limit: &[row("refcount", "atomic")],
        times: 1,
        locked: None,
        ours: &[row("refcount", "refcount")],
        peers: &[row("refcount", "cas-full")],
    },
    Primitive {
        name: "Refcount without LOCK",
        set_by: "two plain changes of one word",
        limit: &[row("refcount", "plain")],
        times: 1,
        locked: Some(row("refcount", "refcount")),
        ours: &[row("refcount", "refcount-elided")],
        peers: &[row("refcount", "cas-full")],
    },
    Primitive {
        name: "rcuref: get and put",
        set_by: "two locked instructions on one word",
        limit: &[row("refcount", "atomic")],
        times: 1,
        locked: None,
        ours: &[row("refcount", "rcuref")],
        peers: &[row("refcount", "inc-not-zero")],
    },
    Primitive {
        name: "LockRef: get and put",
        set_by: "two compare-and-exchanges of one word",
        limit: &[row("lockref", "cas-pair")],
        times: 1,
        locked: None,
        ours: &[row("lockref", "lockref")],
        peers: &[row("lockref", "mutex-count")],
    },
    Primitive {
        name: "SpinLock: lock, unlock, free",
        set_by: "a locked instruction and a store",
        limit: &[
            row("width", "cmpxchg8-mov8"),
            row("width", "cmpxchg16-mov16"),
            row("width", "cmpxchg32-mov32"),
            row("width", "cmpxchg64-mov64"),
            row("width", "xchg8-mov8"),
            row("width", "xchg16-mov16"),
            row("width", "xchg32-mov32"),
            row("width", "xchg64-mov64"),
            row("width", "bts16-mov16"),
            row("width", "bts32-mov32"),
            row("width", "bts64-mov64"),
            row("width", "or8-mov8"),
            row("width", "or32-mov32"),
            row("width", "xadd8-add8-second-word"),
            row("width", "xadd16-add16-second-word"),
            row("width", "xadd32-add32-second-word"),
            row("width", "xadd64-add64-second-word"),
            row("width", "xadd64-mov64-second-word"),
            row("width", "cas8-stlr8"),
            row("width", "cas16-stlr16"),
            row("width", "cas32-stlr32"),
            row("width", "cas64-stlr64"),
            row("width", "swp8-stlr8"),
            row("width", "swp16-stlr16"),
            row("width", "swp32-stlr32"),
            row("width", "swp64-stlr64"),
            row("width", "ldset8-stlr8"),
            row("width", "ldset16-stlr16"),
            row("width", "ldset32-stlr32"),
            row("width", "ldset64-stlr64"),
            row("width", "ldadd16-stlr16-second-word"),
            row("width", "ldadd32-stlr32-second-word"),
            row("width", "ldadd64-stlr64-second-word"),
            row("width", "exclusive8-stlr8"),
            row("width", "exclusive16-stlr16"),
            row("width", "exclusive32-stlr32"),
            row("width", "exclusive64-stlr64"),
        ],
        times: 1,
        locked: None,
        ours: &[row("width", "cyclewise"), row("spinlock", "cyclewise")],
        peers: &[
            row("width", "spin"),
            row("width", "spin-ticket"),
            row("width", "parking-lot"),
            row("width", "std-mutex"),
            row("width", "mcs"),
            row("spinlock", "spin"),
            row("spinlock", "spin-ticket"),
            row("spinlock", "parking-lot"),
            row("spinlock", "std-mutex"),
            row("spinlock", "mcs"),
        ],
    },
    Primitive {
        name: "SpinLock: a thread a CPU",
        set_by: "the transfer of a cache line between CPUs, which no row measures alone",
        limit: &[],
        times: 1,
        locked: None,
        ours: &[row("spinlock", "cyclewise-cpus")],
        peers: &[
            row("spinlock", "spin-cpus"),
            row("spinlock", "spin-ticket-cpus"),
            row("spinlock", "parking-lot-cpus"),
            row("spinlock", "std-mutex-cpus"),
            row("spinlock", "mcs-cpus"),
        ],
    },
    Primitive {
        name: "PerCpu: add, 64 words",
        set_by: "a plain addition; a restartable sequence stores its descriptor too",
        limit: &[row("percpu", "plain-64")],
        times: 1,
        locked: None,
        ours: &[row("percpu", "rseq-add-64")],
        peers: &[row("percpu", "lock-inc-64"), row("percpu", "getcpu-atomic-64")],
    },
    Primitive {
        name: "PerCpu: add by GS, 64 words",
        set_by: "a plain addition through a segment",
        limit: &[row("percpu", "tls-64")],
        times: 1,
        locked: None,
        ours: &[row("percpu", "gs-add-64")],
        peers: &[row("percpu", "lock-inc-64"), row("percpu", "getcpu-atomic-64")],
    },
    Primitive {
        name: "Counter: add",
        set_by: "one addition to the CPU's word",
        limit: &[row("percpu-lists", "rseq-add")],
        times: 1,
        locked: None,
        ours: &[row("percpu-lists", "counter-add")],
        peers: &[row("percpu-lists", "lock-add")],
    },
    Primitive {
        name: "Counter: add, batch of 4096",
        set_by: "one addition to the CPU's word",
        limit: &[row("percpu-lists", "rseq-add")],
        times: 1,
        locked: None,
        ours: &[row("percpu-lists", "counter-add-4096")],
        peers: &[row("percpu-lists", "lock-add")],
    },
    Primitive {
        name: "Ref: get and put",
        set_by: "two restartable sequences",
        limit: &[row("percpu-lists", "rseq-add")],
        times: 2,
        locked: None,
        ours: &[row("percpu-lists", "ref")],
        peers: &[row("percpu-lists", "lock-pair")],
    },
    Primitive {
        name: "FreeList: pop and push",
        set_by: "two restartable sequences",
        limit: &[row("percpu-lists", "rseq-add")],
        times: 2,
        locked: None,
        ours: &[row("percpu-lists", "free-list")],
        peers: &[row("percpu-lists", "seg-queue"), row("percpu-lists", "array-queue")],
    },
    Primitive {
        name: "Stack: pop and push",
        set_by: "two restartable sequences",
        limit: &[row("percpu-lists", "rseq-add")],
        times: 2,
        locked: None,
        ours: &[row("percpu-lists", "stack")],
        peers: &[row("percpu-lists", "seg-queue"), row("percpu-lists", "array-queue")],
    },
    Primitive {
        name: "Ring: pop and push",
        set_by: "two restartable sequences",
        limit: &[row("percpu-lists", "rseq-add")],
        times: 2,
        locked: None,
        ours: &[row("percpu-lists", "ring")],
        peers: &[row("percpu-lists", "seg-queue"), row("percpu-lists", "array-queue")],
    },
    Primitive {
        name: "percpu::Arc: clone and drop",
        set_by: "two restartable sequences",
        limit: &[row("percpu-shared", "rseq-add")],
        times: 2,
        locked: None,
        ours: &[row("percpu-shared", "percpu-arc")],
        peers: &[row("percpu-shared", "std-arc")],
    },
    Primitive {
        name: "percpu::Arc: two threads on two CPUs",
        set_by: "two restartable sequences",
        limit: &[row("percpu-shared", "rseq-add")],
        times: 2,
        locked: None,
        ours: &[row("percpu-shared", "percpu-arc-two")],
        peers: &[row("percpu-shared", "std-arc-two")],
    },
    Primitive {
        name: "Histogram: record",
        set_by: "one addition to the CPU's word",
        limit: &[row("percpu-shared", "rseq-add")],
        times: 1,
        locked: None,
        ours: &[row("percpu-shared", "histogram")],
        peers: &[
            row("percpu-shared", "hdrhistogram"),
            row("percpu-shared", "hdrhistogram-shared"),
            row("percpu-shared", "metrics-util"),
        ],
    },
    Primitive {
        name: "clock: Instant::now",
        set_by: "a fence and the counter",
        limit: &[
            row("clock", "lfence-rdtsc"),
            row("clock", "rdtscp"),
            row("clock", "isb-cntvct"),
        ],
        times: 1,
        locked: None,
        ours: &[row("clock", "now")],
        peers: &[row("clock", "std-instant"), row("clock", "vdso-monotonic")],
    },
    Primitive {
        name: "clock: Instant, per task",
        set_by: "the counter, ordered with nothing",
        limit: &[row("clock", "rdtsc"), row("clock", "cntvct")],
        times: 1,
        locked: None,
        ours: &[row("clock", "task-now")],
        peers: &[row("clock", "quanta"), row("clock", "fastant")],
    },
    Primitive {
        name: "mask: hold and release",
        set_by: "two stores to one word",
        limit: &[row("popf", "two-stores")],
        times: 1,
        locked: None,
        ours: &[row("popf", "soft-mask")],
        peers: &[row("popf", "save-popf"), row("popf", "sigmask")],
    },
    Primitive {
        name: "rcu: read, load, end",
        set_by: "two plain stores to a word of the thread's",
        limit: &[row("read-sides", "two-stores")],
        times: 1,
        locked: None,
        ours: &[row("read-sides", "rcu")],
        peers: &[
            row("read-sides", "crossbeam-epoch"),
            row("read-sides", "arc-swap"),
            row("read-sides", "std-rwlock"),
        ],
    },
    Primitive {
        name: "SeqLock: read of 32 bytes",
        set_by: "four loads",
        limit: &[row("read-sides", "atomics-32")],
        times: 1,
        locked: None,
        ours: &[row("read-sides", "seqlock-32")],
        peers: &[row("read-sides", "seqlock-crate-32")],
    },
    Primitive {
        name: "rcu: synchronize, no reader",
        set_by: "one membarrier(2)",
        limit: &[row("read-sides", "membarrier")],
        times: 1,
        locked: None,
        ours: &[row("read-sides", "synchronize")],
        peers: &[],
    },
    Primitive {
        name: "static_key!: disabled",
        set_by: "no test: a NOP between other work",
        limit: &[row("static-key", "no-test")],
        times: 1,
        locked: None,
        ours: &[row("static-key", "key-disabled")],
        peers: &[row("static-key", "relaxed-bool")],
    },
    Primitive {
        name: "static_key!: flip, 100 tests",
        set_by: "the protection of each page changed twice, and two membarriers, which no row measures alone",
        limit: &[],
        times: 1,
        locked: None,
        ours: &[row("patch", "key-flip")],
        peers: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (i, p) in PRIMITIVES.iter().enumerate() {
            assert!(PRIMITIVES[..i].iter().all(|other| other.name != p.name), "{}", p.name);
            assert!(p.times > 0 && !p.set_by.is_empty(), "{}", p.name);
            assert!(!p.ours.is_empty(), "{}", p.name);
            let others = || p.limit.iter().chain(p.peers);
            assert!(others().all(|row| !p.ours.contains(row)), "{}", p.name);
        }
    }
}
