//! From records to columns: each machine's figures of one row, in nanoseconds where the record has ticks.
//!
//! All records of a node are one machine, and their runs its runs. A node whose records differ in the facts of its group (it was
//! given another kernel between them) is as many machines. Records without a node's name are machines of their own.

use super::group::{self, Fact};
use super::row::bounds_of_runs;
use crate::record::fleet::{Member, Problem, ProblemKind, Row};
use crate::record::fleet_report::{Group, MachineHead, MachineValue};
use crate::record::{Cgroup, Unit, bounds};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The rates that a tick may have: from a counter of 1 MHz to ten times the fastest processor.
const TICKS: RangeInclusive<f64> = 1e6..=1e11;

/// The figures of one row.
pub(super) struct Column {
    pub experiment: Arc<str>,
    pub variant: Arc<str>,
    /// After conversion.
    pub unit: Unit,
    /// The first place that it has in a record.
    pub place: usize,
    /// Records of which it is the experiment's first.
    pub firsts: usize,
    /// One for each record that has it, then one for each machine.
    pub values: Vec<MachineValue>,
    /// The figures of the runs of each value, one after another.
    pub runs: Vec<f64>,
}

/// What is known of a machine besides its figures.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Warnings of its records, each once: without the figures in them, and as it was.
    pub warnings: Vec<(String, String)>,
    pub cgroup: Option<Cgroup>,
    /// How often the engine has requeued its jobs.
    pub restarts: u32,
}

/// A fleet in columns.
#[derive(Default)]
pub(super) struct Fleet {
    pub machines: Vec<MachineHead>,
    pub known: Vec<Known>,
    pub groups: Vec<Group>,
    /// The machines of each group.
    pub members: Vec<Vec<usize>>,
    pub columns: Vec<Column>,
    pub records: usize,
    pub problems: Vec<Problem>,
    /// Figures that are no cost: zero, negative, or not linear in the copies.
    pub left_out: usize,
    /// Nodes that are more than one machine.
    pub changed: Vec<String>,
}

/// A machine while records are read.
struct Gathered {
    node: String,
    facts: usize,
    head: MachineHead,
    known: Known,
}

/// Columns of `members`, whose machines are grouped by `facts`.
pub(super) fn columns(members: Vec<Member>, facts: &[Fact]) -> Fleet {
    let mut fleet = Fleet {
        records: members.len(),
        ..Fleet::default()
    };
    let mut gathering = Gathering::default();
    for member in members {
        let machine = gathering.machine(&member, facts);
        gathering.rows(machine, member, &mut fleet);
    }
    gathering.finish(facts, &mut fleet);
    fleet
}

#[derive(Default)]
struct Gathering {
    machines: Vec<Gathered>,
    by_node: HashMap<(String, usize), u32>,
    /// Distinct values of the facts.
    facts: Vec<Vec<String>>,
    by_facts: HashMap<Vec<String>, usize>,
    by_row: HashMap<(Arc<str>, Arc<str>, &'static str), usize>,
}

impl Gathering {
    /// The machine that a record is of.
    fn machine(&mut self, member: &Member, facts: &[Fact]) -> u32 {
        let values = group::values(facts, member);
        let next = self.facts.len();
        let facts = *self.by_facts.entry(values).or_insert_with_key(|values| {
            self.facts.push(values.clone());
            next
        });
        let identity = &member.machine.identity;
        let node = group::plain(identity.node.as_deref().unwrap_or(&member.file));
        let next = self.machines.len() as u32;
        let machine = *self.by_node.entry((node.clone(), facts)).or_insert_with(|| {
            self.machines.push(Gathered {
                head: MachineHead {
                    name: node.clone(),
                    ..MachineHead::default()
                },
                node,
                facts,
                known: Known::default(),
            });
            next
        });
        let gathered = &mut self.machines[machine as usize];
        gathered.head.files.push(group::plain(&member.file));
        gathered.head.runs += member.runs.max(1);
        for warning in &member.machine.warnings {
            let warning = group::plain(warning);
            gathered.known.warnings.push((without_figures(&warning), warning));
        }
        // Of several the first by its words, so that the order of the records does not matter.
        let limits = identity.cgroup.clone().into_iter().chain(gathered.known.cgroup.take());
        gathered.known.cgroup = limits.min_by_key(ToString::to_string);
        // Of several records the worst: a neighbour that came for one of them.
        let steal = member.machine.steal_share.filter(|share| (0.0..=1.0).contains(share));
        gathered.head.steal = gathered.head.steal.into_iter().chain(steal).reduce(f64::max);
        gathered.known.restarts += identity.job.as_ref().map_or(0, |job| job.restarts);
        machine
    }

    /// Adds a record's rows to the columns.
    fn rows(&mut self, machine: u32, member: Member, fleet: &mut Fleet) {
        let hz = member.machine.tsc_hz;
        let ticks_known = TICKS.contains(&hz);
        if !ticks_known && member.rows.iter().any(|row| row.unit == Unit::TicksPerOp) {
            fleet.problems.push(Problem {
                name: group::plain(&member.file),
                kind: ProblemKind::Mangled,
                why: format!("machine.tsc_hz is {hz}, which is no rate of a tick: figures in ticks cannot be converted and are left out"),
            });
        }
        let mut before = "";
        for (place, row) in member.rows.iter().enumerate() {
            let is_first = *row.experiment != *before;
            before = &row.experiment;
            let (unit, scale) = match row.unit {
                Unit::TicksPerOp if !ticks_known => continue,
                Unit::TicksPerOp => (Unit::NanosPerOp, 1e9 / hz),
                unit => (unit, 1.0),
            };
            if row.n == 0 && row.runs.is_empty() {
                continue;
            }
            let is_cost = |x: f64| x.is_finite() && x > 0.0;
            if row.not_linear || !is_cost(row.value * scale) || !row.runs.iter().all(|x| is_cost(x * scale)) {
                fleet.left_out += 1;
                continue;
            }
            let key = (Arc::clone(&row.experiment), Arc::clone(&row.variant), unit.as_str());
            let next = fleet.columns.len();
            let column = *self.by_row.entry(key).or_insert(next);
            if column == next {
                fleet.columns.push(Column {
                    experiment: Arc::clone(&row.experiment),
                    variant: Arc::clone(&row.variant),
                    unit,
                    place,
                    firsts: 0,
                    values: Vec::new(),
                    runs: Vec::new(),
                });
            }
            let column = &mut fleet.columns[column];
            column.place = column.place.min(place);
            column.firsts += usize::from(is_first);
            column.add(machine, row, scale);
        }
    }

    /// Puts machines in the order of their names, and figures in the order of machines.
    fn finish(self, facts: &[Fact], fleet: &mut Fleet) {
        let mut order: Vec<usize> = (0..self.machines.len()).collect();
        let key = |i: &usize| (&self.machines[*i].node, &self.facts[self.machines[*i].facts]);
        order.sort_by(|a, b| key(a).cmp(&key(b)));
        let mut place = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old] = new as u32;
        }
        let values: Vec<&[String]> = order
            .iter()
            .map(|i| self.facts[self.machines[*i].facts].as_slice())
            .collect();
        let (groups, of) = group::group(facts, &values);
        let mut nodes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (new, old) in order.iter().enumerate() {
            let machine = &self.machines[*old];
            let mut head = machine.head.clone();
            head.group = of[new];
            head.files.sort_unstable();
            let mut known = machine.known.clone();
            known.warnings.sort_unstable();
            known.warnings.dedup_by(|a, b| a.0 == b.0);
            fleet.machines.push(head);
            fleet.known.push(known);
            nodes.entry(&machine.node).or_default().push(new);
        }
        for (node, machines) in nodes.into_iter().filter(|(_, machines)| machines.len() > 1) {
            fleet.changed.push(node.to_owned());
            for machine in machines {
                let label = &groups[of[machine]].label;
                fleet.machines[machine].name = format!("{node} ({label})");
            }
        }
        unique(&mut fleet.machines);
        fleet.members = vec![Vec::new(); groups.len()];
        for (machine, group) in of.iter().enumerate() {
            fleet.members[*group].push(machine);
        }
        fleet.groups = groups;
        for column in &mut fleet.columns {
            column.in_order_of(&place);
        }
        let key = |c: &Column| {
            (
                super::headline::place(&c.experiment),
                Arc::clone(&c.experiment),
                c.place,
                Arc::clone(&c.variant),
            )
        };
        fleet.columns.sort_by_cached_key(|c| (key(c), c.unit.as_str()));
    }
}

impl Column {
    fn add(&mut self, machine: u32, row: &Row, scale: f64) {
        let runs = row.runs.len().max(1);
        self.values.push(MachineValue {
            machine,
            runs: u32::try_from(runs).unwrap_or(u32::MAX),
            n: u32::try_from(row.n).unwrap_or(u32::MAX),
            value: row.value * scale,
            ci95: bounds(row.ci95).map(|bound| bound * scale),
        });
        match row.runs.as_slice() {
            [] => self.runs.push(row.value * scale),
            runs => self.runs.extend(runs.iter().map(|x| x * scale)),
        }
    }

    /// One value for each machine, by the new numbers of machines.
    fn in_order_of(&mut self, place: &[u32]) {
        let mut ends = 0;
        let mut parts: Vec<(MachineValue, usize)> = Vec::with_capacity(self.values.len());
        for value in std::mem::take(&mut self.values) {
            ends += value.runs as usize;
            let machine = place[value.machine as usize];
            parts.push((MachineValue { machine, ..value }, ends));
        }
        parts.sort_unstable_by_key(|(value, end)| (value.machine, *end));
        let mut runs = Vec::with_capacity(self.runs.len());
        self.values.reserve_exact(parts.len());
        for records in parts.chunk_by(|a, b| a.0.machine == b.0.machine) {
            let start = runs.len();
            for (value, end) in records {
                runs.extend_from_slice(&self.runs[end - value.runs as usize..*end]);
            }
            // Whatever the order in which the records were read.
            runs[start..].sort_unstable_by(f64::total_cmp);
            let of_machine = &runs[start..];
            self.values.push(MachineValue {
                runs: of_machine.len() as u32,
                n: records.iter().map(|(value, _)| value.n).fold(0, u32::saturating_add),
                value: middle(of_machine),
                ci95: match records {
                    [(one, _)] => one.ci95,
                    _ => bounds_of_runs(of_machine),
                },
                ..records[0].0
            });
        }
        self.runs = runs;
    }
}

/// Numbers the machines whose names others have: a node may be called as another is with its label.
fn unique(machines: &mut [MachineHead]) {
    let mut taken: HashSet<String> = HashSet::new();
    for machine in machines {
        let name = machine.name.clone();
        let mut n = 1;
        while !taken.insert(machine.name.clone()) {
            n += 1;
            machine.name = format!("{name} #{n}");
        }
    }
}

/// The middle of the sorted figures of a machine's runs; of the two in the middle their geometric mean.
fn middle(runs: &[f64]) -> f64 {
    let half = runs.len() / 2;
    if runs.len() % 2 == 1 {
        runs[half]
    } else {
        runs[half - 1] * (runs[half] / runs[half - 1]).sqrt()
    }
}

/// A warning as it is for all machines that have it: its figures differ from one to the next.
fn without_figures(warning: &str) -> String {
    let mut out = String::with_capacity(warning.len());
    for c in warning.chars() {
        if c.is_ascii_digit() || (c == '.' && out.ends_with('…')) {
            if !out.ends_with('…') {
                out.push('…');
            }
        } else {
            out.push(c);
        }
    }
    out
}
