//! Distances between cores, and from cores to homes and copies.

use super::copies::Copies;
use crate::machine::{Distance, Topology};

/// The core that represents the home of every line: a transfer's time depends only on the two cores, and far atomics execute in the first socket.
pub(crate) const HOME: u32 = 0;

/// Looks up distances.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    /// Each core's cluster and socket.
    groups: Vec<(u32, u32)>,
    topology: Topology,
}

impl Geometry {
    pub(crate) fn new(topology: Topology) -> Self {
        let group = |core| {
            let cpu = topology.locate(core * topology.threads_per_core);
            (cpu.cluster, cpu.socket)
        };
        Self {
            groups: (0..topology.cores()).map(group).collect(),
            topology,
        }
    }

    pub(crate) fn distance(&self, a: u32, b: u32) -> Distance {
        if a == b {
            return Distance::Same;
        }
        let ((cluster_a, socket_a), (cluster_b, socket_b)) = (self.groups[a as usize], self.groups[b as usize]);
        if cluster_a == cluster_b {
            Distance::Cluster
        } else if socket_a == socket_b {
            Distance::Socket
        } else {
            Distance::Remote
        }
    }

    /// The distance from a core to the home: at least that within a socket.
    pub(crate) fn to_home(&self, core: u32) -> Distance {
        self.distance(core, HOME).max(Distance::Socket)
    }

    fn cluster(&self, core: u32) -> (u32, u32) {
        let size = self.topology.cores_per_cluster;
        let first = core - core % size;
        (first, first + size)
    }

    fn socket(&self, core: u32) -> (u32, u32) {
        let size = self.topology.cores_per_socket();
        let first = core - core % size;
        (first, first + size)
    }

    /// How many copies are in the home's socket, and how many elsewhere.
    pub(crate) fn by_socket(&self, copies: &Copies) -> (u32, u32) {
        let (from, end) = self.socket(HOME);
        let near = copies.within(from, end);
        (near, copies.count() - near)
    }

    /// The distance of the nearest copy from a core that has none.
    pub(crate) fn nearest(&self, core: u32, copies: &Copies) -> Option<Distance> {
        if copies.is_empty() {
            return None;
        }
        let any = |(from, end)| copies.within(from, end) > 0;
        Some(if any(self.cluster(core)) {
            Distance::Cluster
        } else if any(self.socket(core)) {
            Distance::Socket
        } else {
            Distance::Remote
        })
    }

    /// The distance of the farthest copy from a core, except its own.
    pub(crate) fn farthest(&self, core: u32, copies: &Copies) -> Option<Distance> {
        let own = u32::from(copies.has(core));
        let all = copies.count() - own;
        if all == 0 {
            return None;
        }
        let count = |(from, end)| copies.within(from, end) - own;
        Some(if count(self.socket(core)) < all {
            Distance::Remote
        } else if count(self.cluster(core)) < all {
            Distance::Socket
        } else {
            Distance::Cluster
        })
    }
}
