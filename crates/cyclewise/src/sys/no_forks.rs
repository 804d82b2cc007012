//! The number of this process, where nothing forks.

use core::sync::atomic::AtomicU64;

/// The one number.
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
pub(crate) fn current() -> u32 {
    1
}

/// The one number.
pub(crate) fn current_in(_: &'static [AtomicU64; 3]) -> u32 {
    1
}
