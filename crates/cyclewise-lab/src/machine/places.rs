//! Where CPUs sit beside each other: threads of a core, a cluster with a near cache of its own, a socket.

use super::cpu_list;
use super::topology::{CPUS, siblings};
use crate::record::Topology;
use crate::sys::procfs::Sysfs;

/// How far a line moves from one CPU to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// Threads of one core.
    Sibling,
    /// Cores of one cluster, where a socket has several.
    Cluster,
    /// The same socket.
    Socket,
    /// Another socket.
    Remote,
}

impl Distance {
    /// All of them, nearest first.
    pub const ALL: [Distance; 4] = [Self::Sibling, Self::Cluster, Self::Socket, Self::Remote];

    /// The word that rows and machine files use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sibling => "sibling",
            Self::Cluster => "cluster",
            Self::Socket => "socket",
            Self::Remote => "remote",
        }
    }
}

/// Where one CPU sits. The numbers are the kernel's, or the first CPU of the group, and only tell groups apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    cpu: u32,
    core: u32,
    cluster: u32,
    socket: u32,
}

impl Place {
    /// The CPU.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// How far a line moves from here to there.
    pub fn to(&self, other: &Place) -> Distance {
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

/// Where these CPUs of this machine sit.
pub fn places(cpus: &[u32]) -> Vec<Place> {
    places_of(&Sysfs::machine(), cpus)
}

/// The same, of the machine that a tree of files describes. What it does not say is taken to be one socket of cores.
pub(crate) fn places_of(fs: &Sysfs, cpus: &[u32]) -> Vec<Place> {
    cpus.iter().map(|cpu| place(fs, *cpu)).collect()
}

fn place(fs: &Sysfs, cpu: u32) -> Place {
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
    // A group that is no more than the core, or no less than the socket, is none of its own.
    let group = |cpus: &Vec<u32>| cpus.len() > core.len() && cpus.len() < package.len();
    let cluster = list("topology/cluster_cpus_list").filter(group);
    let cluster = cluster.or_else(|| last_cache(fs, cpu).filter(group));
    Place {
        cpu,
        core: first(&core),
        // Each its own: then no two cores are of one cluster.
        cluster: cluster.map_or(first(&core), |cpus| first(&cpus)),
        socket,
    }
}

/// CPUs that share the last cache of `cpu`.
fn last_cache(fs: &Sysfs, cpu: u32) -> Option<Vec<u32>> {
    let folder = format!("{CPUS}/cpu{cpu}/cache");
    let levels = fs.names(&folder)?.into_iter().filter_map(|index| {
        let level: u32 = fs.text(&format!("{folder}/{index}/level"))?.parse().ok()?;
        Some((level, index))
    });
    let (_, index) = levels.max()?;
    cpu_list::parse(&fs.text(&format!("{folder}/{index}/shared_cpu_list"))?)
}

/// How many of each group these places fill.
pub(crate) fn counted(places: &[Place]) -> Topology {
    fn different<T: Ord>(all: impl Iterator<Item = T>) -> u32 {
        let mut all: Vec<T> = all.collect();
        all.sort_unstable();
        all.dedup();
        all.len() as u32
    }
    // Cores that are clusters of their own make their socket one cluster.
    let alone = !places
        .iter()
        .any(|a| places.iter().any(|b| a.to(b) == Distance::Cluster));
    Topology {
        sockets: different(places.iter().map(|p| p.socket)),
        clusters: different(places.iter().map(|p| (p.socket, if alone { 0 } else { p.cluster }))),
        cores: different(places.iter().map(|p| (p.socket, p.core))),
        cpus: places.len() as u32,
    }
}

/// Places in the order in which threads take them: one of each core first, socket by socket and cluster by cluster.
pub fn cores_first(places: &[Place]) -> Vec<Place> {
    let mut places = places.to_vec();
    places.sort_by_key(|p| (p.socket, p.cluster, p.cpu));
    let (mut first, mut rest): (Vec<Place>, Vec<Place>) = (Vec::new(), Vec::new());
    for place in places {
        let taken = first.iter().any(|p| p.to(&place) == Distance::Sibling);
        if taken { &mut rest } else { &mut first }.push(place);
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
    fn distances_follow_the_kernel_s_lists() {
        let cpus: Vec<u32> = (0..16).collect();
        let places = places_of(&sixteen().fs(), &cpus);
        let to = |b: usize| places[0].to(&places[b]);
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
        let topology = counted(&places);
        assert_eq!((topology.sockets, topology.clusters), (2, 4));
        assert_eq!((topology.cores, topology.cpus), (8, 16));
        let order: Vec<u32> = cores_first(&places).iter().map(|p| p.cpu).collect();
        assert_eq!(order, cpus, "CPUs 8 to 15 are second threads");
    }

    #[test]
    fn second_threads_come_last() {
        let places = places_of(&sixteen().fs(), &[0, 8, 1, 9, 4]);
        let order: Vec<u32> = cores_first(&places).iter().map(|p| p.cpu).collect();
        assert_eq!(order, [0, 1, 4, 8, 9]);
        // Where numbers go from socket to socket in turn, a socket is filled all the same.
        let turns = [0, 4, 1, 5].map(|cpu| Place {
            cpu,
            core: cpu,
            cluster: cpu / 4,
            socket: cpu / 4,
        });
        let order: Vec<u32> = cores_first(&turns).iter().map(|p| p.cpu).collect();
        assert_eq!(order, [0, 1, 4, 5]);
    }

    #[test]
    fn where_the_kernel_says_nothing_all_are_cores_of_one_socket() {
        let places = places_of(&Tree::new().fs(), &[0, 1, 2]);
        assert_eq!(places[0].to(&places[2]), Distance::Socket);
        let topology = counted(&places);
        assert_eq!((topology.sockets, topology.clusters, topology.cores), (1, 1, 3));
    }

    #[test]
    fn a_cache_of_the_whole_socket_makes_no_cluster() {
        let tree = Tree::new();
        for cpu in 0..2 {
            let topology = format!("{CPUS}/cpu{cpu}/topology");
            tree.write(&format!("{topology}/thread_siblings_list"), &cpu.to_string());
            tree.write(&format!("{topology}/cluster_cpus_list"), &cpu.to_string());
            tree.write(&format!("{topology}/package_cpus_list"), "0-1");
            tree.write(&format!("{CPUS}/cpu{cpu}/cache/index0/level"), "3");
            tree.write(&format!("{CPUS}/cpu{cpu}/cache/index0/shared_cpu_list"), "0-1");
        }
        let places = places_of(&tree.fs(), &[0, 1]);
        assert_eq!(places[0].to(&places[1]), Distance::Socket);
        assert_eq!(counted(&places).clusters, 1);
    }
}
