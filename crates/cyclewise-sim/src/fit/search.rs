//! The search: lists of laws, a badness, and the best.

use super::{Fit, JITTER, LAW, MeasuredRow, reach, stretched, stretched_names};
use crate::machine::{Arbiter, Cap, Distance, Hold};
use crate::{Machine, simulate};

/// How far two runs of a row lie apart, as a logarithm: the unit of badness.
const SPREAD: f64 = 0.1;

/// Shares of the probe that are tried.
const SHARES: [f64; 5] = [0.0, 0.15, 0.3, 0.5, 0.7];

/// Holds that are tried, in operations: so many read-modify-writes and half of one, for what counts is how many fit.
const HOLDS: [u32; 6] = [1, 2, 3, 4, 6, 8];

/// How many of the best laws are stretched.
const KEPT: usize = 6;

/// Stretches, tried from the middle outwards.
const STRETCHES: [f64; 12] = [1.0, 0.95, 1.05, 0.9, 1.1, 0.85, 1.15, 0.8, 1.2, 0.7, 1.3, 1.5];

struct Candidate {
    machine: Machine,
    stretch: f64,
    seen: Vec<f64>,
    laws: f64,
    badness: f64,
}

pub(super) fn search(base: &Machine, rows: &[MeasuredRow]) -> Fit {
    let mut simulated = 0;
    let mut judge = |machine: Machine, stretch: f64, laws: f64| {
        let seen: Vec<f64> = rows.iter().map(|row| outcome(&machine, row)).collect();
        simulated += u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let squares = rows.iter().zip(&seen).map(|(row, seen)| square(seen / row.ns_per_op));
        let badness = squares.sum::<f64>() + square(stretch) + laws * LAW;
        Candidate {
            machine,
            stretch,
            seen,
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
    // Stable, so that of equals the first in the lists wins.
    candidates.sort_by(|a, b| a.badness.total_cmp(&b.badness));
    candidates.truncate(KEPT);
    let exchange_ns = f64::from(base.cost.cas_cycles) / base.ghz;
    let mut best: Option<Candidate> = None;
    for candidate in candidates {
        for stretch in STRETCHES {
            let mut machine = candidate.machine.clone();
            machine.latency = stretched(base.latency, exchange_ns, stretch);
            let tried = judge(machine, stretch, candidate.laws);
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
    if best.stretch != 1.0 {
        fitted.extend(stretched_names(&machine.latency));
    }
    if JITTER > 0.0 {
        fitted.push("cost.jitter".to_owned());
    }
    machine.fitted = fitted;
    machine.published.clone_from(&base.published);
    Fit {
        machine,
        rows: rows.iter().copied().zip(best.seen).collect(),
        stretch: best.stretch,
        simulated,
    }
}

fn square(ratio: f64) -> f64 {
    (ratio.ln() / SPREAD).powi(2)
}

/// What a machine makes of a row; where nothing gets done, a time as bad as any.
fn outcome(machine: &Machine, row: &MeasuredRow) -> f64 {
    const NEVER: f64 = 1e9;
    simulate(machine, &row.job()).map_or(NEVER, |outcome| outcome.ns_per_op)
}

/// Arbiters that the rows can tell apart, each with how many laws it is.
fn arbiters(base: &Machine, rows: &[MeasuredRow], has_exchanges: bool) -> Vec<(Arbiter, f64)> {
    let mut arbiters = vec![(Arbiter::Fifo, 0.0)];
    if has_exchanges {
        arbiters.push((Arbiter::Random, 1.0));
    }
    // Within one cluster all are as near, and nearest first is first come first served.
    if reach(base.topology, rows) > Distance::Cluster {
        arbiters.extend([1, 4, 16].map(|count| (Arbiter::Nearest { cap: Cap::Count(count) }, 1.0)));
    }
    arbiters
}

/// Holds that make a difference: of so many operations.
///
/// A hold counts as two laws, that there is one and how long: rows that are shorter than transfers are more often those of
/// requests that travel while they wait, which every protocol has, than those of owners that keep the line.
fn holds(base: &Machine) -> Vec<(Hold, f64)> {
    let operation = base.cost.rmw_cycles + base.cost.alu_cycles;
    let cycles = |ops: u32| operation * ops + operation / 2;
    let holds = HOLDS.map(|ops| (Hold::Fixed { cycles: cycles(ops) }, 2.0));
    std::iter::once((Hold::None, 0.0)).chain(holds).collect()
}
