//! Unit tests of the engine's parts.

mod arbiter;
mod geometry;

use super::timing::Timing;
use crate::machine::{Machine, Topology};

/// Two sockets of two clusters of two cores; a cycle is a nanosecond.
const TOPOLOGY: Topology = Topology {
    sockets: 2,
    clusters_per_socket: 2,
    cores_per_cluster: 2,
    threads_per_core: 1,
};

fn timing() -> Timing {
    let mut machine = Machine::plain(TOPOLOGY);
    machine.ghz = 1.0;
    Timing::new(&machine)
}
