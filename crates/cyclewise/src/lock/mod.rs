//! A queued spinlock for userspace: 4 bytes, waiters served in order of arrival, and waiters that sleep.
//!
//! [`SpinLock`] holds a value; [`RawSpinLock`] is the lock alone, for code that is generic over `lock_api`. A [`Park`] defines how waiters
//! sleep, a [`Relax`] what they do between two loads of the lock; [`SpinLockWith`] is a `SpinLock` with others than the default.
//!
//! # How it works
//! Without contention, locking is one `lock cmpxchg` and unlocking one plain store. A waiter claims a node in a static
//! table, puts the node's number into the word's tail, and waits for its predecessor to make it the *head* of the queue.
//! Only the head watches the lock. Three things differ from the kernel's lock, because here a thread may be preempted
//! anywhere:
//!
//! - **The holder may not be running.** The head spins for some tens of microseconds and then sleeps; a release wakes it.
//! - **A waiter may not be running.** Nobody waits for another waiter to act: a waiter leaves the headship in its node for
//!   its successor to find. Until the head sets the pending bit, any thread may take the lock. If the head fails to take a lock that is
//!   reserved for it, a newcomer may.
//! - **Strict order would be slow.** With more threads than CPUs, it costs a context switch for
//!   every hand-over. So newcomers spin for a while before they queue, and the head lets them pass for about as long as
//!   it would spin anyway before it sets the pending bit. Queued waiters keep their order, and a running thread keeps running.
//!
//! # Memory ordering
//! | access | order | pairs with |
//! |---|---|---|
//! | take the lock | Acquire | the Release of its release |
//! | release the lock | Release | the Acquire of taking it |
//! | become the tail | AcqRel | itself, and the Release that ends a queue |
//! | link to the predecessor; pass the headship on | AcqRel | each other |
//! | make a waiter the head (its node's state) | AcqRel | the waiter's Acquire |
//! | give up at a deadline | AcqRel | being made the head |
//! | free a node, claim it | Release, Acquire | each other |
//! | record that the head sleeps, then load the lock | heavy barrier between | the next |
//! | release the lock, then look for sleepers | light barrier between | the one before |
//!
//! # Cost
//! `lock` is one read-modify-write; `unlock` is a load, a store, a load, and two branches that are not taken. A wait costs a node's
//! cache line, and two system calls on each side if the waiter sleeps. While any head sleeps, each release in the
//! program also reads one entry of a small table.
//!
//! # What it does not do
//! - **Recursion.** A thread that locks a lock that it holds waits for ever. So does the destructor of a value under the
//!   lock, if it locks it.
//! - **Signal handlers.** A handler that locks what the interrupted thread holds or waits for waits for ever. A
//!   handler may use other locks, even while its thread waits in a queue; errno is preserved.
//! - **Processes and copies.** Nodes belong to one process, and to one copy of the crate. A lock in shared memory does not work.
//!   A lock that a program shares with a plugin that contains its own copy of the crate stays exclusive, but a release in
//!   one does not wake sleepers of the other.
//! - **Poisoning.** A panic that drops a guard unlocks. A panic in a [`Park`] or a [`Relax`] leaves the operation, and the queue
//!   continues without its thread.
//! - The table has 4096 nodes, and hash collisions can exhaust a search sooner. A waiter without a node polls the lock
//!   and has no place in the order.
//!
//! # Fork
//! - A lock that another thread held at the fork stays held in the child: `lock` waits for ever there,
//!   `try_lock` and the timed locks return false. Only the program can know what the holder left unfinished. It may
//!   release the lock by `lock_api`'s `force_unlock`, or take the lock before every fork.
//! - A lock that the forking thread holds works in the child: waiters that the child does not have are skipped, even
//!   where the child has its parent's pid in another namespace. Their nodes stay claimed, so a process that forks among
//!   many waiters, and whose child forks again, has fewer each time.
//! - A child of vfork shares its parent's memory and its locks.
//!
//! # Priorities
//! - There is no priority inheritance: threads wait for a holder of low priority, and for a low-priority waiter ahead in the queue.
//! - A waiter of a real-time policy (`SCHED_FIFO`, `SCHED_RR`) with a higher priority than a holder on the same CPU keeps the holder off that CPU while it
//!   spins: for fewer than 1500 pauses, some tens of microseconds on most CPUs. Then it sleeps
//!   until the release wakes it. Where membarrier(2) is refused it spins that long between naps of [`NAP_NS`]; where the
//!   kernel has no futex(2), and with [`SpinOnly`], it spins until the holder runs on another CPU.
//!
//! # Without `std`
//! Everything but the timed locks, whose deadlines are std's. On Linux waiters sleep without `std` too.
//!
//! # Elision
//! The read-modify-writes are this crate's: in single and confined mode they have no LOCK prefix. On one CPU spinning is
//! useless; waiters still spin before they sleep.

#![cfg_attr(loom, allow(dead_code, reason = "the models use a part"))]

mod fast_path;
mod high_half_word;
mod lock_word;
mod nodes;
mod park;
mod queue;
#[cfg(not(loom))]
mod raw;
mod relax;
mod sleepers;

pub(crate) use fast_path::{lock, try_lock, unlock};
pub(crate) use high_half_word::HighHalfWord;
#[cfg(not(loom))]
pub use park::{Futex, Moment, NAP_NS};
pub use park::{Never, Park, SpinOnly};
#[cfg(not(loom))]
pub use raw::{DefaultPark, DefaultRelax, RawSpinLock, SpinLock, SpinLockGuard, SpinLockGuardWith, SpinLockWith};
pub use relax::{Exponential, NoRelax, Pause, Relax};

#[cfg(test)]
#[cfg_attr(loom, path = "tests/loom.rs")]
mod tests;
