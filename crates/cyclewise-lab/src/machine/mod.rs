//! The machine, as far as the doctor alone looks at it; the rest is the instrument's.

pub(crate) mod doctor;
pub(crate) mod guest;
#[cfg(test)]
mod mangled;

pub use cyclewise_bench::machine::*;
