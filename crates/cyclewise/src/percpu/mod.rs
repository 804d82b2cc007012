//! Data of which each CPU has its own copy, changed by the threads on that CPU without LOCK.
//!
//! ```
//! use cyclewise::percpu::{PerCpu, Cid};
//!
//! cyclewise::percpu! {
//!     /// How often it was asked for.
//!     static HITS: u64;
//! }
//!
//! HITS.add(1);
//! assert_eq!(HITS.sum(), 1);
//!
//! // Dynamic, and by the process's own numbers for CPUs: fewer copies where it has few threads.
//! let misses = PerCpu::<u32, Cid>::new();
//! misses.add(2);
//! assert_eq!(misses.sum(), 2);
//! println!("{}", cyclewise::percpu::backend());
//! ```
//!
//! # Backends
//! - **rseq**: a restartable sequence finds the CPU's copy and changes it in one instruction; where the thread is preempted,
//!   moved or interrupted by a signal between the two, the kernel sends it back to the beginning.
//! - **gs**: a thread that is confined to one CPU ([`Pinned`]) changes that CPU's copy by single instructions.
//! - **portable**: copies that no CPU owns. A thread takes one of them for itself with one atomic exchange, and gives it
//!   back with a store. This is what runs under loom, on other systems, and in a thread that cannot register.
//!
//! glibc since 2.35 registers every thread for rseq. Older ones and musl do not, and there each thread registers at its first
//! use, with its own area; two copies of this crate then get one registration, and the second uses portable slots.
//!
//! [`backend()`] says which, and why. All three can be at work at once: copies are *slots*, the first of which are the CPUs'
//! and the last the portable backend's, and no slot is changed in two ways that do not exclude each other.
//!
//! # Invariants
//! 1. A slot of a CPU is changed by sequences and instructions that its CPU cannot interleave, or, while its guard is set
//!    and the CPU has been told, from outside ([`Slot::stop`]). A portable slot is changed under its lock.
//! 2. A slot's memory is mapped for every id that the kernel can publish, and is zero before its first use.
//! 3. Two CPUs' slots are 64 KiB apart: they share neither a cache line nor a page.
//! 4. A variable is indexed by one id only, `cpu_id` or `mm_cid`, all its life: its type says which.
//!
//! # Signals, forks, threads
//! - A handler may use the same variables as what it interrupted. The kernel aborts the interrupted sequence before the
//!   handler runs, so the handler never stands inside one; in the portable backend it finds the lock taken and uses another slot.
//!   The first use in a process asks the dynamic linker and is not for handlers: call [`backend()`] before they are installed.
//!   In an object that was loaded by dlopen(3) call it in each thread whose handlers come here: thread-local words of such
//!   an object are allocated when a thread first uses one, and that call is such a use.
//! - After `fork` the child has its own copy of every slot, and goes on. A child of `vfork` shares its parent's memory
//!   and is not registered: it must not use this module.
//! - Threads come from the C library. One by a bare clone(2) has no area where the others have, and must not use this module.
//! - At thread exit nothing has to be done. Before registration, which glibc does before a thread's first instruction of
//!   ours, and we at its first use, nothing of the thread's is in a slot.
//! - Fork handlers of others may run before ours in a child, start threads and use this module, once the parent has used it:
//!   a process's first use asks the C library for a handler, which not every C library allows in the middle of a fork.
//! - Nothing here waits for a thread by keeping the CPU from it: see `wait` for threads of real-time policies.
//! - A shared object that uses this module stays mapped after `dlclose`: the kernel may still look at its descriptors.
//!
//! # Memory ordering
//! Relaxed, except where a name says `release`. What a thread has done on one CPU it sees on the next.
//!
//! # Cost
//! An addition is 5 instructions, behind two loads and a branch that a loop predicts. No system call, whatever the
//! backend; see [`backend()`]. Memory: 64 KiB of address space per slot and a page of memory per slot and page in use. Slots
//! are as many as ids that the kernel can publish, in steps of 64, and 32 portable ones.
//! A page comes into being where it is first written, by the CPU whose slot it is, and so on that CPU's NUMA node, as the
//! kernel places memory unless told otherwise; never as part of a huge page, which would cover other CPUs' slots. Reading
//! a slot that was never written, as a sum does, takes no page of its own.
//!
//! # References
//! Linux include/linux/percpu-defs.h, kernel/rseq.c; librseq, whose sequences and names [`CurrentSlot`] has; J. Fitzhardinge,
//! "Implement per-processor data areas for i386", 2006.

mod allocator;
mod allocator_lock;
mod backend;
mod backoff;
mod counter;
mod current_slot;
#[cfg(all(
    feature = "std",
    any(
        test,
        all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(loom))
    )
))]
mod entry;
mod free_list;
mod guard;
mod index;
mod lazy;
mod pinned;
mod reference;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(loom)
))]
mod registration;
#[cfg(not(all(
    feature = "std",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(loom)
)))]
#[path = "unregistered.rs"]
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
mod variable;
mod word;
mod word_sized;

pub use crate::arch::{Cid, Cpu, Outcome};
pub use backend::{Backend, Reason, Report, backend};
pub use counter::Counter;
pub use current_slot::CurrentSlot;
pub use free_list::{Chain, FreeList, Node};
pub use guard::{Guard, NEVER};
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
