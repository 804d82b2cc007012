//! Changing the program's own instructions while it runs: LOCK prefixes that are not there while they are not needed,
//! static keys, and alternatives.
//!
//! - [`single`] and [`confined`] take LOCK away and put it back.
//! - [`static_key!`](crate::static_key) declares a flag whose test is one NOP; changing it rewrites the tests.
//! - [`apply_alternatives`] puts in place, when the program starts, the sequences its CPU allows.
//!
//! Everything is checked before the first byte is written. What cannot be done is a
//! [`Refusal`](crate::error::Refusal), and leaves the text as it was.
//!
//! # States
//! *Locked*, as a program starts: every site has LOCK. *Elided*, while all threads are on one CPU at a time: every site
//! has a DS override instead, which does nothing. Two modes elide: [`single`], while the process has one thread, and
//! [`confined`], while all its threads are confined to one CPU.
//!
//! # Invariants
//! 1. No two threads run at once while any site is elided.
//! 2. A site is one instruction in either state, and its first byte changes in one store. So no thread is ever between
//!    prefix and operation, wherever it was preempted: what the NOP of old kernels got wrong.
//! 3. An elided read-modify-write is atomic to everything on the same CPU: other threads, signal handlers, the kernel.
//! 4. What fails, fails with LOCK in force; what cannot put LOCK back keeps the mode that needs none.
//!
//! # Other copies
//! Each link unit has its own sites and patches no others. Two versions of this crate in one link unit share a table:
//! the copy that finds a site elided by the other refuses ([`Refusal::UnexpectedByte`](crate::error::Refusal::UnexpectedByte)). In single mode only the copy
//! whose hooks the process is bound to may elide.
//!
//! # Linkers
//! Records are kept, and each is of one LOCK prefix, with rust-lld and lld, GNU ld, gold and mold; with LTO off, thin and
//! fat; with one codegen unit and many; in position-independent and fixed executables and in data objects.
//! `cargo xtask linkers` checks that by disassembly with the linkers that are there, and changes a key in each result.
//!
//! - A static program, position-independent or not, has records too, but no dynamic linker that could say whether its
//!   hooks are in force: single mode refuses ([`Refusal::Unwatched`](crate::error::Refusal::Unwatched)).
//! - On musl both modes refuse ([`Refusal::Unwatched`](crate::error::Refusal::Unwatched)); keys and alternatives work.
//! - A data object's hooks are not in force where the program has its own: its sites keep LOCK.
//! - A linker that dropped a record would leave that site with LOCK: slower, and sound. One that left a record without
//!   its code would make it point elsewhere; a byte there that is not LOCK is refused before anything is written.
//! - gold makes a fixed executable where a static position-independent one is asked for. Single mode refuses either.
//!
//! # Cost
//! A change writes each site's byte through the kernel, checks all of them before and after, and allocates only when
//! it is the first.
//!
//! # References
//! Linux arch/x86/kernel/alternative.c; M. Desnoyers, "x86: alternatives: fix LOCK_PREFIX race", 2008.

mod alternative;
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
pub mod confined;
#[cfg(not(all(feature = "std", target_os = "linux", target_env = "gnu")))]
#[path = "confined/unsupported.rs"]
pub mod confined;
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
mod edits;
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
#[doc(hidden)]
pub mod hooks;
mod key;
mod mode;
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
mod mode_lock;
mod owner_word;
pub mod single;
mod sites;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) mod text;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
#[path = "text/unsupported.rs"]
pub(crate) mod text;
mod text_lock;
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
#[doc(hidden)]
pub mod tls_hooks;

pub use alternative::apply_alternatives;
pub use key::StaticKey;
pub use mode::{Mode, State, state};
pub use single::{lock, reelide};
pub use sites::{Prefix, Site, sites};
