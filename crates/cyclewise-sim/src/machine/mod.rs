//! A machine: where its CPUs are, what moving a line costs, and the laws by which lines move.

mod cost;
mod latency;
mod line;
mod parse;
mod presets;
mod topology;
mod validate;

pub use cost::Cost;
pub use latency::Latency;
pub use line::{Arbiter, Cap, FailedCas, FirstAccess, Hold, Home, LineRules, Rmw};
pub use parse::ParseError;
pub use presets::Preset;
pub use topology::{Distance, Place, Topology};
pub use validate::MAX_CPUS;

use crate::Relax;
use serde::{Deserialize, Serialize};

/// The keys that hold a figure or a law, by their dotted names: what `fitted` may name.
pub const KEYS: &[&str] = &[
    "ghz",
    "latency.hit_ns",
    "latency.sibling_ns",
    "latency.cluster_ns",
    "latency.socket_ns",
    "latency.remote_ns",
    "line.arbiter",
    "line.hold",
    "line.first_access",
    "line.failed_cas",
    "line.rmw",
    "line.home",
    "line.ll_first_access",
    "line.ll_hold",
    "line.probe_share",
    "cost.alu_cycles",
    "cost.store_cycles",
    "cost.rmw_cycles",
    "cost.cas_cycles",
    "cost.ll_sc_cycles",
    "cost.pause_cycles",
    "cost.read_cycles",
    "cost.invalidate_cycles",
    "cost.jitter",
];

/// The units that a published figure may have.
pub const UNITS: &[&str] = &["ns/op", "retries/op", "ratio"];

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
    /// What its loops did between tries.
    #[serde(default)]
    pub relax: Relax,
    /// The figure.
    pub value: f64,
    /// What it counts, one of [`UNITS`].
    pub unit: String,
    /// Who published it, and where.
    pub source: String,
}

impl Machine {
    /// How long a line is on its way between CPUs so far apart, in nanoseconds.
    ///
    /// Latencies are measured by a ping-pong of compare-and-exchange, and a line that has arrived is exchanged before it
    /// can go back: this is what remains of one without the exchange, and at least a hit. So on the i7-6700K, at about
    /// 4.2 GHz, 20 ns are 15.7 ns of transfer and 18 cycles; the rows of `fetch_add` on the i7-6700HQ at 2.6 GHz, 22.1 ns,
    /// are 15.1 ns and 18 cycles.
    #[must_use]
    pub fn transfer_ns(&self, distance: Distance) -> f64 {
        let exchange = f64::from(self.cost.cas_cycles) / self.ghz;
        (self.latency.of(distance) - exchange).max(self.latency.hit_ns)
    }

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
                // As a ping-pong measures them: 8, 40 and 120 ns on the way, and an exchange of 6.
                sibling_ns: Some(14.0),
                cluster_ns: None,
                socket_ns: Some(46.0),
                remote_ns: Some(126.0),
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
