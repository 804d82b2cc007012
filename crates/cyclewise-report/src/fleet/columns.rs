//! Machines and groups of a fleet, and their figures in columns, in nanoseconds where the record has ticks.
//!
//! All records of a node are one machine, and their runs its runs. A node whose records differ in the facts of its group (it was
//! given another kernel between them) is as many machines. Records without a node's name are machines of their own.

use super::figures::{Column, Kept, Measured};
use super::group::{self, Fact};
use crate::record::fleet::{Member, Problem, ProblemKind};
use crate::record::fleet_report::{Group, MachineHead};
use crate::record::{Cgroup, Warning};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What is known of a machine besides its figures.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Warnings of its records, each once: without the figures in them, and as it was.
    pub warnings: Vec<(String, Warning)>,
    pub cgroup: Option<Cgroup>,
    /// How often the engine has requeued its jobs.
    pub restarts: u32,
}

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

/// Columns of what was read, whose machines are grouped by `facts`.
pub(super) fn columns(measured: Measured, facts: &[Fact]) -> Fleet {
    let Measured { records, figures } = measured;
    let mut fleet = Fleet {
        records: records.len(),
        ..Fleet::default()
    };
    let mut gathering = Gathering {
        of_record: vec![None; figures.records()],
        ..Gathering::default()
    };
    fleet.columns = figures.into_columns();
    for kept in records {
        let machine = gathering.machine(&kept.member, facts);
        gathering.figures(machine, &kept, &mut fleet);
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
    /// The machine of each record that was read; `None` if the record does not count.
    of_record: Vec<Option<u32>>,
}

impl Gathering {
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
            let mut warning = warning.clone();
            *warning.text_mut() = group::plain(&warning);
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

    /// Says whose the figures of a record are, which are in the columns already.
    fn figures(&mut self, machine: u32, kept: &Kept, fleet: &mut Fleet) {
        self.of_record[kept.record as usize] = Some(machine);
        if kept.without_ticks {
            let hz = kept.member.machine.tsc_hz;
            fleet.problems.push(Problem {
                name: group::plain(&kept.member.file),
                kind: ProblemKind::Mangled,
                why: format!("machine.tsc_hz is {hz}, which is no rate of a tick: figures in ticks cannot be converted and are left out"),
            });
        }
        fleet.left_out += kept.left_out;
        for column in &kept.firsts {
            fleet.columns[*column as usize].firsts += 1;
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
        let of_record = self.of_record.iter().map(|old| old.map(|old| place[old as usize]));
        let of_record: Vec<Option<u32>> = of_record.collect();
        for column in &mut fleet.columns {
            column.in_order_of(&of_record);
        }
        // Those of records that do not count.
        fleet.columns.retain(|column| !column.values.is_empty());
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
