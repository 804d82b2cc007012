//! Fits a machine to measurements: transfer times by distance, and contended rows of counters and locks.
//!
//! # Procedure
//! As in the examination, whose machines this is one more of:
//! 1. Costs come from the one-thread rows; what a failed exchange does and what a pair of exclusives keeps, from the instruction set.
//! 2. Transfer times are scaled until the row of additions with the fewest threads comes out. Where atomics are executed at the home, that row
//!    gives the home's time instead.
//! 3. The laws are searched (`exam::search`): those that the fewest others of the rows contradict, the simplest of about equal ones.
//! 4. Rows are held out by workload, because what is asked of a fitted machine is what another primitive does on it; with fewer than three
//!    workloads one by one. For each the laws are searched again without it, and the predictions are in the machine, as the band of whatever
//!    is simulated on it later ([`crate::band`]).
//!
//! Nothing is random, so the same measurements give the same machine.
//!
//! # Limits
//! With two threads only one request ever waits, so no row depends on the arbiter. What rows cannot tell is refused ([`fit`]) or said
//! ([`Law::is_told`]).

mod measured;
#[cfg(test)]
mod tests;

pub use measured::{Fit, FittedRow, Law, MEASURED, MeasuredRow, Measurements};

use crate::exam::laws::{ARBITER, Choice, FAR, KEYS, LAWS, Laws, PROBE, STORES, Space};
use crate::exam::{Costs, Parts, Scores, built, counted, scaled_to};
use crate::machine::{Arbiter, Distance, HeldOut, Latency, ParseError};
use crate::{Machine, Workload, simulate};
use std::collections::{BTreeMap, BTreeSet};

/// By how much each law beyond the simplest must reduce the mean error, as in the examination.
const LAW: f64 = 0.005;

/// The most that a row counts, also one without progress: a factor of 4.5.
const MOST: f64 = 1.5;

/// How much slower than a farther class a nearer one may be by chance.
const DISORDER: f64 = 1.1;

/// Fits a machine to measurements (see the module).
///
/// # Errors
/// Which required figure is missing or invalid.
pub fn fit(measured: &Measurements) -> Result<Fit, String> {
    let base = base(measured)?;
    // Report broken rules before the search, which takes a while.
    base.to_toml().map_err(invalid)?;
    let anchor = check(measured)?;
    let rows = measured.rows.as_slice();
    let known = [Known { base, rows, anchor }];
    let space = space(&known[0]);
    let mut scores = Scores::new(&known, &space, LAW, Known::errors);
    // From where requests wait at the owner, a descent of one law at a time does not come to where they wait at the home, and back.
    for probe in 0..space.sizes()[PROBE] {
        scores.start_with(PROBE, probe);
    }
    if known[0].may_be_far() {
        scores.start_with(FAR, 1);
    }
    let chosen = scores.best(&[0], &|_| true);
    let mut held_out: BTreeMap<usize, f64> = BTreeMap::new();
    for fold in folds(rows, anchor) {
        let without = scores.best(&[0], &|row| !fold.contains(row));
        for row in fold {
            held_out.insert(row, known[0].predicted(&space.at(without), row));
        }
    }
    let law = |law: usize| Law {
        key: KEYS[law],
        is_told: scores.tells(chosen, law, &[0]),
    };
    let laws: Vec<Law> = (0..LAWS)
        .filter(|law| *law != FAR || known[0].may_be_far())
        .map(law)
        .collect();
    finished(&known[0], &space, chosen, &held_out, laws)
}

/// The machine of a choice, with the rows and laws that it was fitted to.
fn finished(
    known: &Known<'_>,
    space: &Space,
    chosen: Choice,
    held_out: &BTreeMap<usize, f64>,
    laws: Vec<Law>,
) -> Result<Fit, String> {
    let chosen = space.at(chosen);
    let (mut machine, _) = known.machine(&chosen).ok_or(
        "no transfer times give the row of fetch-add with the fewest threads: measure again, with nothing else on the machine",
    )?;
    let fitted = |(number, row): (usize, &MeasuredRow)| {
        let simulated_ns = known.predicted(&chosen, number);
        // No value is fitted to a lock's row of one thread, so the machine predicts it.
        let is_predicted = row.threads == 1 && !row.gives_a_cost();
        FittedRow {
            row: *row,
            simulated_ns,
            held_out_ns: if is_predicted {
                Some(simulated_ns)
            } else {
                held_out.get(&number).copied()
            },
        }
    };
    let rows: Vec<FittedRow> = known.rows.iter().enumerate().map(fitted).collect();
    let keys = laws
        .iter()
        .map(|law| law.key)
        .chain(["line.queue", "cost.alu_cycles", "cost.jitter"]);
    machine.fitted = keys.map(str::to_owned).collect();
    if chosen.far_share == 0.0 {
        machine.fitted.extend(scaled_names(&machine.latency));
    }
    let predicted = rows.iter().filter_map(|row| Some((row.row, row.held_out_ns?)));
    machine.held_out = predicted
        .map(|(row, ns)| HeldOut::of(&row.job(), row.ns_per_op, ns))
        .collect();
    machine.to_toml().map_err(invalid)?;
    Ok(Fit { machine, rows, laws })
}

fn invalid(error: ParseError) -> String {
    format!("these figures do not give a valid machine: {error}")
}

/// A machine without its laws, and its rows.
struct Known<'a> {
    base: Machine,
    rows: &'a [MeasuredRow],
    /// The row that gives the scale of transfers.
    anchor: usize,
}

impl Known<'_> {
    /// The machine with these laws, and by how much its transfers are longer than measured; `None` if none give the row of additions.
    fn machine(&self, laws: &Laws) -> Option<(Machine, f64)> {
        if laws.far_share > 0.0 {
            return Some((laws.apply(&self.base), 1.0));
        }
        let row = &self.rows[self.anchor];
        scaled_to(&self.base, laws, &counted(row.workload, row.threads), row.ns_per_op)
    }

    /// The error of each contended row, by its number, as a logarithm; and after them that of the transfers, which are the machine's own
    /// and measured too: it counts as much as a third of the rows.
    fn errors(&self, laws: &Laws) -> BTreeMap<usize, f64> {
        let machine = self.machine(laws);
        let error = |(number, row): (usize, &MeasuredRow)| {
            let mut job = counted(row.workload, row.threads);
            job.relax = row.relax;
            let seen = machine.as_ref().and_then(|(machine, _)| simulate(machine, &job).ok());
            (
                number,
                seen.map_or(MOST, |seen| (seen.ns_per_op / row.ns_per_op).ln().abs())
                    .min(MOST),
            )
        };
        let rows = self.rows.iter().enumerate();
        let scale = machine.as_ref().map_or(MOST, |(_, scale)| scale.ln().abs());
        let mut errors: BTreeMap<usize, f64> = rows.filter(|(_, row)| row.is_contended()).map(error).collect();
        let weight = errors.len() as f64 / 3.0;
        errors.insert(self.rows.len(), weight * scale);
        errors
    }

    /// The ns/op of a row in a run of the usual length; a very long time if there is no progress.
    fn predicted(&self, laws: &Laws, row: usize) -> f64 {
        const NEVER: f64 = 1e9;
        let seen = |(machine, _): (Machine, f64)| simulate(&machine, &self.rows[row].job()).ok();
        self.machine(laws).and_then(seen).map_or(NEVER, |seen| seen.ns_per_op)
    }

    /// Whether its instruction set has far atomics.
    fn may_be_far(&self) -> bool {
        self.base.line.ll_hold.is_some()
    }
}

/// The laws that the rows can tell from the simplest ones.
fn space(known: &Known<'_>) -> Space {
    let mut space = Space::full();
    // Of additions, any next thread adds one, and of two threads only one waits.
    if !known
        .rows
        .iter()
        .any(|row| row.workload != Workload::FetchAdd && row.threads > 2)
    {
        space.fix(ARBITER, Arbiter::Fifo, |laws| &mut laws.arbiter);
    }
    // Locks are given back by a store. Every core has a buffer, and what is asked is whether the rows show it.
    let counts = [Workload::FetchAdd, Workload::CasLoop, Workload::LlSc];
    if known
        .rows
        .iter()
        .all(|row| counts.contains(&row.workload) || !row.is_contended())
    {
        space.fix(STORES, crate::exam::laws::STORE_BUFFER, |laws| &mut laws.store_buffer);
    }
    if known.may_be_far() {
        // As long at the home as the quickest contended row of additions takes for each.
        let adds = known
            .rows
            .iter()
            .filter(|row| row.workload == Workload::FetchAdd && row.is_contended());
        let quickest = adds.map(|row| row.ns_per_op).fold(f64::INFINITY, f64::min);
        space.set_far(quickest / known.base.transfer_ns(Distance::Socket));
    } else {
        space.fix(FAR, 0.0, |laws| &mut laws.far_share);
    }
    space
}

/// Which rows are held out together, by their numbers; never the one that gives the scale.
fn folds(rows: &[MeasuredRow], anchor: usize) -> Vec<Vec<usize>> {
    let is_asked = |row: &usize| *row != anchor && rows[*row].is_contended();
    let contended: Vec<usize> = (0..rows.len()).filter(is_asked).collect();
    let names: BTreeSet<&str> = contended.iter().map(|row| rows[*row].workload.name()).collect();
    if names.len() < 3 {
        return contended.into_iter().map(|row| vec![row]).collect();
    }
    let of = |name: &&str| {
        contended
            .iter()
            .copied()
            .filter(|row| rows[*row].workload.name() == *name)
            .collect()
    };
    names.iter().map(of).collect()
}

/// The names of the given latencies that are scaled.
fn scaled_names(latency: &Latency) -> Vec<String> {
    let classes = [
        ("latency.cluster_ns", latency.cluster_ns),
        ("latency.socket_ns", latency.socket_ns),
        ("latency.remote_ns", latency.remote_ns),
    ];
    let given = classes.iter().filter(|(_, ns)| ns.is_some());
    given.map(|(name, _)| (*name).to_owned()).collect()
}

/// The machine with all costs, and the simplest laws.
fn base(measured: &Measurements) -> Result<Machine, String> {
    let single = |workload| {
        let is = |row: &&MeasuredRow| row.workload == workload && row.threads == 1;
        let row = measured.rows.iter().find(is)?;
        Some(row.ns_per_op * measured.ghz)
    };
    if single(Workload::FetchAdd).is_none() {
        return Err("no row of fetch-add with 1 thread: measure one, for the cost of the operation".to_owned());
    }
    let mut machine = built(Parts {
        name: measured.name.clone(),
        about: measured.about.clone(),
        isa: &measured.isa,
        ghz: measured.ghz,
        topology: measured.topology,
        latency: ordered(measured.latency),
        pause_cycles: measured.pause_cycles,
        costs: Costs::of(measured.latency.hit_ns * measured.ghz, single),
    });
    machine.family.clone_from(&measured.family);
    Ok(machine)
}

/// Latencies in order: a class that is slightly faster than a nearer one gets the same value.
fn ordered(mut latency: Latency) -> Latency {
    let mut nearer = latency.hit_ns;
    let classes = [
        &mut latency.sibling_ns,
        &mut latency.cluster_ns,
        &mut latency.socket_ns,
        &mut latency.remote_ns,
    ];
    for ns in classes.into_iter().flatten() {
        if *ns < nearer && *ns * DISORDER >= nearer {
            *ns = nearer;
        }
        nearer = *ns;
    }
    latency
}

/// Checks the rows; gives the number of the one of additions with the fewest threads.
fn check(measured: &Measurements) -> Result<usize, String> {
    let cpus = measured.topology.cpus();
    for (index, row) in measured.rows.iter().enumerate() {
        let is_known = MEASURED.contains(&row.workload);
        let is_time = row.ns_per_op.is_finite() && row.ns_per_op > 0.0;
        if !is_known || !is_time || row.threads == 0 || row.threads > cpus {
            let names: Vec<&str> = MEASURED.iter().map(|workload| workload.name()).collect();
            return Err(format!(
                "row {} is not usable: it needs 1 thread up to the machine's CPUs, a time above 0, and one of {}",
                index + 1,
                names.join(", ")
            ));
        }
    }
    let additions = measured.rows.iter().enumerate();
    let additions = additions.filter(|(_, row)| row.workload == Workload::FetchAdd && row.is_contended());
    let (anchor, _) = additions
        .min_by_key(|(_, row)| row.threads)
        .ok_or("no row of fetch-add with 2 or more threads: measure one, for the cost of moving the line")?;
    if measured.rows.iter().all(|row| row.threads < 3) {
        let what = "no row has 3 threads: with two CPUs only one request ever waits, so the arbiter cannot be told; measure on a machine of at \
                    least 3 CPUs";
        return Err(what.to_owned());
    }
    Ok(anchor)
}
