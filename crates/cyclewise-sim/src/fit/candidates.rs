//! The laws to try: each candidate is an arbiter, a hold, a probe share, a place for read-modify-writes and a store buffer, and belongs to
//! the family of its kinds.

use super::measured::MeasuredRow;
use crate::machine::{Arbiter, Cap, Distance, Hold, Queue, Rmw};
use crate::{Machine, Topology, Workload};

/// The probe shares to try, with where requests wait. A wait at the home has an effect like a hold, so a third of a transfer is much.
const PROBES: [(f64, Queue); 8] = [
    (0.0, Queue::AtOwner),
    (0.15, Queue::AtOwner),
    (0.3, Queue::AtOwner),
    (0.5, Queue::AtOwner),
    (0.7, Queue::AtOwner),
    (0.1, Queue::AtHome),
    (0.2, Queue::AtHome),
    (0.3, Queue::AtHome),
];

/// The holds to try, in operations: each lasts this many read-modify-writes plus a half, because it matters how many fit.
const HOLDS: [u32; 6] = [1, 2, 3, 4, 6, 8];

/// Stores in a buffer, assumed: cores have from twenty to more than a hundred, and outcomes depend on it only when it is full.
const BUFFER: u32 = 32;

/// Laws with their values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) arbiter: Arbiter,
    pub(super) hold: Hold,
    pub(super) probe_share: f64,
    pub(super) queue: Queue,
    pub(super) rmw: Rmw,
    pub(super) store_buffer: u32,
}

/// The kinds of a candidate's laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) arbiter: &'static str,
    pub(super) hold: &'static str,
    pub(super) probe_share: &'static str,
    pub(super) queue: &'static str,
    pub(super) rmw: &'static str,
    pub(super) store_buffer: &'static str,
}

impl Candidate {
    pub(super) fn family(&self) -> Family {
        Family {
            arbiter: match self.arbiter {
                Arbiter::Fifo => "fifo",
                Arbiter::Random => "random",
                Arbiter::Nearest { .. } => "nearest",
                Arbiter::Batch { .. } => "batch",
            },
            hold: match self.hold {
                Hold::None => "none",
                Hold::Fixed { .. } => "fixed",
            },
            probe_share: if self.probe_share > 0.0 { "above 0" } else { "0" },
            queue: match self.queue {
                Queue::AtOwner => "at-owner",
                Queue::AtHome => "at-home",
            },
            rmw: match self.rmw {
                Rmw::Near => "near",
                Rmw::Far { .. } => "far",
            },
            store_buffer: if self.store_buffer > 0 { "some" } else { "none" },
        }
    }

    /// The machine with these laws.
    pub(super) fn on(&self, base: &Machine) -> Machine {
        let mut machine = base.clone();
        machine.line.arbiter = self.arbiter;
        machine.line.hold = self.hold;
        machine.line.probe_share = self.probe_share;
        machine.line.queue = self.queue;
        machine.line.rmw = self.rmw;
        machine.mechanism.store_buffer = self.store_buffer;
        machine
    }
}

impl Family {
    /// How many laws it has beyond the simplest.
    ///
    /// A hold counts as two laws, its existence and its length. Rows shorter than transfers are more often due to requests that travel
    /// while they wait, which every protocol has, than to owners that keep the line. A store buffer is no law more: every core has one,
    /// and what is asked is whether the rows show it.
    pub(super) fn laws(&self) -> u32 {
        let one = |is_there: bool| u32::from(is_there);
        one(self.arbiter != "fifo")
            + 2 * one(self.hold != "none")
            + one(self.probe_share != "0")
            + one(self.rmw != "near")
    }

    /// Its kinds, with their keys.
    pub(super) fn kinds(&self) -> [(&'static str, &'static str); 6] {
        [
            ("line.arbiter", self.arbiter),
            ("line.hold", self.hold),
            ("line.probe_share", self.probe_share),
            ("line.queue", self.queue),
            ("line.rmw", self.rmw),
            ("mechanism.store_buffer", self.store_buffer),
        ]
    }
}

/// All candidates, the simplest first.
pub(super) fn all(base: &Machine, rows: &[MeasuredRow]) -> Vec<Candidate> {
    let mut all = Vec::new();
    for rmw in places(base, rows) {
        for store_buffer in buffers(rows) {
            for arbiter in arbiters(base, rows) {
                for hold in holds(base) {
                    all.extend(PROBES.map(|(probe_share, queue)| Candidate {
                        arbiter,
                        hold,
                        probe_share,
                        queue,
                        rmw,
                        store_buffer,
                    }));
                }
            }
        }
    }
    all
}

/// Where read-modify-writes are executed: on Arm, which has both, also at the home, in as long as the quickest contended row of
/// `fetch_add` takes for each.
fn places(base: &Machine, rows: &[MeasuredRow]) -> Vec<Rmw> {
    let mut places = vec![Rmw::Near];
    let adds = rows
        .iter()
        .filter(|row| row.workload == Workload::FetchAdd && row.is_contended());
    let quickest = adds.map(|row| row.ns_per_op).reduce(f64::min);
    if let Some(ns) = quickest.filter(|_| base.line.ll_hold.is_some()) {
        places.push(Rmw::Far {
            cycles: crate::exam::whole(ns * base.ghz),
            only_posted: false,
        });
    }
    places
}

/// Whether a row depends on the store buffer: locks are given back by a store.
pub(super) fn shows_the_store_buffer(row: &MeasuredRow) -> bool {
    !matches!(row.workload, Workload::FetchAdd | Workload::CasLoop | Workload::LlSc) && row.is_contended()
}

fn buffers(rows: &[MeasuredRow]) -> Vec<u32> {
    let mut buffers = vec![BUFFER];
    if rows.iter().any(shows_the_store_buffer) {
        buffers.push(0);
    }
    buffers
}

/// Whether a row depends on who is served next: of additions, any next thread adds one, and of two threads only one waits.
pub(super) fn shows_the_arbiter(row: &MeasuredRow) -> bool {
    row.workload != Workload::FetchAdd && row.threads > 2
}

/// The arbiters that the rows can distinguish.
fn arbiters(base: &Machine, rows: &[MeasuredRow]) -> Vec<Arbiter> {
    let mut arbiters = vec![Arbiter::Fifo];
    if rows.iter().any(shows_the_arbiter) {
        arbiters.push(Arbiter::Random);
    }
    // Within one cluster all distances are equal, and nearest-first is first come, first served.
    if reach(base.topology, rows) > Distance::Cluster {
        arbiters.extend([1, 4, 16].map(|count| Arbiter::Nearest { cap: Cap::Count(count) }));
    }
    arbiters
}

fn holds(base: &Machine) -> Vec<Hold> {
    let operation = base.cost.rmw_cycles + base.cost.alu_cycles;
    let cycles = |ops: u32| operation * ops + operation / 2;
    let holds = HOLDS.map(|ops| Hold::Fixed { cycles: cycles(ops) });
    std::iter::once(Hold::None).chain(holds).collect()
}

/// The farthest distance between two threads of a row: nearest-first arbitration needs several distances.
fn reach(topology: Topology, rows: &[MeasuredRow]) -> Distance {
    let most = rows.iter().map(|row| row.threads).max().unwrap_or(1);
    let cores = most.min(topology.cores());
    let last = (cores.max(1) - 1) * topology.threads_per_core;
    topology.distance(0, last).max(if most > cores {
        Distance::Sibling
    } else {
        Distance::Same
    })
}
