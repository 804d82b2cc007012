//! The C interface of `cyclewise`: the functions that C and C++ programs call, under names that begin with `cw_`.
//!
//! What has to be inline is in the headers under `include/cyclewise`; everything else is a function of this crate, which
//! is built as a shared and as a static library. A function that can be refused returns 0 or an
//! [`cw_refused`](refusal::cw_refused), and writes why to a [`cw_refusal`](refusal::cw_refusal) if it is given one.
//!
//! # Invariants
//! 1. No function unwinds into C: each is `extern "C"`, where a panic aborts. None panics but where its contract is broken so far that
//!    going on would corrupt memory, as by the unlock of a lock that is not held.
//! 2. Nothing is exported but names that begin with `cw_`.
//! 3. No function changes errno.

#![deny(unsafe_code)]
#![expect(non_camel_case_types, reason = "types have the names that C programs use")]

pub mod clock;
pub mod clock_conversion;
pub mod confined;
pub mod fence;
#[cfg(target_env = "gnu")]
pub mod hooks;
pub mod lockref;
pub mod mask;
pub mod masked;
mod memory;
mod percpu;
pub mod percpu_counter;
pub mod percpu_free_list;
pub mod percpu_gauge;
pub mod percpu_histogram;
pub mod percpu_ref;
pub mod percpu_ring;
pub mod rcu;
pub mod refcount;
pub mod refusal;
pub mod signal;
pub mod single;
pub mod spinlock;
mod sys;
pub mod unit;
pub mod version;
