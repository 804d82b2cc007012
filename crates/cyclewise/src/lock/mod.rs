//! A queued spinlock for userspace: 4 bytes, first come first served among those who wait, and waiters that sleep.
//!
//! [`SpinLock`] holds a value, [`RawSpinLock`] is the lock alone, for what is generic over `lock_api`. How a waiter sleeps is
//! a [`Park`], what it does between two looks a [`Relax`]; [`SpinLockWith`] is a `SpinLock` with others than the default.
//!
//! # How it works
//! Uncontended it is one `lock cmpxchg` to lock and one plain store to unlock. A waiter claims a slot in a static
//! table, puts the slot's number into the word's tail, and waits for the one before it to make it the *head* of the queue.
//! Only the head looks at the lock. Three things differ from the kernel's lock, because here a thread may be preempted at
//! any place:
//!
//! - **The holder does not run.** The head spins for some tens of microseconds and then sleeps; a release wakes it.
//! - **A waiter does not run.** Nobody waits for a waiter to do anything: the headship is left where the next one
//!   finds it, and until the head insists, the lock goes to whoever runs. A lock that is kept for a head that does not take it
//!   goes to the next one who comes.
//! - **The queue itself would be slow.** With more threads than CPUs, an order kept to the letter is a context switch for
//!   every hand-over. So newcomers try for a little while before they queue, and the head lets them pass for about as long as
//!   it would spin anyway, and then insists. The order among those who queue holds, and a thread that runs keeps running.
//!
//! # Memory ordering
//! | access | order | pairs with |
//! |---|---|---|
//! | take the lock | Acquire | the Release of giving it up |
//! | give it up | Release | the Acquire of taking it |
//! | put oneself last (tail) | AcqRel | itself, and the Release that ends a queue |
//! | link oneself to the one before; pass the headship on | AcqRel | each other |
//! | be made the head (a slot's state) | AcqRel | the waiter's Acquire |
//! | give up at a deadline | AcqRel | being made the head |
//! | free a slot, claim it | Release, Acquire | each other |
//! | say that the head sleeps, then look at the lock | heavy barrier between | the next |
//! | give the lock up, then look for sleepers | light barrier between | the one before |
//!
//! # Cost
//! `lock` is one read-modify-write, `unlock` a load, a store, a load, and two branches that are not taken. A wait costs a slot's
//! cache line, and two system calls on each side if it comes to sleeping. While any head sleeps, each release in the
//! program also looks at one entry of a small table.
//!
//! # What it does not do
//! - **Recursion.** A thread that holds a lock and takes it again waits for ever; so does the drop of a value under the
//!   lock that takes it.
//! - **Signal handlers.** A handler that takes a lock which the thread it interrupted holds, or waits for, waits for ever. A
//!   handler may use other locks, also while its thread waits in a queue; errno stays as it was.
//! - **Processes and copies.** Slots are this process's, and of this copy of the crate. A lock in shared memory is not one;
//!   nor is one that a program hands to a plugin which contains the crate itself: it stays exclusive, but a release of the
//!   one does not wake who sleeps in the other.
//! - **Poisoning.** A panic that drops a guard unlocks. One in a [`Park`] or a [`Relax`] leaves the operation, and the queue
//!   goes on without its thread.
//! - 4096 threads that wait at once find no slots any more, sooner if hashes collide. Those without look now and then
//!   and have no place in the order.
//!
//! # Fork
//! - A lock that another thread held while the process forked stays held in the child: `lock` waits for ever there,
//!   `try_lock` and the timed locks say no. Nobody but the program can know what the holder left half done. Who does may
//!   give it up by `lock_api`'s `force_unlock`, or take the lock before every fork.
//! - A lock that the forking thread holds works in the child: waiters that the child has not got are passed over, also
//!   where the child has its parent's number in another namespace. They leave their slots claimed: a process that forks among
//!   so many waiters, and its child again, has fewer each time.
//! - A child of vfork shares its parent's memory and its locks.
//!
//! # Priorities
//! - There is no inheritance: a holder of low priority is waited for, and so is a waiter of low priority in front.
//! - A waiter of a real-time policy (`SCHED_FIFO`, `SCHED_RR`) above a holder on the same CPU keeps the holder off it while it
//!   spins. It does so for its budget of pauses, less than 1500 and some tens of microseconds on most CPUs, then sleeps
//!   and is woken by the release. Where membarrier(2) is refused it spins that long between naps of [`NAP_NS`]; where the
//!   kernel has no futex(2), and with [`SpinOnly`], it spins until the holder has got another CPU.
//!
//! # Without `std`
//! Everything is there but the timed locks, whose deadlines are std's. On Linux waiters sleep without `std` too.
//!
//! # Elision
//! The read-modify-writes are this crate's: in single and confined mode they have no LOCK prefix. On one CPU spinning is in
//! vain; waiters do it for their budget of microseconds and then sleep.

#![cfg_attr(loom, allow(dead_code, reason = "the models use what they are about"))]

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
#[cfg(all(target_os = "linux", not(loom)))]
pub use park::{Futex, Moment, NAP_NS};
pub use park::{Never, Park, SpinOnly};
#[cfg(not(loom))]
pub use raw::{DefaultPark, DefaultRelax, RawSpinLock, SpinLock, SpinLockGuard, SpinLockGuardWith, SpinLockWith};
pub use relax::{Exponential, NoRelax, Pause, Relax};

#[cfg(test)]
mod tests;
