//! Data of which each CPU has its own copy, changed by the threads on that CPU without LOCK.
//!
//! ```
//! use cyclewise::percpu::{PerCpu, Cid};
//!
//! cyclewise::percpu! {
//!     /// How many requests were served.
//!     static HITS: u64;
//! }
//!
//! HITS.add(1);
//! assert_eq!(HITS.sum(), 1);
//!
//! // Dynamic, and indexed by `mm_cid`: a process with few threads uses few copies.
//! let misses = PerCpu::<u32, Cid>::new();
//! misses.add(2);
//! assert_eq!(misses.sum(), 2);
//! println!("{}", cyclewise::percpu::backend());
//! ```
//!
//! # Backends
//! A variable has a copy in each *slot*. Each CPU has a slot, and the portable backend has 32 more.
//! - **rseq**: a restartable sequence finds the CPU's slot and changes it in one instruction. If the thread is preempted,
//!   migrated or interrupted by a signal before that instruction, the kernel restarts the sequence.
//! - **gs**: a thread that is confined to one CPU ([`Pinned`]) changes that CPU's slot by single instructions.
//! - **portable**: a thread locks one of the portable slots with one atomic exchange, and unlocks it with a store. It is used
//!   on other systems and in threads that cannot register.
//!
//! glibc since 2.35 registers every thread for rseq. With older versions and musl each thread registers its own area at its first
//! use. If a process then contains two copies of this crate, the first one registers and the second uses portable slots.
//!
//! [`backend()`] reports the calling thread's backend and the reason. Threads with different backends share variables, because no
//! slot is changed in two ways that do not exclude each other.
//!
//! # Invariants
//! 1. A CPU's slot is changed by sequences and instructions that its CPU cannot interleave, or, while its guard is set
//!    and the CPU's sequences were restarted, by another thread ([`Slot::stop`]). A portable slot is changed under its lock.
//! 2. A slot's memory is mapped for every id that the kernel can publish, and is zero before its first use.
//! 3. Two CPUs' slots are 64 KiB apart: they share neither a cache line nor a page.
//! 4. A variable is indexed by one id for all its life, `cpu_id` or `mm_cid`. Its type says which.
//!
//! # Signals, forks, threads
//! - A signal handler may use the variables of the code that it interrupted. The kernel restarts the interrupted sequence, so the
//!   handler never runs inside one; with the portable backend it finds the slot locked and uses another.
//!   A process's first use calls the dynamic linker, which a handler must not: call [`backend()`] before handlers are installed.
//!   In an object that was loaded by dlopen(3), call it in each thread whose handlers use this module: the C library allocates the
//!   object's thread-local words at a thread's first use.
//! - An allocator may use variables, whose memory is not from the heap, from its first call on, also in an object that is
//!   preloaded. While a thread is inside that first use its allocations use portable slots.
//! - The child of a `fork` has its own copy of every slot, and may go on. A child of `vfork` shares its parent's memory
//!   and is not registered: it must not use this module.
//! - Threads must be created by the C library. A thread of a bare clone(2) has no area where others have one.
//! - Atfork handlers of other libraries may run before ours in a child, start threads, and use this module if the parent has used it.
//!   The first use registers an atfork handler, which not every C library allows during a fork.
//! - Nothing has to be done at thread exit. `backoff` says how threads of real-time policies wait.
//! - A tool that moves code after it was linked, and not the sequences' descriptors (llvm-bolt 16 for one), would leave
//!   sequences that nothing restarts. The first use compares them, and then portable slots are used; [`backend()`] says so. Descriptors
//!   are in section `__rseq_cs`, which newer versions of BOLT respect. Text of a Rust dylib's users, and text that is copied while the
//!   program runs, are not compared.
//! - A shared object that uses this module stays mapped after `dlclose`, because the kernel may still read its descriptors.
//!
//! # Memory ordering
//! Relaxed, except where a name contains `release`. A thread that is migrated sees its own changes.
//!
//! # Cost
//! An addition is 5 instructions after two loads and a predictable branch; several in a row cost as many times as much. No backend
//! makes system calls after a thread's first use. Memory: each slot takes 64 KiB of address space. There is a slot for each id that the
//! kernel can publish, in steps of 64, and 32 portable ones. A page is allocated when its slot's CPU first writes it, so by default on
//! that CPU's NUMA node, and never as part of a huge page, which would cover other CPUs' slots. Reading a slot that was never written,
//! as a sum does, allocates nothing.
//!
//! **Locked memory.** After mlockall(2) with MCL_FUTURE the kernel locks and allocates a mapping whole. The first variable maps 64 KiB
//! for each slot and 64 KiB more: 6.1 MiB with 64 ids, for one word. All variables share that until 64 KiB a slot are used up. With a
//! limit on locked memory (RLIMIT_MEMLOCK) mmap fails with EAGAIN: make the variables before mlockall, or raise the limit. MCL_ONFAULT allocates
//! pages when they are used, and counts all of them too.
//!
//! # References
//! Linux include/linux/percpu-defs.h, kernel/rseq.c; librseq, whose sequences and names [`CurrentSlot`] has; J. Fitzhardinge,
//! "Implement per-processor data areas for i386", 2006.

mod allocator;
mod allocator_lock;
#[cfg(feature = "percpu-arc")]
mod arc;
mod backend;
mod backoff;
mod counter;
mod current_slot;
mod free_list;
#[cfg(feature = "percpu-gauge")]
mod gauge;
mod guard;
#[cfg(feature = "percpu-histogram")]
pub mod histogram;
mod index;
mod lazy;
#[cfg(feature = "metrics")]
pub mod metrics;
mod pinned;
mod portable;
mod reference;
#[cfg_attr(
    any(
        cyclewise_tsan,
        not(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64")))
    ),
    path = "unregistered.rs"
)]
mod registration;
mod remote;
mod ring;
mod slot_locks;
mod slots;
mod stack;
mod statics;
#[cfg(all(test, feature = "std", not(loom)))]
mod tests;
pub mod this_cpu;
mod thread;
mod variable;
mod word;
mod word_sized;

pub use crate::arch::{Cid, Cpu, Outcome};
#[cfg(feature = "percpu-arc")]
pub use arc::{Arc, ArcOwner};
pub use backend::{Backend, Reason, Report};
pub use counter::Counter;
pub use current_slot::CurrentSlot;
pub use free_list::{Chain, FreeList, Node};
#[cfg(feature = "percpu-gauge")]
pub use gauge::Gauge;
pub use guard::{Guard, NEVER};
#[cfg(feature = "percpu-histogram")]
pub use histogram::Histogram;
pub use index::Index;
pub use pinned::Pinned;
pub use reference::Ref;
pub use remote::Stopped;
pub use ring::Ring;
pub use slots::Slot;
pub use stack::Stack;
pub use statics::StaticPerCpu;
pub use variable::PerCpu;
pub use word::{Integer, Word, Zeroed};
pub use word_sized::WordSized;

/// The calling thread's backend, and the reason. Both stay the same for the thread's whole life.
///
/// The call also allocates the thread's words where the C library allocates them at their first use (in an object loaded by
/// dlopen(3)), so that no signal handler has to.
///
/// Cost: a few loads where the C library has registered the thread. A process's first call chooses the backend; where this crate
/// registers threads, a thread's first call does that.
pub fn backend() -> Report {
    registration::report()
}
