//! `LockRef`: a lock and a count of references in one word, over data that the lock protects.
//!
//! It is for objects that many threads take and give back at a high rate and that somebody must be able to stop: an
//! entry of a cache, a connection, a glock. Taking and giving back is one compare-and-exchange of the whole word, which
//! fails while the lock is held; so under the lock the count stands still, and its holder can decide that the object is
//! unused and let it die, with nobody getting in between. The operations are those of Linux's lockref, by name.
//!
//! # States
//! The high half of the word is a queued spinlock, zero while it is free and nobody waits. The low half is the count:
//! −128 is dead, 0 is idle (alive, and nobody holds a reference), up to `MAX` are so many references, and
//! [`i32::MAX`] is saturated. No other count is ever stored. `word` has what each operation makes of each.
//!
//! # Invariants
//! 1. While the lock is not free, only its holder changes the count. Everybody else exchanges a word whose high half is
//!    zero for one whose high half is zero.
//! 2. An operation stores what it has computed of the count that it replaces, by an exchange or under the lock: nothing is
//!    stored first and judged after. So no interleaving makes a count wrong for a moment, and the bounds below are
//!    exact, with no number of threads in them.
//! 3. Dead is for ever: no operation stores anything over it. However many stray gets there are, none revives it; in the
//!    kernel, which adds without a look, the 128th does.
//! 4. Saturated is until death: gets and puts leave it, and only [`Guard::mark_dead`] ends it. Hence more gets than can be
//!    counted, or a miscount that was found, leak the object and do not free it.
//!
//! # What is found
//! A get that overflows; a [`get`](LockRef::get) where there is no reference, idle or dead; a put of a reference that nobody
//! holds. A put too many that takes somebody else's reference is found when that somebody puts.
//!
//! # Memory
//! A `LockRef` frees nothing and is not freed by its count: its operations take `&LockRef`, so it has to outlive them. It is for
//! memory that stays: a static, an arena, a table of entries that are used again, or whatever is reclaimed after a grace
//! period. Since the data is reached under the lock only, a program that miscounts gets wrong answers, and never undefined
//! behaviour. So the operations are safe functions, as refcounts' are; [`Ref`] wraps them for those who want the
//! reference given back by itself.
//!
//! # Memory ordering
//! Puts and unlocks are Release; the lock, `get_not_zero` and `get_not_dead` are Acquire, and so is a `put_return` that gives
//! up the last. [`get`](LockRef::get) is relaxed. (The kernel's are all relaxed but for the lock.) So whoever gives
//! up the last reference, or gets one of an idle object, comes after everything that was done with the ones before.
//!
//! # Contention
//! An exchange that fails is tried again, so many times, and then done under the lock, which has a queue: a bound, since on a
//! large machine unbounded exchanges collapse. [`Policy`] says how often, what passes the time, and whether there is a
//! way back: [`Adaptive`], the default, has one, [`Bounded`] is Linux's and has none.
//!
//! # Fork and priorities
//! The lock is that of [`lock`](crate::lock), with its slots and its sleeps. One that another thread held while the process
//! forked stays held in the child: there `lock`, the gets and `put_or_lock` wait for ever, while `try_lock`, `put_return`,
//! `count` and `is_dead` do not wait. References of threads that the child has not got stay counted. A waiter of a
//! real-time policy above the holder makes its tries, spins for the lock's budget, and then sleeps; there is no inheritance.
//! A signal handler that takes the lock which its thread holds, or waits for, waits for ever; gets and `put_or_lock` take it
//! under contention. A handler keeps to `try_lock` and `put_return`, or to objects that its thread does not use.
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
mod tests;

pub use adaptive::Adaptive;
pub use guard::Guard;
pub use lock_ref::LockRef;
pub use policy::{Bounded, Policy, TRIES};
pub use reference::Ref;
