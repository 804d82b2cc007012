//! The limits of the primitives on the machines of records: what each costs beside its lower bound, and beside peers.
//!
//! # Invariants
//! 1. A row that a record lacks is nothing, and never an error: older records have fewer rows.
//! 2. A row that is no cost is in no ratio of costs. It is named with the reason, unless another row of its experiment stands for it; one
//!    that is not linear has the range of its costs, and is compared at each length.
//! 3. All figures of a primitive on a machine are of one record.
//! 4. A row of our row's experiment is never replaced by one of another experiment.

mod by_length;
mod machines;
mod microarchitecture;
mod primitives;
mod ratio;

pub use primitives::{PRIMITIVES, Primitive, Row};
pub use ratio::{ByLength, Measured, Ratio};

use crate::record::{AtLength, Interval, Record, Unit};
use crate::stats;

/// What the records say of all primitives.
#[derive(Debug)]
pub struct Limits {
    /// The machines, in the order of their first records.
    pub machines: Vec<OnMachine>,
    /// Records without a row of any primitive, by when they were made.
    pub without: Vec<String>,
}

#[derive(Debug)]
pub struct OnMachine {
    /// A short name, which no other machine has: `AMD Zen 4`, or the brand string.
    pub name: String,
    pub model: String,
    pub cpus: u32,
    /// The whole: CPU, how many, hypervisor, kernel.
    pub description: String,
    /// The records that its figures are of: when each was made, from which commit, and how long a tick is.
    pub records: Vec<String>,
    /// Whether a record's slopes are of two lengths, so that no row of it is tested for linearity.
    pub untested: bool,
    /// One for each of [`PRIMITIVES`].
    pub primitives: Vec<PrimitiveCosts>,
}

/// A primitive on one machine; what is not known is `None`.
#[derive(Clone, Debug, Default)]
pub struct PrimitiveCosts {
    /// The limit, of all its operations.
    pub limit: Option<Cost>,
    pub ours: Option<Cost>,
    /// Ours relative to the limit.
    pub to_limit: Option<Ratio>,
    pub peer: Option<Cost>,
    /// Ours relative to it.
    pub to_peer: Option<Ratio>,
}

/// Why a row's figure is no cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCost {
    /// The time is not linear in the copies.
    NotLinear,
    /// It is not positive; or it is of two lengths, without LOCK, and above the same primitive with LOCK.
    NotACost,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    pub row: String,
    /// The figure, in the unit.
    pub value: Result<f64, NoCost>,
    pub ci95: Interval,
    pub unit: Unit,
    /// The least and the greatest cost by the loop around it, of a row that is not linear.
    pub range: Option<[AtLength; 2]>,
    /// What such a row adds among other instructions, at least and at most, where that was measured.
    pub adds: Option<[f64; 2]>,
}

impl Cost {
    fn of_measured(measured: Measured, figure: Result<f64, NoCost>, times: u32) -> Self {
        let (_, mut ci95) = measured.variant.value();
        // Older records have no interval of the median; their samples do.
        if ci95 == [None, None] && measured.variant.headline.is_none() {
            ci95 = stats::Median::of_series(&measured.variant.samples).map_or([None, None], |m| m.interval(0.95));
        }
        let times = f64::from(times);
        let row = [measured.experiment.name.as_str(), measured.variant.name.as_str()];
        let adds = measured
            .record
            .adds_among(row)
            .filter(|_| figure == Err(NoCost::NotLinear));
        Self {
            row: measured.variant.name.clone(),
            value: figure.map(|value| value * times),
            ci95: ci95.map(|bound| bound.map(|bound| bound * times)),
            unit: measured.experiment.unit,
            range: measured.variant.cost_range().map(|range| {
                range.map(|at| AtLength {
                    cost: at.cost * times,
                    ci95: at.ci95.map(|bound| bound.map(|bound| bound * times)),
                    ..at
                })
            }),
            adds: adds.map(|adds| adds.map(|ticks| ticks * times)),
        }
    }
}

/// The limits on the machines of these records, the oldest record first.
pub fn on_machines(mut records: Vec<Record>) -> Limits {
    records.sort_by_key(|r| (machines::when(&r.created), r.created.clone()));
    let has_rows = |r: &Record| PRIMITIVES.iter().any(|p| first(r, p.ours).is_some());
    let (records, without): (Vec<Record>, Vec<Record>) = records.into_iter().partition(has_rows);
    let groups = machines::by_machine(&records);
    let mut machines: Vec<OnMachine> = groups.iter().map(|group| on_machine(group)).collect();
    machines::tell_apart(&mut machines);
    Limits {
        machines,
        without: without.iter().map(|r| plain(&r.created)).collect(),
    }
}

fn on_machine(records: &[&Record]) -> OnMachine {
    let machine = &records[records.len() - 1].machine;
    let hypervisor = machine
        .hypervisor_name()
        .map_or(String::new(), |h| format!(", under {h}"));
    let (cpus, s) = (machine.cpus, if machine.cpus == 1 { "" } else { "s" });
    OnMachine {
        name: plain(&machines::name(machine)),
        model: plain(&machine.cpu_model),
        cpus,
        description: plain(&format!(
            "{}, {}, {cpus} CPU{s}{hypervisor}, Linux {}",
            machine.cpu_model, machine.cpu_id, machine.kernel
        )),
        records: records.iter().map(|r| plain(&described(r))).collect(),
        untested: records.iter().any(|r| is_of_two_lengths(r)),
        primitives: PRIMITIVES.iter().map(|p| found(p, records)).collect(),
    }
}

/// Whether the record is of a version whose slopes were of two lengths, so that none is tested for linearity. Records of
/// these versions name no runs.
fn is_of_two_lengths(record: &Record) -> bool {
    let mut rows = record.experiments.iter().flat_map(|e| &e.variants);
    record.runs.is_empty() && rows.all(|v| v.linearity.is_none())
}

/// Text of a record without what would break a line, a cell of a table or the terminal, make a link, or turn the text round.
fn plain(text: &str) -> String {
    let turns =
        |c: char| matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || "|<>`[]".contains(c);
    text.replace(|c: char| breaks(c) || turns(c), " ")
}

/// `2026-11-22, commit 831f432, 1 tick = 0.435 ns`.
fn described(record: &Record) -> String {
    let day = record.created.split('T').next().unwrap_or_default();
    let commit = record.tool.commit.as_deref().map_or(String::new(), |c| {
        format!(", commit {}", c.chars().take(7).collect::<String>())
    });
    let tick = match record.machine.tsc_hz {
        hz if hz > 0.0 => format!(", 1 tick = {:.3} ns", 1e9 / hz),
        _ => String::new(),
    };
    let untested = match is_of_two_lengths(record) {
        true => ", slopes of two lengths, not tested for linearity",
        false => "",
    };
    format!("{day}{commit}{tick}{untested}")
}

fn first<'a>(record: &'a Record, rows: &[Row]) -> Option<Measured<'a>> {
    rows.iter().find_map(|row| Measured::of_row(record, *row))
}

/// The figures of the newest record with both our row and a limit's, or else with ours.
fn found(p: &Primitive, records: &[&Record]) -> PrimitiveCosts {
    let newest = |wanted: &dyn Fn(&Record) -> bool| records.iter().rev().copied().find(|r| wanted(r));
    let has_ours = |r: &Record| first(r, p.ours).is_some();
    let record = newest(&|r| has_ours(r) && first(r, p.limit).is_some()).or_else(|| newest(&has_ours));
    let Some((record, ours)) = record.and_then(|r| Some((r, first(r, p.ours)?))) else {
        return PrimitiveCosts::default();
    };
    // Without the locked row, or where slopes are tested, nothing is known to be above a cost.
    let locked = p.locked.filter(|_| is_of_two_lengths(record));
    let most = locked
        .and_then(|row| Measured::of_row(record, row))
        .map(|m| m.variant.value().0);
    let bounded = |row: Measured| row.cost(most);
    let unbounded = |row: Measured| row.cost(None);
    let (ours, limit, peer) = (
        (ours, bounded(ours)),
        best(record, p.limit, ours, &bounded),
        best(record, p.peers, ours, &unbounded),
    );
    let ratio = |other: Option<Figured>, times| {
        let (other, cost) = other?;
        match [ours.1, cost] {
            [Ok(_), Ok(_)] => Ratio::between(ours.0, other, times),
            either if either.contains(&Err(NoCost::NotACost)) => None,
            _ => Ratio::by_length(ours.0, other, times),
        }
    };
    PrimitiveCosts {
        limit: limit.map(|(row, cost)| Cost::of_measured(row, cost, p.times)),
        ours: Some(Cost::of_measured(ours.0, ours.1, 1)),
        to_limit: ratio(limit, p.times),
        peer: peer.map(|(row, cost)| Cost::of_measured(row, cost, 1)),
        to_peer: ratio(peer, 1),
    }
}

/// A row, and its figure or why it is no cost.
type Figured<'a> = (Measured<'a>, Result<f64, NoCost>);

/// The fastest of the rows that a record has; if none is a cost, the first of them. Rows of the experiment of ours are
/// paired with it: where there is one, it is one of those.
fn best<'a>(
    record: &'a Record,
    rows: &[Row],
    ours: Measured<'a>,
    cost: &dyn Fn(Measured<'a>) -> Result<f64, NoCost>,
) -> Option<Figured<'a>> {
    let mut known: Vec<Figured> = rows
        .iter()
        .filter_map(|row| Measured::of_row(record, *row))
        .map(|row| (row, cost(row)))
        .collect();
    let is_beside = |row: &Figured| row.0.experiment.name == ours.experiment.name;
    if known.iter().any(is_beside) {
        known.retain(is_beside);
    }
    let of = |row: &Figured| row.1.unwrap_or(f64::INFINITY);
    known.into_iter().min_by(|x, y| of(x).total_cmp(&of(y)))
}

#[cfg(test)]
mod tests;
