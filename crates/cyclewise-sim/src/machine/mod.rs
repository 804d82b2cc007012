//! A machine: where its CPUs are, what moving a line costs, and the laws by which lines move.

mod cost;
mod latency;
mod line;
mod topology;

pub use cost::Cost;
pub use latency::Latency;
pub use line::{Arbiter, Cap, FailedCas, FirstAccess, Hold, Home, LineRules, Rmw};
pub use topology::{Distance, Place, Topology};

use serde::{Deserialize, Serialize};

/// A machine to simulate on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Its short name.
    pub name: String,
    /// What it is, and where its figures come from.
    pub about: String,
    /// Clock of its cores: what turns the cycles below into time.
    pub ghz: f64,
    /// Where its CPUs are.
    pub topology: Topology,
    /// What it takes to move a line.
    pub latency: Latency,
    /// The laws of a line.
    pub line: LineRules,
    /// What instructions cost.
    pub cost: Cost,
    /// Dotted names of the fields above that were fitted to an outcome, not measured.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Outcomes that others published, to hold simulated ones against.
    #[serde(default)]
    pub published: Vec<Published>,
}

/// An outcome that somebody measured on the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Name of the workload that comes nearest.
    pub workload: String,
    /// Threads that it was measured with.
    pub threads: u32,
    /// The figure.
    pub value: f64,
    /// What it counts: `ns/op`, `retries`, `ratio`.
    pub unit: String,
    /// Who published it, and where.
    pub source: String,
}

impl Machine {
    /// A machine of round numbers on which no special law holds: first come first served, no hold, 3 GHz.
    #[must_use]
    pub fn plain(topology: Topology) -> Self {
        Self {
            name: "plain".to_string(),
            about: "Round numbers; no machine".to_string(),
            ghz: 3.0,
            topology,
            latency: Latency {
                hit_ns: 1.0,
                sibling_ns: Some(8.0),
                cluster_ns: None,
                socket_ns: Some(40.0),
                remote_ns: Some(120.0),
            },
            line: LineRules {
                arbiter: Arbiter::Fifo,
                hold: Hold::None,
                first_access: FirstAccess::Shared,
                failed_cas: FailedCas::TakesOwnership,
                rmw: Rmw::Near,
                home: Home::Anywhere,
                ll_first_access: None,
                ll_hold: None,
                probe_share: 0.0,
            },
            cost: Cost {
                alu_cycles: 1,
                store_cycles: 1,
                rmw_cycles: 18,
                cas_cycles: 18,
                ll_sc_cycles: 6,
                pause_cycles: 40,
                read_cycles: 0,
                invalidate_cycles: 0,
                jitter: 0.0,
            },
            fitted: Vec::new(),
            published: Vec::new(),
        }
    }
}
