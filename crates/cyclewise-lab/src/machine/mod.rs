//! The machine, as far as the doctor alone looks at it; the rest is the instrument's.

mod cache_sizes;
pub(crate) mod doctor;
pub(crate) mod guest;
#[cfg(test)]
mod mangled;

pub use cache_sizes::cache_sizes;
pub use cyclewise_bench::machine::*;
