//! What differs by CPU: the only assembly of the library, each file with a twin of the same signatures in `portable`.
//!
//! On x86-64 Linux text is patched. Elsewhere, and under Miri, `portable` stands in: a static key is an atomic flag, an
//! alternative its default. AArch64 is among these for now. Its B and NOP may be exchanged while another core executes
//! them (Arm ARM, B2.2.5), but after that each core's instruction cache has to be told, and whether this crate does it
//! right cannot be seen under an emulator, which keeps translated code by rules of its own. Without a machine to prove
//! it on it is not offered.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
mod portable;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod x86_64;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
pub(crate) use portable::lock;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
pub use portable::{alternative, key};
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
pub use x86_64::{alternative, counter, key};
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
pub(crate) use x86_64::{code, lock, sync};
