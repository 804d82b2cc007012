//! A queued spinlock for userspace: 8 bytes, waiters served in order of arrival, and waiters that sleep.
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
//! - **A waiter may not be running.** A waiter leaves the headship in its node for its successor to find, and waits for no other
//!   waiter to act. If the head fails to take a lock that is reserved for it, a newcomer may.
//! - **Strict order would be slow.** With more threads than CPUs, it costs a context switch for every hand-over. So newcomers spin for
//!   a while before they queue, and pass the head for as long as "Fairness" says.
//!
//! # Fairness
//! Waiters are served in order of arrival; only the head of the queue is passed, by threads that have just arrived. For how long:
//! - *While the head runs*: for 256 pauses, some microseconds. Then the next release reserves the lock for it.
//! - *While the head is awake and has no CPU*: for 2.1 ms from the moment it became the head, and for 256 sections more (512 where a
//!   section takes longer than half a millisecond; no bound where all take 0.53 ms, or two to four times that, to within one per cent). Then a release hands it the lock: until it has run, no thread takes the lock, `try_lock` fails, and waiters sleep.
//! - *While the head sleeps*: the section of the holder that it waits for, and those until it runs. If it has slept in vain for 2.1 ms by its
//!   next sleep, the next release hands it the lock. A release is a load and a store; a bit that is set between the two is lost, and costs one more wait.
//!
//! So a waiter with n others before it is served after n + 1 such times, the sections themselves, and the time that the scheduler takes to run a thread that
//! is awake. [`unlock_fair`](lock_api::MutexGuard::unlock_fair) hands the lock to the head at once. Not bounded: a [`Park`] without a clock
//! ([`Park::now_ns`]) has only the first and, from the second sleep on, the third; waiters of [`SpinOnly`] and of a
//! [`LockRef`](crate::refs::LockRef), whose word has no room for the time, are handed nothing while awake; a waiter for which the table has
//! no node has no place in the order.
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
//! cache line, and two system calls on each side if the waiter sleeps. A release with a queue also counts, and reads the clock at every
//! 256th. While any head sleeps, each release in the program also reads one entry of a small table.
//!
//! # What it does not do
//! - **Recursion.** A thread that locks a lock that it holds waits for ever. So does the destructor of a value under the
//!   lock, if it locks it.
//! - **Signal handlers.** A handler that locks what the interrupted thread holds or waits for waits for ever. A handler may use other
//!   locks; errno is preserved. But it must not wait for a thread that may want the lock that its own thread waits for: that lock may
//!   have been handed to its thread, which takes it only after the handler returns.
//! - **Processes and copies.** Nodes belong to one process, and to one copy of the crate. A lock in shared memory does not work.
//!   Do not share a lock with a plugin that contains its own copy of the crate: the lock stays exclusive, but a release in one copy
//!   does not wake sleepers of the other, and a lock that is handed to such a sleeper may stay handed to it for ever.
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
//! - There is no priority inheritance: threads wait for a holder of low priority, for a low-priority waiter ahead in the queue, and for
//!   one that the lock was handed to.
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
#[cfg_attr(loom, path = "raw_loom.rs")]
mod raw;
mod relax;
mod sleepers;
mod turn;

pub(crate) use fast_path::{lock, try_lock, unlock};
pub(crate) use high_half_word::HighHalfWord;
pub use park::{Never, Park, SpinOnly};
#[allow(unused_imports, unreachable_pub, reason = "the models' twin exports nothing")]
pub use raw::*;
pub use relax::{Exponential, NoRelax, Pause, Relax};

#[cfg(test)]
#[cfg_attr(loom, path = "tests/loom.rs")]
mod tests;
