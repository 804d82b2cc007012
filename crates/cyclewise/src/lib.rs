//! Hot-path primitives of an SMP kernel, brought to userspace.
//!
//! [`patch`] rewrites instructions of the running program: static keys, whose test costs one NOP, and alternatives,
//! sequences chosen by what the CPU has.

#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

#[doc(hidden)]
pub mod arch;
pub mod error;
pub mod patch;
mod sys;
