//! What a spinning thread executes between two looks: YIELD, ISB, or WFE.
//!
//! WFE waits for an event, so SEVL precedes each: it sets the local event, which the WFE consumes at once. Without it, the loop would
//! hang where the kernel's event stream is off. The row of SEVL alone says how much of the pair is the WFE.
//!
//! # References
//! Arm ARM (DDI 0487), D1.7.1 (wait for event), C6.2 (YIELD, ISB, SEVL, WFE).
//!
//! # Safety
//! The bodies touch nothing; the event register is this CPU's, and spurious events are allowed.
use crate::arch::Body;
use cyclewise_bench::body;

/// The variants in the order of the table.
pub(crate) const BODIES: [Body; 4] = [
    body!("yield", 16, [], ["yield"]),
    body!("isb", 4, [], ["isb"]),
    body!("sevl", 16, [], ["sevl"]),
    body!("sevl-wfe", 16, [], ["sevl", "wfe"]),
];
