//! What a spinning thread executes between two looks: PAUSE.
//!
//! It takes from about ten cycles to a hundred and forty, by the core, so loops that wait a number of them wait for times that differ
//! by as much.
//!
//! # References
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, PAUSE.
//!
//! # Safety
//! The bodies touch nothing.
use crate::arch::Body;
use cyclewise_bench::body;

/// The variants in the order of the table.
pub(crate) const BODIES: [Body; 1] = [body!("pause", 4, [], ["pause"])];
