//! Linux's hot-path primitives for userspace: reference counts, locks, per-CPU data, clocks and signal masking, for authors of
//! runtimes, databases and allocators.
//!
//! ```
//! cyclewise::percpu! {
//!     /// Requests served, on every CPU.
//!     static HITS: u64;
//! }
//!
//! HITS.add(1); // No LOCK: each CPU has its own copy.
//! println!("{} hits", HITS.sum());
//! # assert_eq!(HITS.sum(), 1);
//! ```
//!
//! | primitive | what it is | reach for it where | in Linux |
//! |---|---|---|---|
//! | [`clock::Instant`] | a time stamp from the CPU's counter that follows CLOCK_MONOTONIC | `Instant::now` is in the profile, or stamps of two threads must be in order | `ktime_get` |
//! | [`percpu!`] | variables with a copy for each CPU, and counters, lists, rings and counts built on them | every thread counts in one word, or takes from one free list | `this_cpu_*` |
//! | [`percpu::Arc`] | a shared pointer whose clones and drops are counted on each CPU | all threads clone one configuration, schema or handle | `percpu_ref` |
//! | [`percpu::Histogram`] | counts of values by size, by one addition | latencies or sizes are recorded where they occur | |
//! | [`lock::SpinLock`] | a queued lock of 8 bytes whose waiters spin, then sleep | a short section is contended, or locks must be small and fair | `qspinlock` |
//! | [`refs::Refcount`] | a count that detects overflow, increments from zero and underflow | a count by hand must never free too early | `refcount_t` |
//! | [`refs::rcuref::Rcuref`] | a count taken without a loop, on objects of a [`Pool`](refs::rcuref::Pool) | many threads take references to objects that may die meanwhile | `rcuref_t` |
//! | [`refs::LockRef`] | a lock and a count in one word | a cache's entries are counted without taking their lock | `lockref` |
//! | [`mask::hold`] | defers signal handlers without a system call | a section must not be interrupted by the program's own handlers | `local_irq_save` |
//! | [`fence`](mod@fence) | a pair of fences of which one costs nothing | one side runs a million times as often as the other | `membarrier` |
//! | [`seq::SeqLock`] | a value that readers copy without storing anything | small values are read often and seldom written | `seqlock_t` |
//! | [`rcu::Rcu`] | a value that readers share for two stores, dropped when no reader has it | values of any kind are read often and replaced seldom | `rcu_read_lock` |
//! | [`static_key!`] | a flag whose test is one NOP until it is flipped | tracing or a rare option is compiled into a hot path | `static_branch` |
//! | `alternative!` (x86-64) | an instruction sequence chosen by what the CPU supports | some CPUs have a better instruction | `ALTERNATIVE` |
//! | [`refs::Arc`] | std's `Arc`, except that an overflowing count saturates and does not abort | a program that mostly has one thread pays for atomics: after [`enable_single!`] a clone costs what an `Rc`'s does until a second thread runs | |
//! | [`atomic`] | std's atomic types with LOCK prefixes that can be patched away | you count by hand in such a program | `LOCK_PREFIX` |
//!
//! # Terms
//! - A *site* is an instruction that [`patch`] can rewrite in the running program: the LOCK prefix of a read-modify-write, the
//!   test of a static key, or an alternative.
//! - A LOCK prefix is *elided* while a prefix without effect stands in its place. The instruction then costs as much as a plain
//!   one.
//! - In *[single](patch::single)* mode LOCK is elided while one thread of the process can run. It is restored before a second one runs.
//! - In *[confined](patch::confined)* mode LOCK is elided while every thread's affinity is the same one CPU.
//! - The *soft mask* ([`mask`]) is a flag of the thread: while it is set, handlers of signals are deferred and the kernel's signal
//!   mask stays as it is.
//! - A count *saturates* when it leaves its range: it stays at a fixed value and the object is leaked, never freed too early.
//! - An update is *lost* when another CPU overwrites it. Eliding LOCK outside the two modes would lose updates.
//!
//! Nothing is patched until the final program asks for it, with [`enable_single!`] for example. Where the library cannot tell
//! whether eliding is safe, LOCK stays and a [`Refusal`](error::Refusal) says why.
//!
//! # Platforms
//! Linux on x86-64 and AArch64, with glibc or musl. Sites exist on x86-64 only, and both modes need glibc, linked dynamically.
//! Elsewhere the atomics are std's, static keys are loads, and [`patch`] refuses.
//!
//! # Features
//! Each module is a feature of its name, and all of them are on by default. [`atomic`] and [`error`] are always there.
//!
//! | feature | turns on | packages |
//! |---|---|---|
//! | `std` | the modes of [`patch`]; Arcs of paths, OS strings and files; timed locks; the mock, the upkeep thread and the per-thread part of [`clock`] | – |
//! | `patch` | [`patch`] and [`static_key!`], with `std` [`enable_single!`]; `alternative!`, which x86-64 alone has, is there without, and keeps its default | `libc` |
//! | `percpu` | [`mod@percpu`], [`percpu!`] | `libc` |
//! | `percpu-arc` | [`percpu::Arc`] and [`percpu::ArcOwner`]; and `percpu` | `libc` |
//! | `percpu-gauge` | [`percpu::Gauge`]; and `percpu` | `libc` |
//! | `percpu-histogram` | [`percpu::Histogram`]; and `percpu` | `libc` |
//! | `clock` | [`clock`], and `seq`, which its timeline is | `libc` |
//! | `mask` | [`mask`], and `std` | `libc` |
//! | `lock` | [`lock`] | `libc`, `lock_api`, `scopeguard` |
//! | `fence` | [`mod@fence`] | `libc` |
//! | `rcu` | [`rcu`], and `fence`, `std` | `libc` |
//! | `seq` | [`seq`] | `libc` |
//! | `refs` | [`refs`], and `lock`, which a [`LockRef`](refs::LockRef) takes | `libc`, `lock_api`, `scopeguard` |
//! | `serde` | `Serialize` and `Deserialize` for [`atomic`]'s types and for [`Arc`](refs::Arc) and [`Weak`](refs::Weak) | `serde_core` |
//! | `archery` | [`ArcK`](refs::ArcK), with which rpds and other collections count by [`Arc`](refs::Arc); and `refs` | `libc`, `lock_api`, `scopeguard`, `archery` |
//! | `arc-swap` | [`Arc`](refs::Arc) and [`Weak`](refs::Weak) in an `ArcSwapAny`; and `refs`, `std` | `libc`, `lock_api`, `scopeguard`, `arc-swap`, `rustversion` |
//! | `stable_deref_trait` | [`Arc`](refs::Arc) for owning_ref, yoke and others; and `refs` | `libc`, `lock_api`, `scopeguard`, `stable_deref_trait` |
//! | `unsize` | that crate's coercions of [`Arc`](refs::Arc) and [`Weak`](refs::Weak); and `refs` | `libc`, `lock_api`, `scopeguard`, `unsize` |
//! | `metrics` | [`percpu::metrics`], a recorder with per-CPU counters and histograms; and `percpu-histogram`, `std` | `libc`, `metrics`, `rapidhash`, `rustversion` |
//! | `tracing` | [`clock::tracing`], time stamps of log lines; and `clock`, `std` | `libc`, `tracing-subscriber`, `tracing-core`, `cfg-if`, `lazy_static`, `once_cell`, `sharded-slab`, `thread_local` |
//!
//! The last seven are off by default, for programs that use the crate of the same name.
//!
//! For example, `cyclewise = { version = "0.1", default-features = false, features = ["clock"] }`. Packages are those of the default Linux
//! targets; with no feature there are none. Without `std` the crate is `no_std` and needs `core` and `alloc`. A program that elides needs
//! `patch` in one of its dependencies on this crate: features add up.
//!
//! # ThreadSanitizer
//! It does not see what assembly does, and reports races at each [`SpinLock`](lock::SpinLock) and [`Arc`](refs::Arc). Build with
//! `RUSTFLAGS='-Zsanitizer=thread --cfg cyclewise_tsan'`: then atomics are std's, nothing is elided, and per-CPU data is under locks, all of which it
//! sees. Static keys and alternatives are patched as ever. It reports std's own threads and locks too, unless std is built with it
//! (`-Zbuild-std`).

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code, clippy::incompatible_msrv)]
#![cfg_attr(
    any(
        cyclewise_tsan,
        not(all(
            feature = "clock",
            feature = "fence",
            feature = "lock",
            feature = "mask",
            feature = "patch",
            feature = "percpu",
            feature = "percpu-histogram",
            feature = "rcu",
            feature = "refs",
            feature = "seq"
        ))
    ),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        unused_macros,
        reason = "`arch`, `sys` and `primitive` are whole in each build; all features together use all of them"
    )
)]

#[cfg(not(target_os = "linux"))]
compile_error!("cyclewise calls the Linux kernel: build for a Linux target");

#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(target_pointer_width = "64")
))]
compile_error!(
    "cyclewise's assembly takes usize for 64 bits: x32 and ILP32 are not supported; build for the 64-bit ABI"
);

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

/// `core` for exported macros. The caller may have a crate of that name, whose macros would expand in our `unsafe` blocks.
#[doc(hidden)]
pub use core as __core;

#[doc(hidden)]
pub mod arch;
pub mod atomic;
#[cfg(feature = "clock")]
pub mod clock;
pub mod error;
#[cfg(feature = "fence")]
pub mod fence;
#[cfg(feature = "lock")]
pub mod lock;
#[cfg(all(feature = "mask", target_pointer_width = "64"))]
pub mod mask;
#[cfg(feature = "patch")]
pub mod patch;
#[cfg(feature = "percpu")]
pub mod percpu;
#[cfg_attr(loom, path = "primitive_loom.rs")]
mod primitive;
#[cfg(feature = "rcu")]
#[cfg_attr(loom, path = "rcu/loom.rs")]
pub mod rcu;
#[cfg(feature = "refs")]
pub mod refs;
#[cfg(feature = "seq")]
pub mod seq;
#[cfg(any(
    feature = "clock",
    feature = "fence",
    feature = "lock",
    feature = "mask",
    feature = "patch",
    feature = "percpu",
    feature = "seq"
))]
mod sys;

/// The README's program is compiled and run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
