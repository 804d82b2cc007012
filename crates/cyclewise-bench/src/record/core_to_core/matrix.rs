//! A record's pairs as a matrix and grouped by distance, for tables, charts and `simulate fit`.

use super::{Distance, Pair};
use crate::record::Experiment;

/// One-way times between CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The CPUs, ascending.
    pub cpus: Vec<u32>,
    /// Median nanoseconds, row by row, symmetric; `None` if a pair was not measured.
    cells: Vec<Option<f64>>,
}

impl Matrix {
    /// The pairs of `e`; `None` if it has none.
    pub fn of_experiment(e: &Experiment) -> Option<Matrix> {
        let pairs: Vec<([u32; 2], f64)> = measured(e).map(|(pair, ns)| (pair.cpus, ns)).collect();
        let mut cpus: Vec<u32> = pairs.iter().flat_map(|(cpus, _)| *cpus).collect();
        cpus.sort_unstable();
        cpus.dedup();
        if cpus.is_empty() {
            return None;
        }
        let mut cells = vec![None; cpus.len() * cpus.len()];
        for (pair, ns) in pairs {
            if let [Ok(a), Ok(b)] = pair.map(|cpu| cpus.binary_search(&cpu)) {
                cells[a * cpus.len() + b] = Some(ns);
                cells[b * cpus.len() + a] = Some(ns);
            }
        }
        Some(Matrix { cpus, cells })
    }

    /// The time between the CPUs at these indices of [`Matrix::cpus`].
    pub fn ns(&self, a: usize, b: usize) -> Option<f64> {
        *self.cells.get(a * self.cpus.len() + b)?
    }
}

/// The figures of all pairs of one distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub distance: Distance,
    pub pairs: usize,
    /// Median of their medians, in nanoseconds.
    pub median: f64,
    /// The quickest pair.
    pub min: f64,
    pub max: f64,
}

/// The distances that `e` has pairs of, nearest first.
pub fn spans(e: &Experiment) -> Vec<Span> {
    let of = |distance| {
        let mut ns: Vec<f64> = measured(e)
            .filter(|(p, _)| p.distance == distance)
            .map(|(_, ns)| ns)
            .collect();
        ns.sort_by(f64::total_cmp);
        Some(Span {
            distance,
            pairs: ns.len(),
            median: (*ns.get(ns.len() / 2)? + *ns.get(ns.len().checked_sub(1)? / 2)?) / 2.0,
            min: *ns.first()?,
            max: *ns.last()?,
        })
    };
    Distance::ALL.into_iter().filter_map(of).collect()
}

/// Whether a row of this experiment is a pair of CPUs.
pub fn is_pair(variant: &str) -> bool {
    Pair::parse(variant).is_some()
}

/// Pairs with a sample, and their medians.
fn measured(e: &Experiment) -> impl Iterator<Item = (Pair, f64)> {
    let rows = e
        .variants
        .iter()
        .filter(|v| e.name == super::NAME && v.n > 0 && v.median.is_finite());
    rows.filter_map(|v| Some((Pair::parse(&v.name)?, v.median)))
}
