//! The instructions under test: the assembly of the lab, as bodies of the instrument.
#[cfg(target_arch = "aarch64")]
mod aarch64;
pub(crate) mod c;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use cyclewise_bench::arch::*;

#[cfg(target_arch = "aarch64")]
pub use aarch64::counter;
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{exclusive, raw, store, wait, width, words};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{counter, lock_prefix, popf};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{patch_sites, plain, raw, store, wait, width, words};

#[cfg(test)]
mod tests;
