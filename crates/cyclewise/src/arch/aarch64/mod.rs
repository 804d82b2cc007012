//! AArch64: the generic timer's counter, a thread's block, restartable sequences. The rest comes from `portable`;
//! `arch` gives the reason.

pub use super::portable::*;

pub(crate) mod cntvct;
#[cfg(target_env = "gnu")]
#[path = "../x86_64/freeze.rs"]
pub(crate) mod freeze;
#[path = "../x86_64/leak_sanitizer.rs"]
pub(crate) mod leak_sanitizer;
pub(crate) mod rseq;
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
#[path = "../x86_64/static_libc.rs"]
pub(crate) mod static_libc;
#[cfg(target_env = "gnu")]
#[path = "../x86_64/thread_block.rs"]
pub(crate) mod thread_block;
mod tls;
mod weak;

pub(crate) use cntvct as counter;
