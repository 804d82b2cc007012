//! Finds the levels of a machine, such as cores, core complexes and sockets, in its matrix of transfer times.
//!
//! # Procedure
//! 1. Single linkage: the pairs are taken by ascending time, and each joins the two groups that its CPUs are in. The times at which
//!    groups are joined, one fewer than there are CPUs, are the edges of a minimum spanning tree.
//! 2. A cut is where one of these times is more than [`GAP`] times the one before.
//! 3. A cut is a level if what is joined above it is groups: two of at least two CPUs each. A CPU that is slow by itself, because
//!    others used it, is joined last, alone, and makes no level.
//!
//! Disturbances make a pair slower and hardly ever faster, and single linkage uses the fastest pairs between two groups, so a few
//! slow pairs do not matter. Ties are broken by CPU number: the same matrix gives the same levels.
//!
//! # Limits
//! On a mesh, times grow with the distance by small steps. There is then no cut, and the level's [`Level::spread`] says that its
//! CPUs are not equally far apart.
//!
//! # References
//! J. Gower and G. Ross, "Minimum spanning trees and single linkage cluster analysis", Applied Statistics 18, 1969.

#[cfg(test)]
mod tests;

use std::fmt;

/// By what factor the next time of joining is longer where a level ends. Runs of one pair differ by about a tenth; the smallest step
/// between groups in core-to-core-latency's results is 1.8, from 38 to 68 ns (two Xeon X5650).
pub const GAP: f64 = 1.3;

/// A symmetric matrix of one-way times.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    cpus: usize,
    cells: Vec<Option<f64>>,
}

/// CPUs that are equally near to each other, and the time between those that no nearer level has together.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The groups: indices of CPUs, ascending, also groups of one.
    pub groups: Vec<Vec<usize>>,
    /// The number of pairs that are together at this level and at no nearer one.
    pub pairs: usize,
    /// The fastest of these pairs, in nanoseconds.
    pub min_ns: f64,
    /// Their median.
    pub median_ns: f64,
    /// The slowest.
    pub max_ns: f64,
}

/// Why a matrix has no levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelsError {
    /// Pairs are missing. A group could be split by a pair that was not measured.
    Incomplete {
        /// Pairs with a time.
        measured: usize,
        /// Pairs.
        all: usize,
    },
    /// There is no pair.
    OneCpu,
}

impl fmt::Display for LevelsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { measured, all } => write!(
                f,
                "{measured} of {all} pairs were measured, so levels cannot be told; measure all pairs"
            ),
            Self::OneCpu => f.write_str("one CPU has no levels; measure at least two"),
        }
    }
}

impl std::error::Error for LevelsError {}

impl Times {
    /// No times between this many CPUs.
    #[must_use]
    pub fn new(cpus: usize) -> Self {
        Self {
            cpus,
            cells: vec![None; cpus * cpus],
        }
    }

    /// Sets the time between two CPUs; a time that is not finite and positive, or of a CPU with itself, counts as not measured.
    ///
    /// # Panics
    /// If there is no such CPU.
    pub fn set(&mut self, a: usize, b: usize, ns: f64) {
        assert!(a < self.cpus && b < self.cpus, "CPU {a} or {b} of {}", self.cpus);
        if a != b {
            let ns = (ns.is_finite() && ns > 0.0).then_some(ns);
            self.cells[a * self.cpus + b] = ns;
            self.cells[b * self.cpus + a] = ns;
        }
    }

    /// The pairs with a time, by ascending time and then CPU numbers.
    fn pairs(&self) -> Vec<(f64, usize, usize)> {
        let all = (0..self.cpus).flat_map(|a| (a + 1..self.cpus).map(move |b| (a, b)));
        let mut pairs: Vec<_> = all
            .filter_map(|(a, b)| Some((self.cells[a * self.cpus + b]?, a, b)))
            .collect();
        pairs.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        pairs
    }
}

/// The levels of a machine, nearest first; the last one has all CPUs in one group.
///
/// # Errors
/// [`LevelsError`] if pairs are missing.
pub fn levels(times: &Times) -> Result<Vec<Level>, LevelsError> {
    let pairs = times.pairs();
    let all = times.cpus * times.cpus.saturating_sub(1) / 2;
    if all == 0 {
        return Err(LevelsError::OneCpu);
    }
    if pairs.len() < all {
        return Err(LevelsError::Incomplete {
            measured: pairs.len(),
            all,
        });
    }
    let edges = spanning_tree(times.cpus, &pairs);
    let cuts = (1..edges.len()).filter(|&edge| edges[edge].0 > GAP * edges[edge - 1].0);
    let mut partitions: Vec<Partition> = cuts
        .map(|edge| Partition::by_edges(times.cpus, &edges[..edge]))
        .collect();
    partitions.push(Partition::by_edges(times.cpus, &edges));
    let mut nearer: Option<&Partition> = None;
    let mut levels = Vec::new();
    for (index, partition) in partitions.iter().enumerate() {
        let above = partitions.get(index + 1);
        if above.is_some_and(|above| !partition.groups_are_joined_in(above)) {
            continue;
        }
        levels.extend(partition.level(nearer, &pairs));
        nearer = Some(partition);
    }
    Ok(levels)
}

impl Level {
    /// The slowest pair by the fastest. Above [`GAP`] squared, the CPUs of a group are not equally far apart: a mesh, or a ring.
    #[must_use]
    pub fn spread(&self) -> f64 {
        self.max_ns / self.min_ns
    }

    /// Whether the CPUs of a group are so unequally far apart that one time does not describe them.
    #[must_use]
    pub fn is_gradient(&self) -> bool {
        self.spread() > GAP * GAP
    }
}

/// The edges of a minimum spanning tree, ascending.
fn spanning_tree(cpus: usize, pairs: &[(f64, usize, usize)]) -> Vec<(f64, usize, usize)> {
    let mut groups = Partition::singles(cpus);
    let mut edges = pairs.to_vec();
    edges.retain(|(_, a, b)| groups.join(*a, *b));
    edges
}

/// CPUs in groups: for each CPU the least CPU of its group.
struct Partition(Vec<usize>);

impl Partition {
    fn singles(cpus: usize) -> Self {
        Self((0..cpus).collect())
    }

    fn by_edges(cpus: usize, edges: &[(f64, usize, usize)]) -> Self {
        let mut partition = Self::singles(cpus);
        for (_, a, b) in edges {
            partition.join(*a, *b);
        }
        partition
    }

    /// Joins the groups of two CPUs; `false` if they are one.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (least, most) = (self.0[a].min(self.0[b]), self.0[a].max(self.0[b]));
        // As many steps as there are CPUs; a machine has hundreds, and joins one fewer.
        for group in &mut self.0 {
            if *group == most {
                *group = least;
            }
        }
        least != most
    }

    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); self.0.len()];
        for (cpu, group) in self.0.iter().enumerate() {
            groups[*group].push(cpu);
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Whether two groups of at least two CPUs are in one group of `above`.
    fn groups_are_joined_in(&self, above: &Self) -> bool {
        let mut into: Vec<usize> = self
            .groups()
            .iter()
            .filter(|group| group.len() > 1)
            .map(|group| above.0[group[0]])
            .collect();
        into.sort_unstable();
        into.windows(2).any(|two| two[0] == two[1])
    }

    /// The level, whose pairs are those that `nearer` does not have together; `None` if there are none.
    fn level(&self, nearer: Option<&Self>, pairs: &[(f64, usize, usize)]) -> Option<Level> {
        let is_nearer = |a: usize, b: usize| nearer.is_some_and(|nearer| nearer.0[a] == nearer.0[b]);
        let own = pairs
            .iter()
            .filter(|(_, a, b)| self.0[*a] == self.0[*b] && !is_nearer(*a, *b));
        // Ascending, as all pairs are.
        let times: Vec<f64> = own.map(|(ns, _, _)| *ns).collect();
        Some(Level {
            groups: self.groups(),
            pairs: times.len(),
            min_ns: *times.first()?,
            // The middle, or between the two in the middle.
            median_ns: f64::midpoint(times[(times.len() - 1) / 2], times[times.len() / 2]),
            max_ns: *times.last()?,
        })
    }
}
