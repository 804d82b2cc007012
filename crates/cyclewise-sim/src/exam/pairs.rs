//! How far ratios of two programs' times on one machine were off, where the machine was held out.
//!
//! Errors of one machine's rows mostly go the same way, so a ratio is better than both times. Only rows of the same two programs count, at the
//! same number of threads and with the same work: what was learned of one lock says nothing of another.

use super::Reach;
use super::band::HeldOutRow;
use crate::{Relax, Workload};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a thread runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Program {
    /// The workload.
    pub workload: Workload,
    /// What its loops do between two tries.
    pub relax: Relax,
}

impl Program {
    fn key(self) -> String {
        format!("{} {}", self.workload, self.relax)
    }
}

/// How far ratios of two programs were off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The first, by name.
    pub one: String,
    /// The second.
    pub other: String,
    /// How far lines travelled.
    pub reach: Reach,
    /// The factor within which nine of ten ratios were, either way.
    pub off: f64,
    /// Ratios.
    pub rows: u32,
    /// Of so many machines.
    pub machines: u32,
}

/// The share of ratios within the factor.
const SHARE: f64 = 0.9;
/// The fewest ratios, and the fewest machines, that tell something.
const LEAST_ROWS: usize = 4;
const LEAST_MACHINES: usize = 2;

/// The pairs of programs in held-out rows.
pub(super) fn pairs(rows: &[HeldOutRow]) -> Vec<Pair> {
    let mut errors: BTreeMap<(String, String, Reach), Vec<(usize, f64)>> = BTreeMap::new();
    for (i, a) in rows.iter().enumerate() {
        for b in &rows[..i] {
            let job = |of: &HeldOutRow| {
                let has_work = [of.row.critical_ns, of.row.parallel_ns].map(|ns| ns > 0.0);
                (of.machine, of.group.reach, of.row.threads, has_work)
            };
            let [one, other] = ordered([a, b].map(program));
            if job(a) == job(b) && one != other {
                let [x, y] = [a, b].map(|of| (of.predicted / of.row.ns).ln());
                let of = errors.entry((one, other, a.group.reach)).or_default();
                of.push((a.machine, (x - y).abs()));
            }
        }
    }
    let pair = |((one, other, reach), mut errors): ((String, String, Reach), Vec<(usize, f64)>)| {
        let machines: BTreeSet<usize> = errors.iter().map(|(machine, _)| *machine).collect();
        if errors.len() < LEAST_ROWS || machines.len() < LEAST_MACHINES {
            return None;
        }
        errors.sort_by(|a, b| a.1.total_cmp(&b.1));
        let within = (SHARE * (errors.len() + 1) as f64).ceil() as usize;
        let (_, size) = errors[within.min(errors.len()) - 1];
        Some(Pair {
            one,
            other,
            reach,
            off: size.exp(),
            rows: u32::try_from(errors.len()).unwrap_or(u32::MAX),
            machines: u32::try_from(machines.len()).unwrap_or(u32::MAX),
        })
    };
    errors.into_iter().filter_map(pair).collect()
}

/// The keys of two programs, in the order of their pair.
pub(super) fn ordered(programs: [Program; 2]) -> [String; 2] {
    let mut keys = programs.map(Program::key);
    keys.sort();
    keys
}

fn program(row: &HeldOutRow) -> Program {
    Program {
        workload: row.row.workload,
        relax: row.row.relax,
    }
}
