//! The kernel, behind safe functions: memory, a timer that interrupts, KVM's device and its counts.

pub(crate) mod kvm;
mod memory;
mod stats;
pub(crate) mod watchdog;
