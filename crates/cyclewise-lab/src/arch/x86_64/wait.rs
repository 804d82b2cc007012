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
#![expect(unsafe_code, reason = "naked functions")]

use super::body::body;
use crate::arch::Body;

/// The variants in the order of the table.
pub(crate) const BODIES: [Body; 1] = [body!("pause", 4, [], ["pause"])];
