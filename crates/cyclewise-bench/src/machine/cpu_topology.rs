//! Which CPUs share a core, a cluster (cores with their own near cache) or a socket, and how far apart CPUs are.

use super::cpu_list;
use super::topology::{CPUS, siblings};
use crate::record::Topology;
use crate::record::core_to_core::Distance;
use crate::sys::procfs::Sysfs;

/// The core, cluster and socket of a CPU. The numbers are the kernel's, or the group's first CPU; they only tell groups apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTopology {
    cpu: u32,
    core: u32,
    cluster: u32,
    socket: u32,
}

impl CpuTopology {
    #[cfg(any(test, feature = "testing"))]
    pub fn made(cpu: u32, core: u32, cluster: u32, socket: u32) -> Self {
        Self {
            cpu,
            core,
            cluster,
            socket,
        }
    }

    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// How far a line moves from this CPU to `other`.
    pub fn distance(&self, other: &CpuTopology) -> Distance {
        if self.socket != other.socket {
            Distance::Remote
        } else if self.core == other.core {
            Distance::Sibling
        } else if self.cluster == other.cluster {
            Distance::Cluster
        } else {
            Distance::Socket
        }
    }
}

/// The topology of these CPUs of this machine.
pub fn cpu_topology(cpus: &[u32]) -> Vec<CpuTopology> {
    cpu_topology_in(&Sysfs::machine(), cpus)
}

/// The same for the machine that `fs` describes. Without information, CPUs are separate cores of one socket.
pub fn cpu_topology_in(fs: &Sysfs, cpus: &[u32]) -> Vec<CpuTopology> {
    cpus.iter().map(|cpu| one_cpu(fs, *cpu)).collect()
}

fn one_cpu(fs: &Sysfs, cpu: u32) -> CpuTopology {
    let list = |file: &str| cpu_list::parse(&fs.text(&format!("{CPUS}/cpu{cpu}/{file}"))?);
    let first = |cpus: &[u32]| cpus.iter().copied().min().unwrap_or(cpu);
    let mut core = siblings(fs, cpu).unwrap_or_default();
    core.push(cpu);
    let socket = fs
        .text(&format!("{CPUS}/cpu{cpu}/topology/physical_package_id"))
        .and_then(|id| id.parse().ok())
        .unwrap_or(0);
    let package = list("topology/package_cpus_list")
        .or_else(|| list("topology/core_siblings_list"))
        .unwrap_or_default();
    // A cluster is larger than a core and smaller than a socket.
    let group = |cpus: &Vec<u32>| cpus.len() > core.len() && cpus.len() < package.len();
    let cluster = list("topology/cluster_cpus_list").filter(group);
    let cluster = cluster.or_else(|| last_level_cache(fs, cpu).filter(group));
    CpuTopology {
        cpu,
        core: first(&core),
        // Without clusters each core is its own, so that no two cores share one.
        cluster: cluster.map_or(first(&core), |cpus| first(&cpus)),
        socket,
    }
}

/// CPUs that share the last-level cache of `cpu`.
fn last_level_cache(fs: &Sysfs, cpu: u32) -> Option<Vec<u32>> {
    let folder = format!("{CPUS}/cpu{cpu}/cache");
    let levels = fs.names(&folder)?.into_iter().filter_map(|index| {
        let level: u32 = fs.text(&format!("{folder}/{index}/level"))?.parse().ok()?;
        Some((level, index))
    });
    let (_, index) = levels.max()?;
    cpu_list::parse(&fs.text(&format!("{folder}/{index}/shared_cpu_list"))?)
}

/// How many sockets, clusters and cores these CPUs are in.
pub fn count_groups(cpus: &[CpuTopology]) -> Topology {
    fn different<T: Ord>(all: impl Iterator<Item = T>) -> u32 {
        let mut all: Vec<T> = all.collect();
        all.sort_unstable();
        all.dedup();
        all.len() as u32
    }
    // If each core is its own cluster, the socket counts as one cluster.
    let unclustered = !cpus
        .iter()
        .any(|a| cpus.iter().any(|b| a.distance(b) == Distance::Cluster));
    Topology {
        sockets: different(cpus.iter().map(|c| c.socket)),
        clusters: different(cpus.iter().map(|c| (c.socket, if unclustered { 0 } else { c.cluster }))),
        cores: different(cpus.iter().map(|c| (c.socket, c.core))),
        cpus: cpus.len() as u32,
    }
}

/// The threads of each core, by socket and cluster, in the order of [`cores_first`].
pub fn threads_of_cores(cpus: &[CpuTopology]) -> Vec<Vec<Vec<u32>>> {
    let clustered = cpus
        .iter()
        .any(|a| cpus.iter().any(|b| a.distance(b) == Distance::Cluster));
    let mut cpus = cpus.to_vec();
    cpus.sort_by_key(|c| (c.socket, c.cluster, c.core, c.cpu));
    cpus.chunk_by(|a, b| a.socket == b.socket)
        .map(|socket| {
            let clusters = socket.chunk_by(|a, b| !clustered || a.cluster == b.cluster);
            let cores = |cluster: &[CpuTopology]| {
                let cores = cluster.chunk_by(|a, b| a.core == b.core);
                cores.map(|core| core.len() as u32).collect()
            };
            clusters.map(cores).collect()
        })
        .collect()
}

/// CPUs in the order in which threads are placed: one of each core first, by socket and cluster.
pub fn cores_first(cpus: &[CpuTopology]) -> Vec<CpuTopology> {
    let mut cpus = cpus.to_vec();
    cpus.sort_by_key(|c| (c.socket, c.cluster, c.cpu));
    let (mut first, mut rest): (Vec<CpuTopology>, Vec<CpuTopology>) = (Vec::new(), Vec::new());
    for cpu in cpus {
        let taken = first.iter().any(|c| c.distance(&cpu) == Distance::Sibling);
        if taken { &mut rest } else { &mut first }.push(cpu);
    }
    first.append(&mut rest);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    /// Two sockets of two clusters of two cores of two threads; CPU n and n + 8 share a core.
    fn sixteen() -> Tree {
        let tree = Tree::new();
        for cpu in 0..16u32 {
            let core = cpu % 8;
            let (socket, cluster) = (core / 4, core / 2);
            let topology = format!("{CPUS}/cpu{cpu}/topology");
            let both = |first: u32, last: u32| format!("{first}-{last},{}-{}", first + 8, last + 8);
            tree.write(
                &format!("{topology}/thread_siblings_list"),
                &format!("{core},{}", core + 8),
            );
            tree.write(&format!("{topology}/physical_package_id"), &socket.to_string());
            tree.write(
                &format!("{topology}/package_cpus_list"),
                &both(4 * socket, 4 * socket + 3),
            );
            let cache = format!("{CPUS}/cpu{cpu}/cache/index3");
            tree.write(&format!("{cache}/level"), "3");
            tree.write(&format!("{cache}/shared_cpu_list"), &both(2 * cluster, 2 * cluster + 1));
        }
        tree
    }

    #[test]
    fn distances_follow_the_kernels_lists() {
        let cpus: Vec<u32> = (0..16).collect();
        let topologies = cpu_topology_in(&sixteen().fs(), &cpus);
        let to = |b: usize| topologies[0].distance(&topologies[b]);
        assert_eq!(
            [8, 1, 9, 2, 3, 4, 12].map(to),
            [
                Distance::Sibling,
                Distance::Cluster,
                Distance::Cluster,
                Distance::Socket,
                Distance::Socket,
                Distance::Remote,
                Distance::Remote
            ]
        );
        let topology = count_groups(&topologies);
        assert_eq!((topology.sockets, topology.clusters), (2, 4));
        assert_eq!((topology.cores, topology.cpus), (8, 16));
        let order: Vec<u32> = cores_first(&topologies).iter().map(|c| c.cpu).collect();
        assert_eq!(order, cpus, "CPUs 8 to 15 are second threads");
        let two = vec![2; 2];
        assert_eq!(
            threads_of_cores(&topologies),
            vec![vec![two.clone(), two.clone()], vec![two.clone(), two]]
        );
        // The second thread of core 1 and all of core 2 are disabled.
        let fewer: Vec<CpuTopology> = topologies
            .iter()
            .filter(|c| ![9, 2, 10].contains(&c.cpu))
            .copied()
            .collect();
        assert_eq!(threads_of_cores(&fewer)[0], [vec![2, 1], vec![2]]);
    }

    #[test]
    fn second_threads_come_last() {
        let topologies = cpu_topology_in(&sixteen().fs(), &[0, 8, 1, 9, 4]);
        let order: Vec<u32> = cores_first(&topologies).iter().map(|c| c.cpu).collect();
        assert_eq!(order, [0, 1, 4, 8, 9]);
        // A socket is filled first, even if CPU numbers alternate between sockets.
        let alternating = [0, 4, 1, 5].map(|cpu| CpuTopology {
            cpu,
            core: cpu,
            cluster: cpu / 4,
            socket: cpu / 4,
        });
        let order: Vec<u32> = cores_first(&alternating).iter().map(|c| c.cpu).collect();
        assert_eq!(order, [0, 1, 4, 5]);
    }

    #[test]
    fn without_information_cpus_are_cores_of_one_socket() {
        let topologies = cpu_topology_in(&Tree::new().fs(), &[0, 1, 2]);
        assert_eq!(topologies[0].distance(&topologies[2]), Distance::Socket);
        let topology = count_groups(&topologies);
        assert_eq!((topology.sockets, topology.clusters, topology.cores), (1, 1, 3));
        assert_eq!(threads_of_cores(&topologies), [[[1, 1, 1]]], "one cluster");
    }

    #[test]
    fn a_cache_of_the_whole_socket_is_not_a_cluster() {
        let tree = Tree::new();
        for cpu in 0..2 {
            let topology = format!("{CPUS}/cpu{cpu}/topology");
            tree.write(&format!("{topology}/thread_siblings_list"), &cpu.to_string());
            tree.write(&format!("{topology}/cluster_cpus_list"), &cpu.to_string());
            tree.write(&format!("{topology}/package_cpus_list"), "0-1");
            tree.write(&format!("{CPUS}/cpu{cpu}/cache/index0/level"), "3");
            tree.write(&format!("{CPUS}/cpu{cpu}/cache/index0/shared_cpu_list"), "0-1");
        }
        let topologies = cpu_topology_in(&tree.fs(), &[0, 1]);
        assert_eq!(topologies[0].distance(&topologies[1]), Distance::Socket);
        assert_eq!(count_groups(&topologies).clusters, 1);
    }
}
