//! Unit tests of the engine's parts.

mod arbiter;
mod geometry;

use crate::machine::Topology;

/// Two sockets of two clusters of two cores; a cycle is a nanosecond.
const TOPOLOGY: Topology = Topology::new(2, 2, 2, 1);
