//! The search for the laws with the least badness.

use super::{Fit, JITTER, LAW, MeasuredRow, reach, scaled, scaled_names};
use crate::machine::{Arbiter, Cap, Distance, Hold};
use crate::{Machine, simulate};

/// The spread between two runs of a row, as a logarithm: the unit of badness.
const SPREAD: f64 = 0.1;

/// The probe shares to try.
const SHARES: [f64; 5] = [0.0, 0.15, 0.3, 0.5, 0.7];

/// The holds to try, in operations: each lasts this many read-modify-writes plus a half, because it matters how many fit.
const HOLDS: [u32; 6] = [1, 2, 3, 4, 6, 8];

/// For how many of the best laws scales are tried.
const KEPT: usize = 6;

/// The scales to try, from the middle outwards.
const SCALES: [f64; 12] = [1.0, 0.95, 1.05, 0.9, 1.1, 0.85, 1.15, 0.8, 1.2, 0.7, 1.3, 1.5];

struct Candidate {
    machine: Machine,
    scale: f64,
    simulated_ns: Vec<f64>,
    laws: f64,
    badness: f64,
}

pub(super) fn search(base: &Machine, rows: &[MeasuredRow]) -> Fit {
    let mut simulated = 0;
    let mut judge = |machine: Machine, scale: f64, laws: f64| {
        let simulated_ns: Vec<f64> = rows.iter().map(|row| outcome(&machine, row)).collect();
        simulated += u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let squares = rows
            .iter()
            .zip(&simulated_ns)
            .map(|(row, ns)| square(ns / row.ns_per_op));
        let badness = squares.sum::<f64>() + square(scale) + laws * LAW;
        Candidate {
            machine,
            scale,
            simulated_ns,
            laws,
            badness,
        }
    };
    let has_exchanges = rows
        .iter()
        .any(|row| row.workload == crate::Workload::CasLoop && row.threads > 1);
    let mut candidates = Vec::new();
    for (arbiter, arbiter_law) in arbiters(base, rows, has_exchanges) {
        for (hold, hold_law) in holds(base) {
            for share in SHARES {
                let mut machine = base.clone();
                machine.line.arbiter = arbiter;
                machine.line.hold = hold;
                machine.line.probe_share = share;
                let share_law = if share > 0.0 { 1.0 } else { 0.0 };
                candidates.push(judge(machine, 1.0, arbiter_law + hold_law + share_law));
            }
        }
    }
    // A stable sort, so that of equal candidates the first wins.
    candidates.sort_by(|a, b| a.badness.total_cmp(&b.badness));
    candidates.truncate(KEPT);
    let exchange_ns = f64::from(base.cost.cas_cycles) / base.ghz;
    let mut best: Option<Candidate> = None;
    for candidate in candidates {
        for scale in SCALES {
            let mut machine = candidate.machine.clone();
            machine.latency = scaled(base.latency, exchange_ns, scale);
            let tried = judge(machine, scale, candidate.laws);
            if best.as_ref().is_none_or(|best| tried.badness < best.badness) {
                best = Some(tried);
            }
        }
    }
    let best = best.unwrap_or_else(|| judge(base.clone(), 1.0, 0.0));
    finish(base, best, rows, simulated)
}

fn finish(base: &Machine, best: Candidate, rows: &[MeasuredRow], simulated: u32) -> Fit {
    let mut machine = best.machine;
    let mut fitted: Vec<String> = ["line.arbiter", "line.hold", "line.probe_share", "cost.alu_cycles"]
        .map(str::to_owned)
        .to_vec();
    #[expect(clippy::float_cmp, reason = "an item of the list")]
    if best.scale != 1.0 {
        fitted.extend(scaled_names(&machine.latency));
    }
    if JITTER > 0.0 {
        fitted.push("cost.jitter".to_owned());
    }
    machine.fitted = fitted;
    machine.published.clone_from(&base.published);
    Fit {
        machine,
        rows: rows.iter().copied().zip(best.simulated_ns).collect(),
        scale: best.scale,
        simulated,
    }
}

fn square(ratio: f64) -> f64 {
    (ratio.ln() / SPREAD).powi(2)
}

/// The simulated ns/op of a row; a very long time if there is no progress.
fn outcome(machine: &Machine, row: &MeasuredRow) -> f64 {
    const NEVER: f64 = 1e9;
    simulate(machine, &row.job()).map_or(NEVER, |outcome| outcome.ns_per_op)
}

/// The arbiters that the rows can distinguish, each with its number of laws.
fn arbiters(base: &Machine, rows: &[MeasuredRow], has_exchanges: bool) -> Vec<(Arbiter, f64)> {
    let mut arbiters = vec![(Arbiter::Fifo, 0.0)];
    if has_exchanges {
        arbiters.push((Arbiter::Random, 1.0));
    }
    // Within one cluster all distances are equal, and nearest-first is first come, first served.
    if reach(base.topology, rows) > Distance::Cluster {
        arbiters.extend([1, 4, 16].map(|count| (Arbiter::Nearest { cap: Cap::Count(count) }, 1.0)));
    }
    arbiters
}

/// The holds, each with its number of laws.
///
/// A hold counts as two laws, its existence and its length. Rows shorter than transfers are more often due to requests that travel
/// while they wait, which every protocol has, than to owners that keep the line.
fn holds(base: &Machine) -> Vec<(Hold, f64)> {
    let operation = base.cost.rmw_cycles + base.cost.alu_cycles;
    let cycles = |ops: u32| operation * ops + operation / 2;
    let holds = HOLDS.map(|ops| (Hold::Fixed { cycles: cycles(ops) }, 2.0));
    std::iter::once((Hold::None, 0.0)).chain(holds).collect()
}
