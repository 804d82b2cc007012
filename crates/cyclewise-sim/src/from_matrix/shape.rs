//! The topology of a matrix, and its transfer times by distance.
//!
//! A matrix shows levels but does not name them, so the sockets and the threads of a core are asked for. What is left, clusters, is found as in a
//! record of this lab's own matrix, where the kernel names none.

use super::Asked;
use super::cells::Cells;
use crate::Topology;
use crate::from_record;
use crate::machine::Latency;
use cyclewise_bench::record::core_to_core::levels::{self, clusters};
use cyclewise_bench::record::core_to_core::{Distance, NAME, Pair};
use cyclewise_bench::record::{Experiment, Variant};
use cyclewise_bench::stats;
use cyclewise_bench::stats::levels::{GAP, Level, Times};

/// Pairs are threads of a core, where nobody says so, if all other pairs take this many times as long. In published matrices it is 2.5 and more,
/// and cores of a cluster are at most 1.8 times as near as others.
const THREADS_NEARER: f64 = 2.0;

/// The share of a core's pairs that must be near: disturbances make some pairs slower.
const NEAR_PAIRS: f64 = 0.9;

/// A topology with its transfer times.
pub(super) struct Shape {
    pub(super) topology: Topology,
    /// Whether clusters are left out, because they are of unequal size.
    pub(super) is_flat: bool,
    pub(super) latency: Latency,
}

/// The shape of a matrix.
pub(super) fn of(matrix: &Cells, asked: &Asked) -> Result<Shape, String> {
    let (smt, core) = threads(matrix, asked.smt)?;
    let socket = sockets(matrix, &core, asked.sockets)?;
    let cpus = matrix.len();
    if let Some(a) = (0..cpus).find(|a| (0..*a).any(|b| core[*a] == core[b] && socket[*a] != socket[b])) {
        return Err(format!(
            "the threads of CPU {a}'s core are in two sockets; correct --smt or --sockets"
        ));
    }
    let distance = |a: usize, b: usize| match (core[a] == core[b], socket[a] == socket[b]) {
        (true, _) => Distance::Sibling,
        (false, true) => Distance::Socket,
        (false, false) => Distance::Remote,
    };
    let all = experiment(matrix, &distance, &|_, _| true);
    let (shape, cluster) = match clusters(&all) {
        Some(clusters) => {
            let shape = from_record::shape(&clusters.cores)?;
            let cluster = groups(&all, clusters.cores.iter().map(Vec::len).sum());
            (shape, cluster)
        }
        None => {
            let in_socket = |s: usize| socket.iter().filter(|socket| **socket == s).count() / smt as usize;
            let cores: Vec<_> = (0..asked.sockets as usize)
                .map(|s| vec![vec![smt; in_socket(s)]])
                .collect();
            (from_record::shape(&cores)?, None)
        }
    };
    let from_record::Shape { topology, is_flat } = shape;
    let distance = |a: usize, b: usize| match (distance(a, b), &cluster) {
        (Distance::Socket, Some(cluster)) if !is_flat && cluster[a] == cluster[b] => Distance::Cluster,
        (other, _) => other,
    };
    // The tool's line is in the memory of the first socket, and two cores of another reach it through that one.
    let counts = |a: usize, b: usize| socket[a] == 0 || socket[a] != socket[b];
    let latency = from_record::latency(&experiment(matrix, &distance, &counts), asked.ghz);
    Ok(Shape {
        topology,
        is_flat,
        latency,
    })
}

/// Each CPU's group at the level that has as many groups.
fn groups(e: &Experiment, count: usize) -> Option<Vec<usize>> {
    let levels = levels::found(e)?.ok()?;
    let level = levels
        .iter()
        .map(|found| &found.level)
        .find(|level| level.groups.len() == count)?;
    Some(group_of(level))
}

/// Each CPU's group.
fn group_of(level: &Level) -> Vec<usize> {
    let mut group = vec![0; level.groups.iter().map(Vec::len).sum()];
    for (number, cpus) in level.groups.iter().enumerate() {
        for cpu in cpus {
            group[*cpu] = number;
        }
    }
    group
}

/// The threads of a core, and each CPU's core.
fn threads(matrix: &Cells, smt: Option<u32>) -> Result<(u32, Vec<usize>), String> {
    let cpus = matrix.len();
    match smt {
        Some(1) => Ok((1, (0..cpus).collect())),
        Some(smt) => {
            if !cpus.is_multiple_of(smt as usize) || cpus == smt as usize {
                return Err(format!(
                    "--smt {smt}: {cpus} CPUs are not several cores of {smt} threads; correct the number"
                ));
            }
            let (core, nearer, _) = numbered(matrix, smt as usize);
            if nearer > 1.0 {
                return Ok((smt, core));
            }
            Err(format!(
                "--smt {smt}: neither neighbours nor CPUs that are {} apart are nearer to each other than all others; correct the number",
                cpus / smt as usize
            ))
        }
        None if cpus > 2 && cpus.is_multiple_of(2) => {
            match numbered(matrix, 2) {
                (core, nearer, _) if nearer >= THREADS_NEARER => Ok((2, core)),
                (_, _, 0) => threads(matrix, Some(1)),
                // As on a hybrid processor, of whose cores only some have two threads.
                (_, _, near) => Err(format!(
                    "{near} pairs of CPUs are threads of a core, but {} CPUs are of no such pair, so cores are of several kinds, and the model has \
                     one; give the rows and columns of one kind, or the threads per core: --smt",
                    cpus - 2 * near
                )),
            }
        }
        None => threads(matrix, Some(1)),
    }
}

/// Each CPU's core, how many times nearer its threads are than any other pair, and how many pairs of threads are [`THREADS_NEARER`]. Kernels number
/// the threads of a core one after another, or all first threads before all second ones; the nearer pairs tell which.
fn numbered(matrix: &Cells, smt: usize) -> (Vec<usize>, f64, usize) {
    let cores = matrix.len() / smt;
    let with = |core: &dyn Fn(usize) -> usize| {
        let core: Vec<usize> = (0..matrix.len()).map(core).collect();
        let (mut siblings, mut least) = (Vec::new(), f64::INFINITY);
        for (a, b, ns) in pairs(matrix) {
            if core[a] == core[b] {
                siblings.push(ns);
            } else {
                least = least.min(ns);
            }
        }
        siblings.sort_by(f64::total_cmp);
        let nearer = least / siblings[((siblings.len() - 1) as f64 * NEAR_PAIRS) as usize];
        let near = siblings.iter().filter(|ns| **ns * THREADS_NEARER <= least).count();
        (core, nearer, near)
    };
    let (adjacent, apart) = (with(&|cpu| cpu / smt), with(&|cpu| cpu % cores));
    if (adjacent.1, adjacent.2) >= (apart.1, apart.2) {
        adjacent
    } else {
        apart
    }
}

/// Each CPU's socket, in the order of their first CPUs: the groups of the level that has as many, or else, where slow pairs hide the level, as many
/// runs of cores, as kernels number them.
fn sockets(matrix: &Cells, core: &[usize], sockets: u32) -> Result<Vec<usize>, String> {
    let (cpus, sockets) = (matrix.len(), sockets as usize);
    if sockets == 1 {
        return Ok(vec![0; cpus]);
    }
    let mut times = Times::new(cpus);
    for (a, b, ns) in pairs(matrix) {
        times.set(a, b, ns);
    }
    let levels = stats::levels::levels(&times).map_err(|why| why.to_string())?;
    if let Some(level) = levels.iter().find(|level| level.groups.len() == sockets) {
        return Ok(group_of(level));
    }
    let cores = core.iter().max().map_or(0, |last| last + 1);
    if cores.is_multiple_of(sockets) {
        let socket: Vec<usize> = core.iter().map(|core| core / (cores / sockets)).collect();
        let (within, between): (Vec<_>, Vec<_>) = pairs(matrix).partition(|(a, b, _)| socket[*a] == socket[*b]);
        let median = |pairs: Vec<(usize, usize, f64)>| stats::median(pairs.iter().map(|(_, _, ns)| *ns));
        if median(between)
            .zip(median(within))
            .is_some_and(|(between, within)| between > GAP * within)
        {
            return Ok(socket);
        }
    }
    let shown: Vec<String> = levels.iter().map(|level| level.groups.len().to_string()).collect();
    Err(format!(
        "--sockets {sockets}: the matrix does not fall into {sockets} groups, but into {}; correct the number",
        shown.join(" or ")
    ))
}

/// All pairs with their times.
fn pairs(matrix: &Cells) -> impl Iterator<Item = (usize, usize, f64)> {
    let of = |(a, row): (usize, &'_ Vec<f64>)| {
        row.iter()
            .copied()
            .enumerate()
            .map(|(b, ns)| (a, b, ns))
            .collect::<Vec<_>>()
    };
    matrix.iter().enumerate().flat_map(of)
}

/// The matrix as this lab records its own.
fn experiment(
    matrix: &Cells,
    distance: &dyn Fn(usize, usize) -> Distance,
    has: &dyn Fn(usize, usize) -> bool,
) -> Experiment {
    let variant = |(a, b, ns): (usize, usize, f64)| Variant {
        name: Pair {
            cpus: [b, a].map(|cpu| u32::try_from(cpu).unwrap_or(u32::MAX)),
            distance: distance(a, b),
        }
        .name(),
        n: 1,
        median: ns,
        ..Variant::default()
    };
    Experiment {
        name: NAME.to_owned(),
        variants: pairs(matrix).filter(|(a, b, _)| has(*a, *b)).map(variant).collect(),
        ..Experiment::default()
    }
}
