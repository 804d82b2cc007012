//! The twin without assembly: read-modify-writes are std's, a key is an atomic flag, an alternative is its default, and
//! no text is written. There is no restartable sequence and no GS.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub mod alternative;
#[cfg(all(not(loom), not(all(target_arch = "x86_64", target_os = "linux"))))]
mod displaced;
#[cfg(not(all(feature = "std", target_arch = "x86_64", target_os = "linux", not(loom))))]
pub(crate) mod gs;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(crate) mod key;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(crate) mod lock;
#[cfg(any(loom, not(all(target_arch = "x86_64", target_os = "linux"))))]
mod rmw;
#[cfg(not(all(
    feature = "std",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(loom)
)))]
pub(crate) mod rseq;
#[cfg(not(all(
    feature = "std",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(loom)
)))]
pub(crate) mod rseq_cells;
#[cfg(not(all(
    feature = "std",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(loom)
)))]
pub(crate) mod rseq_list;
#[cfg(not(any(loom, all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))))]
pub(crate) mod ticks;

#[cfg(all(not(loom), not(all(target_arch = "x86_64", target_os = "linux"))))]
pub(crate) use displaced::{dec_negative_at, inc_negative_at};
#[cfg(any(loom, not(all(target_arch = "x86_64", target_os = "linux"))))]
pub(crate) use rmw::{HAS_SITES, Record, records};
