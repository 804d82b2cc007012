//! Reading the generic timer's virtual count, bare and after ISB.
//!
//! # References
//! Arm ARM (DDI 0487), D12.2; A. Lutomirski and I. Molnar, 2011, for the same question on x86-64.
//!
//! # Safety
//! The bodies write registers only.
use crate::arch::Body;
use cyclewise_bench::body;

/// The variants in the order of the table.
pub(crate) const BODIES: [Body; 2] = [
    body!("cntvct", 16, [], ["mrs x9, cntvct_el0"]),
    body!("isb-cntvct", 16, [], ["isb", "mrs x9, cntvct_el0"]),
];
