//! Made-up fleets, in which it is known what should be found, and the tests of the analysis on them.

pub mod cases;
#[cfg(test)]
mod edges;
#[cfg(test)]
mod found;
#[cfg(test)]
mod heavy;
#[cfg(test)]
pub(crate) mod outputs;
#[cfg(test)]
mod rates;
#[cfg(test)]
mod shapes;

#[cfg(test)]
use super::{Settings, analyse};
use crate::record::Unit;
use crate::record::fleet::{Member, Row};
#[cfg(test)]
use crate::record::fleet_report::FleetReport;
use crate::stats::random::Source;
use std::sync::Arc;

/// A fleet with known spreads. Each is the standard deviation of the logarithm.
#[derive(Clone, Copy)]
pub struct Made {
    /// Groups, which differ in their microcode.
    pub groups: usize,
    pub machines: usize,
    pub runs: usize,
    /// Rows of a record; the first are headlines.
    pub rows: usize,
    /// Between groups, of each row.
    pub between_groups: f64,
    pub between_machines: f64,
    pub between_runs: f64,
    /// The correlation of a machine's rows: what it has in common in all of them.
    pub correlation: f64,
    /// The same seed gives the same fleet.
    pub seed: u64,
}

/// A small fleet.
pub const MADE: Made = Made {
    groups: 2,
    machines: 30,
    runs: 3,
    rows: 4,
    between_groups: 0.1,
    between_machines: 0.02,
    between_runs: 0.01,
    correlation: 0.6,
    seed: 1,
};

/// The headlines, in the order in which made-up fleets have them; further rows are no headlines.
const NAMES: [(&str, &str); 6] = [
    ("lock-prefix", "lock-inc64"),
    ("null-syscall", "getppid"),
    ("popf", "push-popf"),
    ("rdtsc", "lfence-rdtsc"),
    ("arc", "arc-locked"),
    ("clock", "now"),
];

fn names(row: usize) -> (Arc<str>, Arc<str>) {
    match NAMES.get(row) {
        Some((experiment, variant)) => (Arc::from(*experiment), Arc::from(*variant)),
        None => (Arc::from(format!("experiment-{row:02}")), Arc::from("variant")),
    }
}

impl Made {
    /// The standard deviation of a machine's figure within its group.
    fn sigma(&self) -> f64 {
        // The median of three runs has a variance of 0.449 of one, of two half of it.
        let share = [0.0, 1.0, 0.5, 0.449][self.runs.min(3)];
        (self.between_machines.powi(2) + self.between_runs.powi(2) * share).sqrt()
    }

    /// What each group has in each row, less 3.
    fn levels(&self) -> Vec<Vec<f64>> {
        let mut s = Source::new(self.seed ^ 0x5eed);
        let level = |s: &mut Source| (0..self.rows).map(|_| self.between_groups * s.normal()).collect();
        (0..self.groups).map(|_| level(&mut s)).collect()
    }

    /// The records. `bend` may change a machine's runs of a row, which are logarithms; it is given the group, the machine and the row.
    pub fn members(&self, bend: impl Fn(usize, usize, usize, &mut Vec<f64>)) -> Vec<Member> {
        let mut s = Source::new(self.seed);
        let names: Vec<_> = (0..self.rows).map(names).collect();
        let mut members = Vec::with_capacity(self.groups * self.machines);
        for (group, level) in self.levels().iter().enumerate() {
            for machine in 0..self.machines {
                let common = s.normal() * self.correlation.sqrt();
                let rows = level.iter().enumerate().map(|(row, level)| {
                    let own = common + s.normal() * (1.0 - self.correlation).sqrt();
                    let centre = 3.0 + level + self.between_machines * own;
                    let mut runs: Vec<f64> = (0..self.runs)
                        .map(|_| centre + self.between_runs * s.normal())
                        .collect();
                    bend(group, machine, row, &mut runs);
                    made_row(&names[row], &runs)
                });
                let rows: Vec<Row> = rows.collect();
                let runs = rows.first().map_or(self.runs, |row| row.runs.len().max(1));
                members.push(member(&node(group, machine), group, runs, rows));
            }
        }
        members
    }
}

/// Machines that are not like their group: one of each of the first ten groups.
const PLANTED: usize = 10;

impl Made {
    /// The machine of `group` that is planted, if one is.
    fn planted_of(&self, group: usize) -> Option<usize> {
        (group < PLANTED).then(|| group * self.machines / PLANTED)
    }

    /// The names of the planted machines.
    pub fn planted(&self) -> Vec<String> {
        let name = |group| Some(node(group, self.planted_of(group)?));
        (0..self.groups).filter_map(name).collect()
    }
}

/// Bends a fleet so that each planted machine is at exactly `sigmas` of its group in one row, whatever it was made as.
pub fn planted(made: Made, sigmas: f64) -> impl Fn(usize, usize, usize, &mut Vec<f64>) {
    let levels = made.levels();
    move |group, machine, row, runs| {
        if made.planted_of(group) == Some(machine) && row == group {
            runs.fill(3.0 + levels[group][row] + sigmas * made.sigma());
        }
    }
}

/// Multiplies the figures of a machine's runs, which are logarithms.
fn shift(runs: &mut [f64], times: f64) {
    runs.iter_mut().for_each(|run| *run += times.ln());
}

fn node(group: usize, machine: usize) -> String {
    format!("n{group}-{machine:05}")
}

fn made_row(names: &(Arc<str>, Arc<str>), runs: &[f64]) -> Row {
    let runs: Vec<f64> = runs.iter().map(|log| log.exp()).collect();
    Row {
        experiment: Arc::clone(&names.0),
        variant: Arc::clone(&names.1),
        unit: Unit::TicksPerOp,
        n: 100,
        value: (runs.iter().map(|x| x.ln()).sum::<f64>() / runs.len() as f64).exp(),
        runs: if runs.len() > 1 { runs } else { Vec::new() },
        ..Row::default()
    }
}

fn member(node: &str, group: usize, runs: usize, rows: Vec<Row>) -> Member {
    let mut member = Member {
        file: format!("{node}.json"),
        digest: node.to_owned(),
        runs,
        rows,
        ..Member::default()
    };
    member.machine.identity.node = Some(node.to_owned());
    member.machine.identity.microcode = Some(format!("0xa00{group}"));
    member.machine.cpu_model = "AMD EPYC".to_owned();
    member.machine.tsc_hz = 2.5e9;
    member.machine.cpus = 2;
    member
}

#[cfg(test)]
fn settings() -> Settings {
    Settings {
        by: Vec::new(),
        fdr: 0.05,
    }
}

#[cfg(test)]
fn report(members: Vec<Member>) -> FleetReport {
    analyse(members, &[], Vec::new(), &settings()).unwrap()
}

/// The report on one group of so many machines and rows, whose runs are bent.
#[cfg(test)]
fn report_of(machines: usize, rows: usize, bend: impl Fn(usize, usize, &mut Vec<f64>)) -> FleetReport {
    let made = Made {
        groups: 1,
        machines,
        rows,
        between_groups: 0.0,
        ..MADE
    };
    report(made.members(|_, machine, row, runs| bend(machine, row, runs)))
}

/// Fails unless a note has all of these parts.
#[cfg(test)]
#[track_caller]
fn assert_noted(report: &FleetReport, parts: &[&str]) {
    let has_all = |note: &String| parts.iter().all(|part| note.contains(part));
    assert!(report.notes.iter().any(has_all), "{parts:?}: {:?}", report.notes);
}

/// How many fleets a rate is taken over: more where CYCLEWISE_LONG is set, as CI does.
#[cfg(test)]
fn fleets(short: u64, long: u64) -> u64 {
    match std::env::var_os("CYCLEWISE_LONG") {
        Some(_) => long,
        None => short,
    }
}

/// Nothing is changed.
#[cfg(test)]
fn as_made(_: usize, _: usize, _: usize, _: &mut Vec<f64>) {}
