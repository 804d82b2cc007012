//! Read-copy update: readers pay two stores to a line of their own, and writers wait for them before they free what they replaced.
//!
//! ```
//! use cyclewise::rcu::{self, Rcu};
//!
//! let routes = Rcu::new(vec!["a", "b"]);
//!
//! let guard = rcu::read();
//! let seen = routes.load(&guard); // Stays valid until the guard is dropped.
//! routes.replace(vec!["c"]); // The old value is dropped when no reader can have it.
//! assert_eq!((seen.len(), routes.load(&guard).len()), (2, 1));
//! drop(guard);
//! rcu::barrier(); // By now it is.
//! ```
//!
//! | | waits | runs closures |
//! |---|---|---|
//! | [`read`], [`Rcu::load`] | never | never; where 64 of them were deferred inside a section, its end |
//! | [`defer`], [`drop_later`], [`Rcu::replace`], [`Rcu::update`] | where more than 4096 closures wait: a writer that runs ahead of its readers is held up, so that memory is bounded | each 64th |
//! | [`synchronize`] | for a grace period | never |
//! | [`barrier`] | until all closures that were deferred before have run | yes |
//!
//! A *section* is the life of a [`Guard`]. A *grace period* ends when all sections that were open when it began have ended.
//!
//! # Decisions
//! - **Threads** register at their first section, and are forgotten when they end. A thread-local destructor may read and defer, in any order
//!   with ours.
//! - **Forgotten guards** keep their section open for ever, also after their thread has ended: a reference from it may be anywhere. No
//!   memory is freed any more, and a writer that reaches the limit stays there. The [stall hook](set_stall_hook) names the thread.
//! - **Signal handlers** may read, on a thread that has read before or called [`register`]. They drop each guard before they return, and do not
//!   defer, synchronize or update, nor read in a [`Domain`], which may allocate. Reading may allocate too while the thread's thread-local
//!   destructors run: a thread whose handlers read blocks their signals before it ends.
//! - **fork**: a child has one reader, the thread that forked, with its open sections. References under other threads' guards must not be used
//!   there. Closures that wait are run in both processes, but for those that another thread was about to run.
//! - **Panics** of a closure or of a value's destructor end with it, after the panic hook; the rest of its batch is run.
//! - **dlclose**: code of a deferred closure, and with it its library, stays mapped from its deferral on. Code that a value's destructor
//!   reaches through pointers of its own is the caller's: call [`barrier`] before unloading it.
//! - **Exit** does not run closures that wait. Call [`barrier`] before, if they do more than free memory.
//! - **Deadlocks**: [`synchronize`] and [`barrier`] panic inside a section. Closures run on the thread of any writer, so they take no lock
//!   that is held around [`defer`] and its like. Within a section and within a closure nothing waits.
//! - **Without membarrier(2)** sections begin with a whole fence, and all of this holds. Where a filter refuses it later, [`synchronize`] and
//!   [`barrier`] panic, and nothing is freed.
//!
//! # Memory ordering
//! [`Rcu::load`] sees what happened before the value was stored. What a section did happens before the end of each grace period that
//! waited for it.
//!
//! # Cost
//! See [`read`]. A grace period without readers is one membarrier(2), shared by writers that come at the same time
//! ([`heavy_batched`](crate::fence::heavy_batched)), and a look at each thread's line. Waiting for a reader spins, then sleeps 50 µs at a
//! time. A thread takes 128 bytes, which other threads use when it has ended; a deferred closure takes its size and 16 bytes.
//!
//! # References
//! P. McKenney et al., "User-level implementations of read-copy update", 2012; liburcu's `urcu-memb`; Linux
//! Documentation/RCU/whatisRCU.rst, include/linux/srcu.h.

#[cfg(feature = "refs")]
mod arc;
mod cell;
mod domain;
mod global;
mod guard;
mod node;
mod protocol;
mod queue;
mod record;
mod stall;
#[cfg(test)]
mod tests;

pub use self::{
    cell::{Global, Pointer, Rcu, Scope},
    domain::{Domain, DomainGuard},
    global::{barrier, defer, defer_call, drop_later, pending, register, synchronize},
    guard::{Guard, force_end, read},
    stall::{Stall, set_stall_hook},
};
