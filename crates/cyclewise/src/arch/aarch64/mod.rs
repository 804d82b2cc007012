//! AArch64: the generic timer's counter, a thread's block, restartable sequences. The rest comes from `portable`;
//! `arch` gives the reason.

pub use super::portable::*;

pub(crate) mod cntvct;
#[cfg(target_env = "gnu")]
pub(crate) mod freeze;
pub(crate) mod leak_sanitizer;
#[cfg(feature = "std")]
pub(crate) mod rseq;
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
pub(crate) mod static_libc;
#[cfg(target_env = "gnu")]
pub(crate) mod thread_block;

pub(crate) use cntvct as counter;
