//! `LockRef`: a lock and a reference count in one word, over data that the lock protects.
//!
//! It is for objects that many threads get and put at a high rate and that one thread must be able to retire: a cache
//! entry, a connection, a glock. Get and put are one compare-and-exchange of the whole word, which fails while the lock
//! is held. So under the lock the count does not change, and the holder can decide that the object is unused and mark
//! it dead. The operations are those of Linux's lockref, by name.
//!
//! # States
//! The high half of the word is a queued spinlock, zero while it is free and nobody waits. The low half is the count:
//! −128 is dead, 0 is idle (alive, without references), 1 to `MAX` are that many references, and [`i32::MAX`] is
//! saturated. No other count is ever stored. `operation` defines what each operation makes of each.
//!
//! # Invariants
//! 1. While the lock is not free, only its holder changes the count. Everybody else exchanges a word whose high half is
//!    zero for another.
//! 2. An operation computes the new count from the count that it replaces, by an exchange or under the lock. So the bounds are
//!    exact, whatever the number of threads.
//! 3. Dead is final: no operation overwrites it. No number of stray gets revives it; in the kernel, which adds without
//!    a check, the 128th does.
//! 4. A saturated count stays until death: gets and puts do not change it, and only [`Guard::mark_dead`] ends it. So
//!    more gets than can be counted, or a detected miscount, leak the object and do not free it.
//!
//! # Misuse
//! Detected: a get that overflows; a [`get`](LockRef::get) of an idle or dead object; a put without a reference. A
//! surplus put that takes another holder's reference is detected when that holder puts.
//!
//! # Memory
//! A `LockRef` frees nothing, and its count does not free it: its operations take `&LockRef`, so it has to outlive
//! them. It is for memory that stays: a static, an arena, a table of reused entries, or memory that is reclaimed after
//! a grace period. The data is reached only under the lock, so a program that miscounts gets wrong results but no
//! undefined behaviour. That is why the operations are safe functions, like those of the refcounts; [`Ref`] puts its
//! reference when dropped.
//!
//! # Memory ordering
//! Puts and unlocks are Release; the lock, `get_not_zero` and `get_not_dead` are Acquire, and so is a `put_return` that
//! gives up the last reference. [`get`](LockRef::get) is relaxed. (The kernel's are all relaxed except the lock.) So a
//! thread that gives up the last reference, or gets one of an idle object, comes after every use under earlier
//! references.
//!
//! # Contention
//! A failed exchange is retried a bounded number of times, because unbounded ones collapse on a large machine; then the operation
//! takes the lock, which has a queue. [`Policy`] defines the bound, the wait between tries, and whether operations return to
//! exchanges: with [`Adaptive`], the default, they do; with Linux's, [`Bounded`], they do not.
//!
//! # Fork and priorities
//! The lock is that of [`lock`](crate::lock), with its slots and its sleeping. A lock that another thread held during a
//! fork stays held in the child: there `lock`, the gets and `put_or_lock` wait for ever, while `try_lock`,
//! `put_return`, `count` and `is_dead` do not wait. References of the parent's other threads stay counted. A real-time
//! waiter with a higher priority than the holder makes its tries, spins for the lock's budget, and then sleeps; there
//! is no priority inheritance. A signal handler that takes a lock that its thread holds, or waits for, waits for ever;
//! gets and `put_or_lock` take the lock under contention. A handler may use `try_lock` and `put_return`, and objects
//! that its thread does not use.
//!
//! # Cost
//! Uncontended, get and put are a load, a comparison and a CMPXCHG each. A `LockRef` is 8 bytes, the policy (8 for
//! [`Adaptive`], none for [`Bounded`]), and the data.
//!
//! # References
//! Linux `lib/lockref.c`, `include/linux/lockref.h`; commits 893a7d32e8e0 (the limit), f5fe24ef17b5 (no relaxing).

mod adaptive;
mod guard;
mod lock_ref;
mod operation;
mod policy;
mod reference;
mod update;
mod word;

#[cfg(test)]
#[cfg_attr(loom, path = "tests/loom.rs")]
mod tests;

pub use adaptive::Adaptive;
pub use guard::Guard;
pub use lock_ref::LockRef;
pub use policy::{Bounded, Policy, TRIES};
pub use reference::Ref;
