//! The twin without assembly: read-modify-writes are std's, a key is an atomic flag, an alternative is its default, and
//! no text is written.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
pub mod alternative;
#[cfg(not(loom))]
mod displaced;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
pub mod key;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
pub(crate) mod lock;
mod rmw;
#[cfg(not(any(
    loom,
    all(target_os = "linux", not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))
)))]
pub(crate) mod ticks;

#[cfg(not(loom))]
pub(crate) use displaced::{dec_negative_at, inc_negative_at};
pub(crate) use rmw::{HAS_SITES, Record, fence, records};
