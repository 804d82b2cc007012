//! A machine: its topology, transfer times, laws of line ownership and instruction costs.

mod cost;
mod held_out;
mod latency;
mod line;
mod mechanism;
mod parse;
mod presets;
mod template;
mod topology;
mod validate;

pub use cost::Cost;
pub use held_out::HeldOut;
pub use latency::{Latency, USUAL_SPREAD};
pub use line::{Arbiter, FirstAccess, Hold, LineRules, Queue, Rmw};
pub use mechanism::{Fill, Mechanisms};
pub use parse::ParseError;
pub use presets::Preset;
pub use template::template;
pub use topology::{CpuTopology, Distance, Topology};
pub use validate::MAX_CPUS;

use crate::Relax;
use serde::{Deserialize, Serialize};

/// The dotted keys with a value or a law, which `fitted` may name.
pub const KEYS: &[&str] = &[
    "ghz",
    "latency.hit_ns",
    "latency.spread",
    "latency.sibling_ns",
    "latency.cluster_ns",
    "latency.socket_ns",
    "latency.remote_ns",
    "line.arbiter",
    "line.hold",
    "line.first_access",
    "line.rmw",
    "line.ll_first_access",
    "line.ll_hold",
    "line.probe_share",
    "line.queue",
    "cost.alu_cycles",
    "cost.store_cycles",
    "cost.rmw_cycles",
    "cost.cas_cycles",
    "cost.ll_sc_cycles",
    "cost.pause_cycles",
    "cost.read_cycles",
    "cost.invalidate_cycles",
    "cost.jitter",
    "mechanism.store_buffer",
    "mechanism.posted_rmws",
    "mechanism.fill",
    "mechanism.downgrade_cycles",
];

/// The families of published machines.
pub const FAMILIES: &[&str] = &["amd-chiplet", "apple", "arm-ll-sc", "arm-lse", "intel-monolithic"];

/// The units of published figures.
pub const UNITS: &[&str] = &["ns/op", "retries/op", "ratio"];

/// A machine to simulate on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The short name.
    pub name: String,
    /// What the machine is, and the sources of its figures.
    pub about: String,
    /// Machines with the same kind of interconnect and atomics: predictions are judged by the published ones that were held out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Whether no contended row gives the scale of its times, so that only ratios and orders are told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub topology_only: bool,
    /// Core clock; converts the cycles below to time.
    pub ghz: f64,
    /// Sockets, clusters, cores and threads.
    pub topology: Topology,
    /// Transfer times of lines.
    pub latency: Latency,
    /// The laws of line ownership.
    pub line: LineRules,
    /// Costs of instructions.
    pub cost: Cost,
    /// What cores and homes do beside.
    #[serde(default)]
    pub mechanism: Mechanisms,
    /// Dotted keys of the values above that were fitted or assumed, not measured.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Measured rows, with what a fit without them predicted: the evidence of how good predictions for this machine are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_out: Vec<HeldOut>,
    /// Published figures, to compare simulated ones with.
    #[serde(default)]
    pub published: Vec<Published>,
}

/// A published figure, measured on the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Name of the closest workload.
    pub workload: String,
    /// Number of threads.
    pub threads: u32,
    /// Relax policy of its loops.
    #[serde(default)]
    pub relax: Relax,
    /// The figure.
    pub value: f64,
    /// Its unit, one of [`UNITS`].
    pub unit: String,
    /// Author and place of publication.
    pub source: String,
}

impl Machine {
    /// The number of CPUs.
    pub fn cpus(&self) -> u32 {
        self.topology.cpus()
    }

    /// The time that a line is in transit over a distance, in nanoseconds.
    ///
    /// A latency is measured by a ping-pong of compare-and-exchange, so it includes one exchange. This is the latency without the
    /// exchange, and at least a hit. On the i7-6700K at about 4.2 GHz, 20 ns are a transfer of 15.7 ns and 18 cycles; the
    /// `fetch_add` rows of the i7-6700HQ at 2.6 GHz, 22.1 ns, are 15.1 ns and 18 cycles.
    pub fn transfer_ns(&self, distance: Distance) -> f64 {
        let exchange = f64::from(self.cost.cas_cycles) / self.ghz;
        (self.latency.of(distance) - exchange).max(self.latency.hit_ns)
    }

    /// A machine of round numbers with the simplest laws: first come, first served, no hold, 3 GHz.
    pub fn plain(topology: Topology) -> Self {
        Self {
            name: "plain".to_string(),
            about: "Round numbers; not a real machine".to_string(),
            family: None,
            topology_only: false,
            ghz: 3.0,
            topology,
            latency: Latency {
                hit_ns: 1.0,
                spread: 0.0,
                // Transfers of 8, 40 and 120 ns, plus an exchange of 6 ns.
                sibling_ns: Some(14.0),
                cluster_ns: None,
                socket_ns: Some(46.0),
                remote_ns: Some(126.0),
            },
            line: LineRules {
                arbiter: Arbiter::Fifo,
                hold: Hold::None,
                first_access: FirstAccess::Shared,
                rmw: Rmw::Near,
                ll_first_access: None,
                ll_hold: None,
                probe_share: 0.0,
                queue: Queue::AtOwner,
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
            mechanism: Mechanisms::default(),
            fitted: Vec::new(),
            held_out: Vec::new(),
            published: Vec::new(),
        }
    }
}
