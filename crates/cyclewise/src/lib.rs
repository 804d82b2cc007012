//! Hot-path primitives of an SMP kernel, in userspace, each with the evidence of what it costs.
//!
//! - [`atomic`] has std's atomic types with one difference: on x86-64 the LOCK prefix of every read-modify-write is a
//!   *site*, a byte that [`patch`] can turn into a prefix without effect and back. A program that has one thread, or whose
//!   threads are all confined to one CPU, then pays for a plain instruction what it paid for a locked one.
//! - [`patch`] rewrites instructions of the running program: those prefixes, static keys, whose test costs one NOP, and
//!   alternatives, sequences chosen by what the CPU has.
//! - [`mod@percpu`] has data of which each CPU has its own copy, changed there without LOCK by restartable sequences.
//! - [`lock`] has a queued spinlock of 4 bytes whose waiters sleep when spinning is in vain.
//! - [`refs`] has reference counts on such atomics, which saturate: the kernel's `refcount_t`,
//!   `rcuref_t` and `lockref`, and an `Arc`.
//! - [`clock`] has an `Instant` that reads the CPU's counter, says what it is ordered with, and follows CLOCK_MONOTONIC.
//! - [`mask`] holds signals off for the price of two stores: userspace's `local_irq_save`.
//!
//! ```
//! cyclewise::percpu! {
//!     /// Counted on whichever CPU it happens.
//!     static HITS: u64;
//! }
//!
//! HITS.add(1); // five instructions behind a branch, and no LOCK
//! assert_eq!(HITS.sum(), 1);
//! ```
//!
//! Nothing is patched until the final program asks for it, and when in doubt LOCK stays. On other architectures and under
//! loom the atomics are std's, and [`patch`] refuses with a reason.
//!
//! # Features
//! `std` (default): the modes of [`patch`], which need Linux and glibc linked dynamically too, conversions of paths and OS strings, and of
//! [`clock`] what is kept per thread, the mock and the upkeep thread.
//! Without it the crate is `no_std` and needs `core` and `alloc`.

#![no_std]
#![deny(unsafe_code)]

#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_os = "linux",
    not(target_pointer_width = "64")
))]
compile_error!(
    "cyclewise's assembly takes usize for 64 bits: x32 and ILP32 are not supported; build for the 64-bit ABI"
);

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

/// What exported macros name `core` by: the caller's crate may have given that name to another crate, whose macros would
/// then expand inside an `unsafe` block of ours.
#[doc(hidden)]
pub use core as __core;

#[doc(hidden)]
pub mod arch;
pub mod atomic;
pub mod clock;
pub mod error;
pub mod lock;
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64"))]
pub mod mask;
pub mod patch;
pub mod percpu;
pub mod refs;
mod sys;
