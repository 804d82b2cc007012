//! A pair of CPUs of one socket whose line has its memory at another socket.
//!
//! Requests for a line go through the home of its memory on most machines, so two neighbours may pay for a journey that neither of them
//! is on. The kernel places a page at the node of the CPU that first writes to it; so a page is mapped for each row and first written
//! from a CPU of the socket in question.

use crate::machine::CpuTopology;
use crate::record::core_to_core::Distance;
use crate::record::core_to_core::Pair;

/// A pair, and the CPU that first writes to its flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Homed {
    pub(super) pair: Pair,
    pub(super) home: u32,
}

impl Homed {
    /// The name of its row: a pair's, and the CPU at the home.
    pub(super) fn name(&self) -> String {
        format!("{}-home-{}", self.pair.name(), self.home)
    }
}

/// The first pair of different cores of a socket, with its line at its own socket and at another; none on a machine of one socket.
pub(super) fn chosen(cpus: &[CpuTopology], pairs: &[Pair]) -> Vec<Homed> {
    let place = |cpu: u32| cpus.iter().find(|place| place.cpu() == cpu);
    let within = |pair: &&Pair| matches!(pair.distance, Distance::Cluster | Distance::Socket);
    let homes = |pair: &Pair| {
        let first = place(pair.cpus[0])?;
        let other = cpus.iter().find(|place| place.distance(first) == Distance::Remote)?;
        Some([pair.cpus[0], other.cpu()].map(|home| Homed { pair: *pair, home }))
    };
    let Some(homes) = pairs.iter().find(within).and_then(homes) else {
        return Vec::new();
    };
    homes.to_vec()
}
