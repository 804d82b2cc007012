//! Times to move a line, by distance.

use super::Distance;
use serde::{Deserialize, Serialize};

/// One-way transfer times in nanoseconds: half a ping-pong between two CPUs. A class without a value has that of the next
/// farther class, or else of the next nearer one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// A load that hits the core's own cache.
    pub hit_ns: f64,
    /// The share by which the time of a transfer varies either way, uniformly: pairs of CPUs at one distance differ.
    #[serde(default = "usual_spread")]
    pub spread: f64,
    /// Between threads of a core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sibling_ns: Option<f64>,
    /// Between cores of a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_ns: Option<f64>,
    /// Between clusters of a socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_ns: Option<f64>,
    /// Between sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_ns: Option<f64>,
}

/// The spread of a machine file that does not say it. In the matrices of core-to-core-latency for ten machines, nine of ten pairs at one
/// distance are within 3 to 20 % of their median.
pub const USUAL_SPREAD: f64 = 0.15;

const fn usual_spread() -> f64 {
    USUAL_SPREAD
}

impl Latency {
    /// All classes but siblings, `by` times as long: they are measured together. Siblings do not move lines.
    pub(crate) fn scaled(self, exchange_ns: f64, by: f64) -> Self {
        // A tenth of a nanosecond is more than the measurements' precision.
        let tenths = |ns: f64| (ns * 10.0).round() / 10.0;
        // Farther classes are not faster.
        let least = self.sibling_ns.unwrap_or(0.0).max(self.hit_ns);
        // The exchange is not part of the transfer, so it is not scaled.
        let class =
            |ns: Option<f64>| ns.map(|ns| tenths((ns - exchange_ns).max(0.0) * by + exchange_ns.min(ns)).max(least));
        Self {
            hit_ns: self.hit_ns,
            spread: self.spread,
            sibling_ns: self.sibling_ns,
            cluster_ns: class(self.cluster_ns),
            socket_ns: class(self.socket_ns),
            remote_ns: class(self.remote_ns),
        }
    }

    /// The time for a distance, in nanoseconds.
    pub fn of(&self, distance: Distance) -> f64 {
        let classes = [self.sibling_ns, self.cluster_ns, self.socket_ns, self.remote_ns];
        let class = match distance {
            Distance::Same => return self.hit_ns,
            Distance::Sibling => 0,
            Distance::Cluster => 1,
            Distance::Socket => 2,
            Distance::Remote => 3,
        };
        let (nearer, farther) = classes.split_at(class);
        let farther = farther.iter().flatten().next();
        *farther.or(nearer.iter().rev().flatten().next()).unwrap_or(&self.hit_ns)
    }
}
