//! Reduces a core-to-core matrix to one transfer time for each distance.
//!
//! A published matrix has a time for each pair of CPUs. A machine file has one for each distance, so the median of the distance's
//! pairs stands for all. The tool's line is in the memory of the first socket, and two cores of another socket reach it through
//! that one, so only the first socket's pairs count for the distances inside a socket.

use crate::machine::{Distance, Latency, USUAL_SPREAD};
use crate::stats::median;
use crate::{Machine, Topology};

/// Which CPU of the matrix is which CPU of the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The part of the machine that is reduced.
    pub topology: Topology,
    /// Whether the threads of a core are neighbours; else all first threads come first, then all second ones.
    pub siblings_adjacent: bool,
    /// CPUs to leave out at the beginning, such as cores of another kind.
    pub skip: usize,
}

/// Why a matrix cannot be reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatrixError {
    /// A cell is not a number.
    NotANumber {
        /// Line, from 1.
        line: usize,
        /// Cell, from 1.
        cell: usize,
    },
    /// It has fewer CPUs than the layout.
    TooSmall {
        /// Its CPUs.
        has: usize,
        /// The layout's CPUs, with those left out.
        needs: usize,
    },
}

impl std::fmt::Display for MatrixError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotANumber { line, cell } => {
                write!(
                    f,
                    "line {line}, cell {cell} is not a number; give the tool's output of --csv"
                )
            }
            Self::TooSmall { has, needs } => write!(
                f,
                "the matrix has {has} CPUs, but the layout needs {needs}; give the layout of the machine that was measured"
            ),
        }
    }
}

impl std::error::Error for MatrixError {}

/// The median of each distance's pairs. `text` is the lower triangle as comma-separated values, as core-to-core-latency writes it.
///
/// # Errors
/// [`MatrixError`] if the text is not such a matrix, or smaller than the layout.
pub fn reduce(text: &str, layout: &Layout) -> Result<Latency, MatrixError> {
    let matrix = parse(text)?;
    let cpus = layout.topology.cpus() as usize;
    let needs = layout.skip + cpus;
    if matrix.len() < needs {
        return Err(MatrixError::TooSmall {
            has: matrix.len(),
            needs,
        });
    }
    let median_at = |distance: Distance| {
        let times: Vec<f64> = pairs(cpus)
            .filter(|&(a, b)| counts(layout, distance, a, b))
            .filter_map(|(a, b)| *matrix[layout.skip + a].get(layout.skip + b)?)
            .collect();
        (!times.is_empty()).then(|| (median(&times) * 10.0).round() / 10.0)
    };
    let only_cluster = layout.topology.clusters_per_socket == 1;
    let (cluster, socket) = (median_at(Distance::Cluster), median_at(Distance::Socket));
    Ok(Latency {
        hit_ns: 0.0,
        spread: USUAL_SPREAD,
        sibling_ns: median_at(Distance::Sibling),
        // Without clusters, machine files have the socket's time.
        cluster_ns: if only_cluster { None } else { cluster },
        socket_ns: if only_cluster { cluster } else { socket },
        remote_ns: median_at(Distance::Remote),
    })
}

/// Pairs of different CPUs, the larger first: the lower triangle.
fn pairs(cpus: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..cpus).flat_map(|a| (0..a).map(move |b| (a, b)))
}

/// Whether a pair is of this distance and, inside a socket, of the first one.
fn counts(layout: &Layout, distance: Distance, a: usize, b: usize) -> bool {
    let topology = layout.topology;
    let (a, b) = (place(layout, a), place(layout, b));
    topology.distance(a, b) == distance
        && (distance == Distance::Remote || topology.locate(a).socket.max(topology.locate(b).socket) == 0)
}

/// The topology's CPU of a row.
fn place(layout: &Layout, row: usize) -> u32 {
    let row = u32::try_from(row).unwrap_or(u32::MAX);
    if layout.siblings_adjacent {
        return row;
    }
    let cores = layout.topology.cores();
    (row % cores) * layout.topology.threads_per_core + row / cores
}

/// Rows of optional times; an empty cell has none.
pub(crate) fn parse(text: &str) -> Result<Vec<Vec<Option<f64>>>, MatrixError> {
    let cell = |line: usize, cell: usize, text: &str| match text.trim() {
        "" | "NaN" => Ok(None),
        text => text.parse().map(Some).map_err(|_| MatrixError::NotANumber {
            line: line + 1,
            cell: cell + 1,
        }),
    };
    let row = |(line, text): (usize, &str)| {
        text.split(',')
            .enumerate()
            .map(|(i, text)| cell(line, i, text))
            .collect()
    };
    text.lines().enumerate().map(row).collect()
}

/// Whether a nearer class of a machine is slower than a farther one, which a machine file may not have.
#[must_use]
pub fn is_ordered(latency: &Latency) -> bool {
    let machine = Machine::plain(Topology {
        sockets: 2,
        clusters_per_socket: 2,
        cores_per_cluster: 2,
        threads_per_core: 2,
    });
    let machine = Machine {
        latency: *latency,
        ..machine
    };
    machine.to_toml().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sockets of two cores with two threads: CPU n + 4 is the sibling of CPU n.
    const MADE: &str = "\
,,,,,,,
40,,,,,,,
110,111,,,,,,
112,113,90,,,,,
8,41,114,115,,,,
42,9,116,117,43,,,
118,119,7,91,120,121,,
122,123,92,10,124,125,93,
";

    fn layout() -> Layout {
        Layout {
            topology: Topology {
                sockets: 2,
                clusters_per_socket: 1,
                cores_per_cluster: 2,
                threads_per_core: 2,
            },
            siblings_adjacent: false,
            skip: 0,
        }
    }

    #[test]
    fn each_distance_has_its_median_and_the_second_socket_does_not_count_inside() {
        let latency = reduce(MADE, &layout()).unwrap();
        assert_eq!(latency.sibling_ns, Some(8.5));
        assert_eq!(latency.cluster_ns, None);
        // 40, 41, 42 and 43, without the second socket's 90 to 93.
        assert_eq!(latency.socket_ns, Some(41.5));
        assert_eq!(latency.remote_ns, Some(117.5));
        assert!(is_ordered(&latency));
    }

    #[test]
    fn the_wrong_numbering_is_seen() {
        let wrong = Layout {
            siblings_adjacent: true,
            ..layout()
        };
        // Cores of the machine are then taken for siblings, and a sibling for a core of the other socket.
        let latency = reduce(MADE, &wrong).unwrap();
        assert_eq!(latency.sibling_ns, Some(65.0));
        assert!(latency.remote_ns < Some(117.5));
    }

    #[test]
    fn classes_out_of_order_are_seen() {
        let latency = Latency {
            hit_ns: 1.0,
            spread: USUAL_SPREAD,
            sibling_ns: Some(50.0),
            cluster_ns: None,
            socket_ns: Some(40.0),
            remote_ns: None,
        };
        assert!(!is_ordered(&latency));
    }

    #[test]
    fn what_is_no_matrix_is_refused_in_one_line() {
        let error = reduce("1,2\n3,x\n", &layout()).unwrap_err();
        assert_eq!(error, MatrixError::NotANumber { line: 2, cell: 2 });
        let small = reduce(",\n40,\n", &layout()).unwrap_err();
        assert_eq!(small, MatrixError::TooSmall { has: 2, needs: 8 });
        for error in [error, small] {
            assert!(!error.to_string().contains('\n'));
        }
    }
}
