//! Rewriting the program's own instructions while it runs: LOCK prefixes, static keys and alternatives.
//!
//! - [`single`] and [`confined`] elide LOCK prefixes and restore them.
//! - [`static_key!`](crate::static_key) declares a flag whose test is one NOP. Flipping it rewrites every test.
//! - [`apply_alternatives`] selects, at program start, the instruction sequences that the CPU supports.
//!
//! Everything is checked before the first byte is written. An operation that cannot be done returns a
//! [`Refusal`](crate::error::Refusal) and leaves the text unchanged.
//!
//! # States
//! *Locked*, at program start: every site has its LOCK prefix. *Elided*: every site has a DS override instead, which
//! has no effect. Two modes elide: [`single`], while one thread of the process can run, and [`confined`], while all its
//! threads are confined to one CPU.
//!
//! # Invariants
//! 1. No two threads run at the same time while any site is elided.
//! 2. A site is one instruction in both states, and one store changes its first byte. So a preempted thread never
//!    stands between prefix and operation, unlike with the NOP of old kernels.
//! 3. An elided read-modify-write is atomic with respect to everything on the same CPU: other threads, signal handlers,
//!    the kernel.
//! 4. After a failure LOCK is in force. Where LOCK cannot be restored, the mode that does not need it stays in force.
//!
//! # Other link units
//! Each link unit (executable or shared object) has its own tables of sites. In single and confined mode the copy of this crate whose
//! hooks the process is bound to is the *coordinator*: it elides and restores the sites of all units together. A unit that is loaded
//! later joins at once where its constructor finds the coordinator, else at the next elision; LOCK is right until then. A unit that is
//! closed gets LOCK back in its destructor and is forgotten. A copy in another unit has no mode of its own: its
//! [`enable_single!`](crate::enable_single), [`reelide`], [`lock()`] and [`state()`] ask the coordinator.
//!
//! These units keep LOCK, and the others do not wait for them: those of a namespace of dlmopen(3), which the dynamic linker does not show;
//! those with a descriptor of another version, or one that does not describe the unit's own text; the 257th and later ones; those
//! without this module, as it defines the descriptor. Without a coordinator no unit is elided.
//!
//! [`sites()`], static keys and alternatives are the caller's unit's.
//!
//! Two versions of this crate in one link unit share a table: a copy that finds a site elided by the other refuses
//! ([`Refusal::UnexpectedByte`](crate::error::Refusal::UnexpectedByte)).
//!
//! # Linkers
//! rust-lld and lld, GNU ld, gold and mold keep every record, and each record points at one LOCK prefix: with LTO off,
//! thin and fat, with one codegen unit and many, in position-independent and fixed executables and in shared objects.
//! `cargo xtask linkers` checks this by disassembly with the installed linkers, and flips a key in each result.
//!
//! - In a static program, position-independent or not, no dynamic linker can tell whether the hooks are in force:
//!   single mode refuses ([`Refusal::Unwatched`](crate::error::Refusal::Unwatched)).
//! - On musl both modes refuse ([`Refusal::Unwatched`](crate::error::Refusal::Unwatched)). Keys and alternatives work.
//! - A shared object's hooks are not in force where the program has its own: the program's copy patches its sites.
//! - llvm-bolt moves functions and does not know of records: keys, alternatives and modes of a link unit that it has changed are refused
//!   ([`Refusal::MovedText`](crate::error::Refusal::MovedText)). Code of the unit runs as before, with LOCK. Propeller links again, and is
//!   no such tool.
//! - If a linker drops a record, that site keeps LOCK, which is slower and sound. If it keeps a record and drops the
//!   code, the record points elsewhere: a byte there that is not LOCK is refused before anything is written.
//! - gold makes a fixed executable where a static position-independent one is requested. Single mode refuses either.
//!
//! # Cost
//! A change writes one byte per site through the kernel and checks every site before and after. Only the first change
//! allocates.
//!
//! # References
//! Linux arch/x86/kernel/alternative.c; M. Desnoyers, "x86: alternatives: fix LOCK_PREFIX race", 2008.

mod alternative;
mod canary;
#[cfg_attr(not(all(feature = "std", target_env = "gnu")), path = "confined/unsupported.rs")]
pub mod confined;
#[cfg_attr(not(all(feature = "std", target_env = "gnu")), path = "coordinator/none.rs")]
mod coordinator;
#[cfg(all(feature = "std", target_env = "gnu"))]
mod edits;
#[cfg(all(feature = "std", target_env = "gnu"))]
#[doc(hidden)]
pub mod hooks;
mod key;
mod mode;
#[cfg(all(feature = "std", target_env = "gnu"))]
mod mode_lock;
mod owner_word;
pub mod single;
mod sites;
mod state;
#[cfg(test)]
mod tests;
#[cfg_attr(not(target_arch = "x86_64"), path = "text/unsupported.rs")]
pub(crate) mod text;
mod text_edit;
mod text_guard;
mod text_lock;
#[cfg(all(feature = "std", target_env = "gnu"))]
mod text_locks;
mod unit;
#[doc(hidden)]
pub mod units;

pub use alternative::apply_alternatives;
pub use key::StaticKey;
pub use mode::Mode;
pub use single::{lock, reelide};
pub use sites::{Prefix, Site, sites};
pub use state::{State, state};
