//! The guest's machine code: the only assembly. It is copied into a guest and not executed here, but for the NOPs of
//! `host_nop`.

pub mod case;
pub mod code;
pub mod payload;
mod x86_64;

pub use code::Code;
pub(crate) use x86_64::{Routines, boot, cases, host_nop, runtime32, runtime64};
pub use x86_64::{lock_prefix, percpu32, percpu64, popf, popf_if, rdtsc, witness};
