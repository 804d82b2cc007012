//! The guest's machine code: the only assembly. It is copied into a guest and not executed here, but for the NOPs of
//! `host_nop`.

mod x86_64;

pub use x86_64::{Code, lock_prefix, percpu32, percpu64, popf, popf_if, rdtsc, witness};
pub(crate) use x86_64::{Routines, boot, cases, host_nop, runtime32, runtime64};
