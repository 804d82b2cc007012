//! A machine from what is published of it, and the job of a row.
//!
//! Transfer times are those of its matrix, which `anchor.rs` scales. Costs of instructions are those of its rows of one thread; without such a row they are
//! those of the nearest instruction that has one. Nothing here depends on a contended row.

use super::data::{PublishedMachine, PublishedRow};
use crate::machine::{FirstAccess, Hold, Latency};
use crate::{Job, Length, Machine, Topology, Workload};

/// A plain step between two accesses: an increment or compare, and a branch.
pub(crate) const ALU_CYCLES: u32 = 2;
/// By how much a step's time varies, so that threads do not run in lockstep; outcomes hardly depend on its size.
pub(crate) const JITTER: f64 = 0.1;
/// LOCK XADD on most x86 cores, where no row of one thread says it: uops.info.
const RMW_CYCLES: u32 = 18;
/// How long a line stays for a store-exclusive: enough for a pair with a step in between.
const LL_HOLD: u32 = 64;

/// What a machine is built of.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'a> {
    pub name: String,
    pub about: String,
    /// Its instruction set.
    pub isa: &'a str,
    pub ghz: f64,
    pub topology: Topology,
    pub latency: Latency,
    pub pause_cycles: u32,
    /// What rows of one thread say.
    pub costs: Costs,
}

/// Costs of instructions in cycles; `None` where no row of one thread gives it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    pub rmw: Option<u32>,
    pub cas: Option<u32>,
    /// Half of a load-exclusive and store-exclusive.
    pub exclusive: Option<u32>,
}

/// The machine with the simplest laws.
pub(crate) fn built(parts: Parts<'_>) -> Machine {
    let mut machine = Machine::plain(parts.topology);
    machine.name = parts.name;
    machine.about = parts.about;
    machine.ghz = parts.ghz;
    machine.latency = parts.latency;
    machine.cost.alu_cycles = ALU_CYCLES;
    machine.cost.pause_cycles = parts.pause_cycles;
    machine.cost.jitter = JITTER;
    if parts.isa == "aarch64" {
        machine.line.ll_first_access = Some(FirstAccess::Exclusive);
        machine.line.ll_hold = Some(Hold::Fixed { cycles: LL_HOLD });
    }
    let Costs { rmw, cas, exclusive } = parts.costs;
    machine.cost.rmw_cycles = rmw.or(exclusive.map(|one| 2 * one)).or(cas).unwrap_or(RMW_CYCLES);
    machine.cost.cas_cycles = cas.unwrap_or(machine.cost.rmw_cycles);
    machine.cost.ll_sc_cycles = exclusive.unwrap_or((machine.cost.rmw_cycles / 2).max(1));
    machine
}

/// The machine with the simplest laws, and the costs that its rows of one thread have.
pub(super) fn machine(published: &PublishedMachine) -> Machine {
    built(Parts {
        name: published.name.clone(),
        about: published.about.clone(),
        isa: &published.isa,
        ghz: published.ghz,
        topology: published.topology,
        latency: published.latency(),
        pause_cycles: published.pause_cycles,
        costs: Costs::of(published.hit_ns * published.ghz, |workload| single(published, workload)),
    })
}

/// The time of an operation of one thread without its other work, in cycles.
fn single(published: &PublishedMachine, workload: Workload) -> Option<f64> {
    let row = published
        .rows()
        .find(|row| row.workload == workload && row.threads == 1)?;
    Some((row.ns - row.critical_ns - row.parallel_ns) * published.ghz)
}

impl Costs {
    /// What rows of one thread give, in cycles: of `fetch_add`, a step and a read-modify-write; of the exchange loop, a load, two steps and an
    /// exchange; of LL/SC, its pair with a step between.
    pub(crate) fn of(hit_cycles: f64, single: impl Fn(Workload) -> Option<f64>) -> Self {
        let step = f64::from(ALU_CYCLES);
        // Get and put.
        let half = |workload| single(workload).map(|both| both / 2.0);
        let add = single(Workload::FetchAdd).or_else(|| half(Workload::Refcount));
        let exchange = single(Workload::CasLoop).or_else(|| half(Workload::LockrefUnbounded));
        Self {
            rmw: add.map(|cycles| whole(cycles - step)),
            cas: exchange.map(|cycles| whole(cycles - hit_cycles - 2.0 * step)),
            exclusive: single(Workload::LlSc).map(|pair| whole((pair - step) / 2.0)),
        }
    }
}

/// Whole cycles, at least one.
pub(crate) fn whole(cycles: f64) -> u32 {
    (cycles.round() as u32).max(1)
}

/// The job that a row measures.
pub(super) fn job(published: &PublishedMachine, row: &PublishedRow) -> Job {
    let cycles = |ns: f64| if ns > 0.0 { whole(ns * published.ghz) } else { 0 };
    let mut job = counted(row.workload, row.threads);
    job.relax = row.relax;
    job.placement = published.placement;
    job.counter = row.counter;
    job.critical_cycles = cycles(row.critical_ns);
    job.parallel_cycles = cycles(row.parallel_ns);
    job
}

/// A job of as many operations as rows are predicted with.
pub(crate) fn counted(workload: Workload, threads: u32) -> Job {
    let each = u64::from(threads);
    Job {
        length: Length::operations(200.max(5 * each), 800.max(10 * each)),
        ..Job::new(workload, threads)
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::machines;
    use super::*;
    use crate::exam::WorkloadKind;
    use crate::exam::laws::{LAWS, Laws, Space};
    use crate::simulate;

    #[test]
    fn rows_of_one_thread_come_out_as_they_are_given() {
        for published in machines() {
            let simple =
                |row: &PublishedRow| WorkloadKind::of(row.workload) != Some(WorkloadKind::Lock) && row.threads == 1;
            for row in published.rows().filter(simple) {
                let machine = Laws::SIMPLEST.apply(&machine(&published));
                let seen = simulate(&machine, &job(&published, &row)).unwrap().ns_per_op;
                // Whole cycles, the jitter, and a step that the program has and the formula does not.
                let error = (seen / row.ns - 1.0).abs();
                assert!(error < 0.12, "{}: {row:?}: {seen}", published.name);
            }
        }
    }

    #[test]
    fn every_machine_obeys_the_rules_of_machine_files() {
        for published in machines() {
            let machine = machine(&published);
            let (space, mut choice) = (Space::full(), [0; LAWS]);
            for law in 0..LAWS {
                for value in 0..space.sizes()[law] {
                    choice[law] = value;
                    space.at(choice).apply(&machine).to_toml().unwrap();
                }
            }
        }
    }

    #[test]
    fn contended_rows_change_no_machine() {
        for mut published in machines() {
            let before = machine(&published);
            for curve in &mut published.curves {
                for (threads, ns) in curve.threads.iter().zip(&mut curve.ns) {
                    *ns *= if *threads > 1 { 3.0 } else { 1.0 };
                }
            }
            assert_eq!(machine(&published), before, "{}", published.name);
        }
    }
}
