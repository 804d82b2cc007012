//! x86-64: implements everything in `arch`. Under `--cfg cyclewise_tsan` read-modify-writes are std's, which ThreadSanitizer
//! sees; it takes those in assembly for nothing.

pub(crate) use super::portable::*;

pub mod alternative;
pub(crate) mod code;
pub mod counter;
mod cpuid;
pub mod feature;
#[cfg(target_env = "gnu")]
pub(crate) mod freeze;
pub(crate) mod gs;
pub(crate) mod key;
pub(crate) mod leak_sanitizer;
mod lock_prefix;
mod rdtsc;
#[cfg(not(cyclewise_tsan))]
mod rmw;
#[cfg(not(cyclewise_tsan))]
pub(crate) mod rmw_offset;
pub(crate) mod rseq;
pub(crate) mod site_table;
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
pub(crate) mod static_libc;
pub(crate) mod sync_core;
mod table;
pub(crate) mod text_lock;
#[cfg(target_env = "gnu")]
pub(crate) mod thread_block;
mod tls;
pub mod tsc_order;
pub(crate) mod unit;
pub(crate) mod valgrind;
mod weak;
#[cfg(all(feature = "std", target_env = "gnu"))]
pub(crate) mod weak_symbol;
