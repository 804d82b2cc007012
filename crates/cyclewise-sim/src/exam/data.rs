//! The published figures: `data/contended.toml` and `data/matrices.toml`.

use crate::machine::{Latency, USUAL_SPREAD};
use crate::{Placement, Relax, Topology, Workload};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static CONTENDED: LazyLock<Contended> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/contended.toml")).expect("a test reads the file"));
static MATRICES: LazyLock<Matrices> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/matrices.toml")).expect("a test reads the file"));

/// A machine with published rows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedMachine {
    /// Its name, which decides its half.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Machines with the same kind of interconnect and atomics.
    pub family: String,
    /// Its instruction set.
    pub isa: String,
    /// Core clock.
    pub ghz: f64,
    /// Its topology.
    pub topology: Topology,
    /// A load that hits the L1 cache.
    pub hit_ns: f64,
    /// Cycles of PAUSE or YIELD.
    pub pause_cycles: u32,
    /// The matrix that says how distances compare.
    pub matrix: String,
    /// How near that matrix's machine is.
    pub matrix_is: MatrixIs,
    /// Whether it executes additions without a result at the home.
    #[serde(default)]
    pub far_additions: bool,
    /// How its threads were placed.
    pub placement: Placement,
    /// Its curves.
    #[serde(rename = "curve")]
    pub curves: Vec<Curve>,
}

/// How near the machine of a matrix is to the one that uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatrixIs {
    /// It is the same.
    Own,
    /// It has the same kind of cores and interconnect.
    SameInterconnect,
    /// Only its cores are the same.
    SameCore,
}

/// Rows of one workload over thread counts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The closest workload.
    pub workload: Workload,
    /// Relax policy of its loops.
    #[serde(default)]
    pub relax: Relax,
    /// Key of its source.
    pub source: String,
    /// Which of the source's rows it is.
    #[serde(default)]
    pub note: String,
    /// Whether its locks protect a counter on a line of its own, as the simulator's do.
    #[serde(default = "yes")]
    pub counter: bool,
    /// Thread counts.
    pub threads: Vec<u32>,
    /// Elapsed time for one operation of all threads together.
    pub ns: Vec<f64>,
    /// Work in the critical section.
    #[serde(default)]
    pub critical_ns: Vec<f64>,
    /// Work between operations.
    #[serde(default)]
    pub parallel_ns: Vec<f64>,
}

const fn yes() -> bool {
    true
}

/// One published figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedRow {
    /// The workload.
    pub workload: Workload,
    /// Relax policy of its loops.
    pub relax: Relax,
    /// Threads.
    pub threads: u32,
    /// Whether a lock protects a counter.
    pub counter: bool,
    /// Work in the critical section.
    pub critical_ns: f64,
    /// Work between operations.
    pub parallel_ns: f64,
    /// The figure.
    pub ns: f64,
}

impl PublishedMachine {
    /// Its rows.
    pub fn rows(&self) -> impl Iterator<Item = PublishedRow> {
        self.curves.iter().flat_map(|curve| {
            let at = |list: &[f64], i: usize| list.get(i).copied().unwrap_or(0.0);
            curve.threads.iter().enumerate().map(move |(i, threads)| PublishedRow {
                workload: curve.workload,
                relax: curve.relax,
                threads: *threads,
                counter: curve.counter,
                critical_ns: at(&curve.critical_ns, i),
                parallel_ns: at(&curve.parallel_ns, i),
                ns: curve.ns[i],
            })
        })
    }

    /// Transfer times of its matrix, and its own time of a hit.
    pub fn latency(&self) -> Latency {
        let found = MATRICES.matrix.iter().find(|matrix| matrix.name == self.matrix);
        let matrix = found.expect("a test looks up all matrices");
        Latency {
            hit_ns: self.hit_ns,
            spread: USUAL_SPREAD,
            sibling_ns: matrix.sibling_ns,
            cluster_ns: matrix.cluster_ns,
            socket_ns: matrix.socket_ns,
            remote_ns: matrix.remote_ns,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contended {
    /// Read by the test that looks up every source.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by a test"))]
    sources: BTreeMap<String, String>,
    machine: Vec<PublishedMachine>,
}

#[derive(Deserialize)]
struct Matrices {
    matrix: Vec<ReducedMatrix>,
}

/// A reduced matrix.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReducedMatrix {
    /// The machine.
    name: String,
    /// The file at the source.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by a test"))]
    file: String,
    /// Sockets, clusters, cores, threads, numbering of siblings, CPUs left out.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by a test"))]
    layout: (u32, u32, u32, u32, String, u32),
    /// Between threads of a core.
    sibling_ns: Option<f64>,
    /// Between cores of a cluster.
    cluster_ns: Option<f64>,
    /// Between clusters of the first socket.
    socket_ns: Option<f64>,
    /// Between sockets.
    remote_ns: Option<f64>,
}

/// All machines with published rows.
pub fn machines() -> Vec<PublishedMachine> {
    CONTENDED.machine.clone()
}

#[cfg(test)]
mod tests {
    use super::super::WorkloadKind;
    use super::super::split::{Half, SEEN, half};
    use super::*;

    /// The halves as the rule gave them when the file was made.
    const EXAMINED: &[&str] = &[
        "AWS Graviton1",
        "Apple M2",
        "Apple M4",
        "Xeon Platinum 8176 (4 sockets)",
        "Xeon Platinum 8176 (8 sockets) kernel",
        "i7-7700HQ",
        "i7-8565U",
        "i9-12900K",
        "lockhammer x86-2",
    ];

    #[test]
    fn the_halves_are_those_that_the_rule_gives() {
        let machines = machines();
        let mut examined: Vec<_> = machines.iter().filter(|m| half(&m.name) == Half::Examine).collect();
        examined.sort_by(|a, b| a.name.cmp(&b.name));
        let names: Vec<_> = examined.iter().map(|machine| machine.name.as_str()).collect();
        assert_eq!(names, EXAMINED);
        for name in SEEN {
            assert!(machines.iter().any(|machine| machine.name == *name), "{name}");
        }
    }

    #[test]
    fn every_machine_is_complete_and_named_once() {
        let Contended { sources, machine } = &*CONTENDED;
        for (i, m) in machine.iter().enumerate() {
            assert!(machine[..i].iter().all(|other| other.name != m.name), "{}", m.name);
            for curve in &m.curves {
                assert!(sources.contains_key(&curve.source), "{}: {}", m.name, curve.source);
                assert_eq!(curve.threads.len(), curve.ns.len(), "{}: {}", m.name, curve.note);
                for list in [&curve.critical_ns, &curve.parallel_ns] {
                    assert!(
                        list.is_empty() || list.len() == curve.ns.len(),
                        "{}: {}",
                        m.name,
                        curve.note
                    );
                }
                assert!(WorkloadKind::of(curve.workload).is_some(), "{}", curve.workload);
            }
            for row in m.rows() {
                assert!(row.ns > 0.0 && row.threads >= 1, "{row:?}");
                assert!(row.threads <= m.topology.cpus(), "{}: {row:?}", m.name);
                let works = row.critical_ns + row.parallel_ns;
                let waits = row.ns * f64::from(row.threads) - works;
                let is_idle = row.critical_ns > 0.0 && row.threads > 1 && waits < 0.99 * works;
                assert!(!is_idle, "{}: {row:?} works for longer than it waits", m.name);
            }
        }
    }

    #[test]
    fn every_matrix_fits_its_layout() {
        for reduced in &MATRICES.matrix {
            let (sockets, clusters, cores, threads, numbering, _) = &reduced.layout;
            let topology = Topology::new(*sockets, *clusters, *cores, *threads);
            assert!(["adjacent", "apart"].contains(&numbering.as_str()), "{}", reduced.name);
            assert_eq!(
                reduced.sibling_ns.is_some(),
                topology.threads_per_core > 1,
                "{}",
                reduced.name
            );
            assert_eq!(
                reduced.cluster_ns.is_some(),
                topology.clusters_per_socket > 1,
                "{}",
                reduced.name
            );
            assert_eq!(reduced.remote_ns.is_some(), topology.sockets > 1, "{}", reduced.name);
            assert!(!reduced.file.is_empty());
        }
    }
}
