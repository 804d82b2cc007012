//! The table: for each primitive the rows that are its limit, what sets it, our row, and the peers' rows.
//!
//! A limit is what no implementation on the same machine can be below while it keeps the promise: its fence, its locked
//! instructions, its stores. A row of it does this and nothing else.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub experiment: &'static str,
    pub variant: &'static str,
}

#[derive(Debug)]
pub struct Primitive {
    pub name: &'static str,
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
    pub peers: &'static [Row],
}

const fn row(experiment: &'static str, variant: &'static str) -> Row {
    Row { experiment, variant }
}

/// Writes each primitive as its name, what sets the limit, and its rows by experiment; `limit * 2` is two operations of a row.
macro_rules! primitives {
    ($($name:literal, $set_by:literal:
        limit $(* $times:literal)? {$($le:literal: $($limit:literal),+);*} $(locked {$ke:literal: $locked:literal})?
        ours {$($oe:literal: $($ours:literal),+);+} peers {$($pe:literal: $($peer:literal),+);*})*) => {
        &[$(Primitive {
            name: $name,
            set_by: $set_by,
            limit: &[$($(row($le, $limit),)+)*],
            times: 1 $(* $times)?,
            locked: [$(Some(row($ke, $locked)),)? None][0],
            ours: &[$($(row($oe, $ours),)+)+],
            peers: &[$($(row($pe, $peer),)+)*],
        }),*]
    };
}

/// Every primitive that has a row.
pub static PRIMITIVES: &[Primitive] = primitives! {
    "Arc: clone and drop", "two locked instructions on one word":
        limit {"refcount": "atomic64"} ours {"arc": "arc-locked"} peers {"arc": "std-arc", "triomphe-arc"}
    "Arc without LOCK", "two plain changes of one word":
        limit {"arc": "rc"} locked {"arc": "arc-locked"} ours {"arc": "arc-elided"}
        peers {"arc": "std-arc", "triomphe-arc"}
    "Refcount: inc, dec_and_test", "two locked instructions on one word":
        limit {"refcount": "atomic"} ours {"refcount": "refcount"} peers {"refcount": "cas-full"}
    "Refcount without LOCK", "two plain changes of one word":
        limit {"refcount": "plain"} locked {"refcount": "refcount"} ours {"refcount": "refcount-elided"}
        peers {"refcount": "cas-full"}
    "rcuref: get and put", "two locked instructions on one word":
        limit {"refcount": "atomic"} ours {"refcount": "rcuref"} peers {"refcount": "inc-not-zero"}
    "LockRef: get and put", "two compare-and-exchanges of one word":
        limit {"lockref": "cas-pair"} ours {"lockref": "lockref"} peers {"lockref": "mutex-count"}
    "SpinLock: lock, unlock, free", "a locked instruction and a store":
        limit {"width": "cmpxchg8-mov8", "cmpxchg16-mov16", "cmpxchg32-mov32", "cmpxchg64-mov64", "xchg8-mov8",
            "xchg16-mov16", "xchg32-mov32", "xchg64-mov64", "bts16-mov16", "bts32-mov32", "bts64-mov64", "or8-mov8",
            "or32-mov32", "xadd8-add8-second-word", "xadd16-add16-second-word", "xadd32-add32-second-word",
            "xadd64-add64-second-word", "xadd64-mov64-second-word", "cas8-stlr8", "cas16-stlr16", "cas32-stlr32",
            "cas64-stlr64", "swp8-stlr8", "swp16-stlr16", "swp32-stlr32", "swp64-stlr64", "ldset8-stlr8",
            "ldset16-stlr16", "ldset32-stlr32", "ldset64-stlr64", "ldadd16-stlr16-second-word",
            "ldadd32-stlr32-second-word", "ldadd64-stlr64-second-word", "exclusive8-stlr8", "exclusive16-stlr16",
            "exclusive32-stlr32", "exclusive64-stlr64"}
        ours {"width": "cyclewise"; "spinlock": "cyclewise"}
        peers {"width": "spin", "spin-ticket", "parking-lot", "std-mutex", "mcs"; "spinlock": "spin", "spin-ticket",
            "parking-lot", "std-mutex", "mcs"}
    "SpinLock: a thread a CPU", "the transfer of a cache line between CPUs, which no row measures alone":
        limit {} ours {"spinlock": "cyclewise-cpus"}
        peers {"spinlock": "spin-cpus", "spin-ticket-cpus", "parking-lot-cpus", "std-mutex-cpus", "mcs-cpus"}
    "PerCpu: add, 64 words", "a plain addition; a restartable sequence stores its descriptor too":
        limit {"percpu": "plain-64"} ours {"percpu": "rseq-add-64"} peers {"percpu": "lock-inc-64", "getcpu-atomic-64"}
    "PerCpu: add by GS, 64 words", "a plain addition through a segment":
        limit {"percpu": "tls-64"} ours {"percpu": "gs-add-64"} peers {"percpu": "lock-inc-64", "getcpu-atomic-64"}
    "Counter: add", "one addition to the CPU's word":
        limit {"percpu-lists": "rseq-add"} ours {"percpu-lists": "counter-add"} peers {"percpu-lists": "lock-add"}
    "Counter: add, batch of 4096", "one addition to the CPU's word":
        limit {"percpu-lists": "rseq-add"} ours {"percpu-lists": "counter-add-4096"} peers {"percpu-lists": "lock-add"}
    "Ref: get and put", "two restartable sequences":
        limit * 2 {"percpu-lists": "rseq-add"} ours {"percpu-lists": "ref"} peers {"percpu-lists": "lock-pair"}
    "FreeList: pop and push", "two restartable sequences":
        limit * 2 {"percpu-lists": "rseq-add"} ours {"percpu-lists": "free-list"}
        peers {"percpu-lists": "seg-queue", "array-queue"}
    "Stack: pop and push", "two restartable sequences":
        limit * 2 {"percpu-lists": "rseq-add"} ours {"percpu-lists": "stack"}
        peers {"percpu-lists": "seg-queue", "array-queue"}
    "Ring: pop and push", "two restartable sequences":
        limit * 2 {"percpu-lists": "rseq-add"} ours {"percpu-lists": "ring"}
        peers {"percpu-lists": "seg-queue", "array-queue"}
    "percpu::Arc: clone and drop", "two restartable sequences":
        limit * 2 {"percpu-shared": "rseq-add"} ours {"percpu-shared": "percpu-arc"} peers {"percpu-shared": "std-arc"}
    "percpu::Arc: two threads on two CPUs", "two restartable sequences":
        limit * 2 {"percpu-shared": "rseq-add"} ours {"percpu-shared": "percpu-arc-two"}
        peers {"percpu-shared": "std-arc-two"}
    "Histogram: record", "one addition to the CPU's word":
        limit {"percpu-shared": "rseq-add"} ours {"percpu-shared": "histogram"}
        peers {"percpu-shared": "hdrhistogram", "hdrhistogram-shared", "metrics-util"}
    "clock: Instant::now", "a fence and the counter":
        limit {"clock": "lfence-rdtsc", "rdtscp", "isb-cntvct"} ours {"clock": "now"}
        peers {"clock": "std-instant", "vdso-monotonic"}
    "clock: Instant, per task", "the counter, ordered with nothing":
        limit {"clock": "rdtsc", "cntvct"} ours {"clock": "task-now"} peers {"clock": "quanta", "quanta-raw", "fastant"}
    "mask: hold and release", "two stores to one word":
        limit {"popf": "two-stores"} ours {"popf": "soft-mask"} peers {"popf": "save-popf", "sigmask"}
    "rcu: read, load, end", "two plain stores to a word of the thread's":
        limit {"read-sides": "two-stores"} ours {"read-sides": "rcu"}
        peers {"read-sides": "crossbeam-epoch", "arc-swap", "std-rwlock"}
    "SeqLock: read of 32 bytes", "four loads":
        limit {"read-sides": "atomics-32"} ours {"read-sides": "seqlock-32"} peers {"read-sides": "seqlock-crate-32"}
    "rcu: synchronize, no reader", "one membarrier(2)":
        limit {"read-sides": "membarrier"} ours {"read-sides": "synchronize"} peers {}
    "static_key!: disabled", "no test: a NOP between other work":
        limit {"static-key": "no-test"} ours {"static-key": "key-disabled"} peers {"static-key": "relaxed-bool"}
    "static_key!: flip, 100 tests",
    "the protection of each page changed twice, and two membarriers, which no row measures alone":
        limit {} ours {"patch": "key-flip"} peers {}
};

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
