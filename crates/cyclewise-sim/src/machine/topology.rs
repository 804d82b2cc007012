//! Where CPUs are: threads in cores, cores in clusters, clusters in sockets.
//!
//! CPUs are numbered from zero with the siblings of a core side by side, then the cores of a cluster, and so on. A cluster
//! is what shares a cache below the socket's, such as a core complex; where there is none, a socket is one cluster.

use serde::{Deserialize, Serialize};

/// How many of each there are in the next.
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

/// Where a CPU is; each number counts over the whole machine, but for the thread's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its socket.
    pub socket: u32,
    /// Its cluster.
    pub cluster: u32,
    /// Its core.
    pub core: u32,
    /// Which of its core's threads it is.
    pub thread: u32,
}

/// How far two CPUs are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// They are the same.
    Same,
    /// Threads of one core, which share its first-level cache.
    Sibling,
    /// Cores of one cluster.
    Cluster,
    /// Clusters of one socket.
    Socket,
    /// Different sockets.
    Remote,
}

impl Topology {
    /// How many cores there are.
    #[must_use]
    pub fn cores(self) -> u32 {
        self.sockets.saturating_mul(self.cores_per_socket())
    }

    /// How many CPUs there are.
    #[must_use]
    pub fn cpus(self) -> u32 {
        self.cores().saturating_mul(self.threads_per_core)
    }

    /// How many cores a socket has.
    #[must_use]
    pub fn cores_per_socket(self) -> u32 {
        self.clusters_per_socket.saturating_mul(self.cores_per_cluster)
    }

    /// Where a CPU is.
    #[must_use]
    pub fn place(self, cpu: u32) -> Place {
        let core = cpu / self.threads_per_core;
        let cluster = core / self.cores_per_cluster;
        Place {
            socket: cluster / self.clusters_per_socket,
            cluster,
            core,
            thread: cpu % self.threads_per_core,
        }
    }

    /// How far two CPUs are apart.
    #[must_use]
    pub fn distance(self, a: u32, b: u32) -> Distance {
        if a == b {
            return Distance::Same;
        }
        let (a, b) = (self.place(a), self.place(b));
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
