//! Threads in cores, cores in clusters, clusters in sockets.
//!
//! CPU numbers start at zero; the siblings of a core are consecutive, then the cores of a cluster, and so on. The cores of a
//! cluster share a cache below the socket's, such as a core complex's; without clusters, a socket is one cluster.

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
    pub const fn new(sockets: u32, clusters_per_socket: u32, cores_per_cluster: u32, threads_per_core: u32) -> Self {
        Self {
            sockets,
            clusters_per_socket,
            cores_per_cluster,
            threads_per_core,
        }
    }

    /// The number of cores.
    pub fn cores(self) -> u32 {
        self.sockets.saturating_mul(self.cores_per_socket())
    }

    /// The number of CPUs.
    pub fn cpus(self) -> u32 {
        self.cores().saturating_mul(self.threads_per_core)
    }

    /// The number of cores in a socket.
    pub fn cores_per_socket(self) -> u32 {
        self.clusters_per_socket.saturating_mul(self.cores_per_cluster)
    }

    /// The position of a CPU.
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
