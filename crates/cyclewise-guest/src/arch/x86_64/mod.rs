//! The guest's machine code for x86-64, in long mode and in 32-bit protected mode.

pub(crate) mod boot;
pub(crate) mod cases;
pub(crate) mod host_nop;
pub mod lock_prefix;
pub mod percpu32;
pub mod percpu64;
pub mod popf;
pub mod popf_if;
pub mod rdtsc;
mod runtime;
pub(crate) mod runtime32;
pub(crate) mod runtime64;
pub mod witness;

pub(crate) use runtime::Routines;
