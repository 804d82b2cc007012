//! AArch64: the generic timer's counter, a thread's block, restartable sequences. The rest comes from `portable`;
//! `arch` gives the reason.

pub use super::portable::*;

pub(crate) mod cntvct;
#[cfg(target_env = "gnu")]
pub(crate) mod freeze;
#[path = "../x86_64/leak_sanitizer.rs"]
pub(crate) mod leak_sanitizer;
pub(crate) mod rseq;
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
#[path = "../x86_64/static_libc.rs"]
pub(crate) mod static_libc;
#[cfg(target_env = "gnu")]
pub(crate) mod thread_block;
mod weak;

pub(crate) use cntvct as counter;
