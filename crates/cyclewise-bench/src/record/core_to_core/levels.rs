//! The levels that a record's matrix shows, beside those that the kernel names.
//!
//! A virtual machine often names none, and no kernel names all: core complexes of one die, tiles, halves of a mesh. The matrix is what
//! lines do. Levels are found by single linkage, as `crate::stats::levels` says.

use super::{Distance, Matrix, Pair};
use crate::record::Experiment;
use crate::stats::levels::{Level, LevelsError, Times, levels};

#[derive(Clone, Debug, PartialEq)]
pub struct NamedLevel {
    /// The level; groups are of CPU numbers.
    pub level: Level,
    /// What the kernel calls exactly these groups.
    pub named: Option<Distance>,
}

/// The levels of `e`, nearest first; `None` if it has no pairs.
///
/// # Errors
/// If pairs are missing.
pub fn found(e: &Experiment) -> Option<Result<Vec<NamedLevel>, LevelsError>> {
    let matrix = Matrix::of_experiment(e)?;
    let count = matrix.cpus.len();
    let mut times = Times::new(count);
    for a in 0..count {
        for b in 0..a {
            if let Some(ns) = matrix.ns(a, b) {
                times.set(a, b, ns);
            }
        }
    }
    let pairs: Vec<Pair> = e.variants.iter().filter_map(|v| Pair::parse(&v.name)).collect();
    let named = |mut level: Level| {
        for cpu in level.groups.iter_mut().flatten() {
            *cpu = matrix.cpus[*cpu] as usize;
        }
        let named = Distance::ALL.into_iter().find(|d| is_named(&level, &pairs, *d));
        NamedLevel { level, named }
    };
    Some(levels(&times).map(|levels| levels.into_iter().map(named).collect()))
}

/// Whether the pairs within the level's groups are those at `most` and nearer.
fn is_named(level: &Level, pairs: &[Pair], most: Distance) -> bool {
    let group = |cpu: u32| level.groups.iter().position(|group| group.contains(&(cpu as usize)));
    let is_within = |pair: &Pair| group(pair.cpus[0]) == group(pair.cpus[1]);
    // A distance that no pair has names nothing.
    pairs.iter().any(|pair| pair.distance == most)
        && pairs.iter().all(|pair| is_within(pair) == (pair.distance <= most))
}

/// Cores near to each other that the kernel does not name, and what a line takes within a group and to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// The threads of each core, by socket and cluster.
    pub cores: Vec<Vec<Vec<u32>>>,
    /// Median one-way time within a cluster.
    pub cluster_ns: f64,
    /// The same between clusters of a socket.
    pub socket_ns: f64,
}

/// The clusters of a machine on which the kernel names none; `None` if it does, or if the matrix shows none whose CPUs have
/// consecutive places in the order in which rows place threads.
pub fn clusters(e: &Experiment) -> Option<Clusters> {
    let pairs: Vec<Pair> = e.variants.iter().filter_map(|v| Pair::parse(&v.name)).collect();
    if pairs.iter().any(|pair| pair.distance == Distance::Cluster) {
        return None;
    }
    let found = found(e)?.ok()?;
    // Above the threads of a core, and below the socket.
    let is_of = |a: u32, b: u32, most: Distance| {
        let pair = pairs.iter().find(|p| p.cpus == [a.min(b), a.max(b)]);
        a == b || pair.is_some_and(|pair| pair.distance <= most)
    };
    let is_cluster = |f: &&NamedLevel| {
        let within = |group: &Vec<usize>| {
            group
                .iter()
                .all(|b| is_of(group[0] as u32, *b as u32, Distance::Socket))
        };
        let is_more_than_cores = f
            .level
            .groups
            .iter()
            .any(|g| g.iter().any(|b| !is_of(g[0] as u32, *b as u32, Distance::Sibling)));
        f.named.is_none() && is_more_than_cores && f.level.groups.iter().all(within)
    };
    let inner = found.iter().find(is_cluster)?;
    let outer = found.iter().find(|f| f.level.groups.len() < inner.level.groups.len())?;
    let socket_of = |group: &[usize], sockets: &[Vec<&Vec<usize>>]| {
        let same = |socket: &&Vec<&Vec<usize>>| is_of(socket[0][0] as u32, group[0] as u32, Distance::Socket);
        sockets.iter().position(|socket| same(&socket))
    };
    let mut sockets: Vec<Vec<&Vec<usize>>> = Vec::new();
    for group in &inner.level.groups {
        match socket_of(group, &sockets) {
            Some(socket) => sockets[socket].push(group),
            None => sockets.push(vec![group]),
        }
    }
    let mut placed = Vec::new();
    let cores = |group: &Vec<usize>, placed: &mut Vec<usize>| {
        let mut threads: Vec<(usize, u32)> = Vec::new();
        for cpu in group {
            match threads
                .iter_mut()
                .find(|(first, _)| is_of(*first as u32, *cpu as u32, Distance::Sibling))
            {
                Some((_, count)) => *count += 1,
                None => {
                    threads.push((*cpu, 1));
                    placed.push(*cpu);
                }
            }
        }
        threads.into_iter().map(|(_, count)| count).collect::<Vec<u32>>()
    };
    let mut all = Vec::new();
    for socket in &sockets {
        let begun = placed.len();
        all.push(socket.iter().map(|group| cores(group, &mut placed)).collect());
        // Rows fill a socket by CPU number.
        if !placed[begun..].is_sorted() {
            return None;
        }
    }
    Some(Clusters {
        cores: all,
        cluster_ns: inner.level.median_ns,
        socket_ns: outer.level.median_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record's experiment with these pairs.
    fn experiment(cpus: u32, of: impl Fn(u32, u32) -> (Distance, f64)) -> Experiment {
        let mut e: Experiment = serde_json::from_str(
            r#"{"name":"core-to-core","question":"?","source":"","unit":"ns/op","variants":[],"comparisons":[],"notes":[]}"#,
        )
        .unwrap();
        for a in 0..cpus {
            for b in a + 1..cpus {
                let (distance, ns) = of(a, b);
                let text = format!(
                    r#"{{"name":"{}-{a}-{b}","n":1,"rejected":0,"mean":1.0,"sd":0.0,"median":{ns},"min":1.0,"ci95":[1.0,1.0],"code_bytes":null,"samples":[1.0]}}"#,
                    distance.name()
                );
                e.variants.push(serde_json::from_str(&text).unwrap());
            }
        }
        e
    }

    /// A virtual machine that names siblings only: complexes of three cores, one of them short of a core.
    fn guest(a: u32, b: u32) -> (Distance, f64) {
        if a / 2 == b / 2 {
            (Distance::Sibling, 10.0)
        } else if a / 6 == b / 6 {
            (Distance::Socket, 24.0)
        } else {
            (Distance::Socket, 95.0)
        }
    }

    #[test]
    fn complexes_that_a_guest_does_not_name_are_clusters() {
        let e = experiment(10, guest);
        let levels = found(&e).unwrap().unwrap();
        let named: Vec<_> = levels.iter().map(|found| found.named).collect();
        assert_eq!(named, [Some(Distance::Sibling), None, Some(Distance::Socket)]);
        assert_eq!(levels[1].level.groups[1], [6, 7, 8, 9]);
        let clusters = clusters(&e).unwrap();
        assert_eq!(clusters.cores, [[vec![2, 2, 2], vec![2, 2]]]);
        assert_eq!((clusters.cluster_ns, clusters.socket_ns), (24.0, 95.0));
    }

    #[test]
    fn clusters_that_the_kernel_names_or_that_are_not_there_are_left_alone() {
        let with_names = |a: u32, b: u32| match guest(a, b) {
            (Distance::Socket, ns) if ns < 50.0 => (Distance::Cluster, ns),
            other => other,
        };
        let e = experiment(10, with_names);
        assert_eq!(found(&e).unwrap().unwrap()[1].named, Some(Distance::Cluster));
        assert_eq!(clusters(&e), None);
        assert_eq!(clusters(&experiment(6, |_, _| (Distance::Socket, 40.0))), None);
        // CPUs that alternate between complexes: rows would place threads in another order than the model.
        let alternate = |a: u32, b: u32| (Distance::Socket, if a % 2 == b % 2 { 24.0 } else { 95.0 });
        assert_eq!(clusters(&experiment(8, alternate)), None);
    }

    #[test]
    fn two_sockets_with_unnamed_complexes_keep_their_sockets() {
        let two = |a: u32, b: u32| match (a / 8 == b / 8, a / 4 == b / 4) {
            (false, _) => (Distance::Remote, 200.0),
            (true, false) => (Distance::Socket, 95.0),
            (true, true) => (Distance::Socket, 24.0),
        };
        let clusters = clusters(&experiment(16, two)).unwrap();
        assert_eq!(clusters.cores, [[vec![1; 4], vec![1; 4]], [vec![1; 4], vec![1; 4]]]);
        assert_eq!(clusters.socket_ns, 95.0);
    }

    #[test]
    fn a_matrix_with_holes_is_an_error() {
        let mut e = experiment(6, guest);
        e.variants.pop();
        assert!(found(&e).unwrap().is_err() && clusters(&e).is_none());
    }
}
