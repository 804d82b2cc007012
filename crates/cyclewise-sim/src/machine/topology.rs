//! Threads in cores, cores in clusters, clusters in sockets.
//!
//! CPU numbers start at zero; the siblings of a core are consecutive, then the cores of a cluster, and so on. The cores of a
//! cluster share a cache below the socket's, such as a core complex's; without clusters, a socket is one cluster.
//!
//! An uneven machine, such as one with cores of one and of two threads, or with a core complex that is short of cores, is an even one
//! of which some CPUs are absent: [`Cores`] says which are there. Distances and CPU numbers are those of the even one.

use serde::{Deserialize, Serialize};

/// How many units of each kind are in the next larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Sockets in the machine.
    pub sockets: u32,
    /// Clusters in a socket.
    pub clusters_per_socket: u32,
    /// Cores in a cluster.
    pub cores_per_cluster: u32,
    /// Hardware threads in a core.
    pub threads_per_core: u32,
}

/// The threads of each core, by socket and cluster, on a machine whose groups are not all of the same size.
///
/// `[[[2, 2], [1, 1, 1]]]` is one socket with a cluster of two cores of two threads and a cluster of three cores of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cores(pub Vec<Vec<Vec<u32>>>);

impl Cores {
    /// The smallest even topology that has all of these cores.
    #[must_use]
    pub fn even(&self) -> Topology {
        let clusters = || self.0.iter().flatten();
        let most =
            |counts: &mut dyn Iterator<Item = usize>| u32::try_from(counts.max().unwrap_or(0)).unwrap_or(u32::MAX);
        Topology {
            sockets: most(&mut std::iter::once(self.0.len())),
            clusters_per_socket: most(&mut self.0.iter().map(Vec::len)),
            cores_per_cluster: most(&mut clusters().map(Vec::len)),
            threads_per_core: clusters().flatten().copied().max().unwrap_or(0),
        }
    }

    /// Whether the smallest even topology has no other core, so that it describes the machine alone.
    #[must_use]
    pub fn is_even(&self) -> bool {
        self.even().cpus() == self.cpus()
    }

    /// The number of CPUs that are there.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.0
            .iter()
            .flatten()
            .flatten()
            .fold(0, |all, threads| all.saturating_add(*threads))
    }

    /// The numbers of the CPUs that are there, ascending, within `topology`, which has room for them.
    #[must_use]
    pub fn numbers(&self, topology: Topology) -> Vec<u32> {
        let mut numbers = Vec::new();
        for (socket, clusters) in (0..).zip(&self.0) {
            for (cluster, cores) in (socket * topology.clusters_per_socket..).zip(clusters) {
                for (core, threads) in (cluster * topology.cores_per_cluster..).zip(cores) {
                    let first = core * topology.threads_per_core;
                    numbers.extend(first..first + threads);
                }
            }
        }
        numbers
    }
}

/// The position of a CPU. Socket, cluster and core are numbered over the whole machine, threads within their core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTopology {
    /// Its socket.
    pub socket: u32,
    /// Its cluster.
    pub cluster: u32,
    /// Its core.
    pub core: u32,
    /// Its thread of the core.
    pub thread: u32,
}

/// The distance between two CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// The same CPU.
    Same,
    /// Threads of one core, which share its L1 cache.
    Sibling,
    /// Cores of one cluster.
    Cluster,
    /// Clusters of one socket.
    Socket,
    /// Different sockets.
    Remote,
}

impl Topology {
    /// As many sockets, clusters in each, cores in each of these, and threads of a core.
    #[must_use]
    pub const fn new(sockets: u32, clusters_per_socket: u32, cores_per_cluster: u32, threads_per_core: u32) -> Self {
        Self {
            sockets,
            clusters_per_socket,
            cores_per_cluster,
            threads_per_core,
        }
    }

    /// The number of cores.
    #[must_use]
    pub fn cores(self) -> u32 {
        self.sockets.saturating_mul(self.cores_per_socket())
    }

    /// The number of CPUs.
    #[must_use]
    pub fn cpus(self) -> u32 {
        self.cores().saturating_mul(self.threads_per_core)
    }

    /// The number of cores in a socket.
    #[must_use]
    pub fn cores_per_socket(self) -> u32 {
        self.clusters_per_socket.saturating_mul(self.cores_per_cluster)
    }

    /// The position of a CPU.
    #[must_use]
    pub fn locate(self, cpu: u32) -> CpuTopology {
        let core = cpu / self.threads_per_core;
        let cluster = core / self.cores_per_cluster;
        CpuTopology {
            socket: cluster / self.clusters_per_socket,
            cluster,
            core,
            thread: cpu % self.threads_per_core,
        }
    }

    /// The distance between two CPUs.
    #[must_use]
    pub fn distance(self, a: u32, b: u32) -> Distance {
        if a == b {
            return Distance::Same;
        }
        let (a, b) = (self.locate(a), self.locate(b));
        if a.core == b.core {
            Distance::Sibling
        } else if a.cluster == b.cluster {
            Distance::Cluster
        } else if a.socket == b.socket {
            Distance::Socket
        } else {
            Distance::Remote
        }
    }
}
