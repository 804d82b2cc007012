//! Transfer times in the search: they are scaled together, because they are measured too.

use crate::machine::Latency;

/// Scales the given latency classes by `by`.
pub(crate) fn scaled(latency: Latency, exchange_ns: f64, by: f64) -> Latency {
    // The exchange is not part of the transfer, so it is not scaled.
    // A tenth of a nanosecond is more than the measurements' precision.
    let tenths = |ns: f64| (ns * 10.0).round() / 10.0;
    // Siblings do not move lines, so their latency is not scaled; farther classes are not faster.
    let least = latency.sibling_ns.unwrap_or(0.0).max(latency.hit_ns);
    let class =
        |ns: Option<f64>| ns.map(|ns| tenths((ns - exchange_ns).max(0.0) * by + exchange_ns.min(ns)).max(least));
    Latency {
        hit_ns: latency.hit_ns,
        sibling_ns: latency.sibling_ns,
        cluster_ns: class(latency.cluster_ns),
        socket_ns: class(latency.socket_ns),
        remote_ns: class(latency.remote_ns),
    }
}

/// The names of the given latencies that are scaled.
pub(super) fn scaled_names(latency: &Latency) -> Vec<String> {
    let classes = [
        ("latency.cluster_ns", latency.cluster_ns),
        ("latency.socket_ns", latency.socket_ns),
        ("latency.remote_ns", latency.remote_ns),
    ];
    classes
        .iter()
        .filter(|(_, ns)| ns.is_some())
        .map(|(name, _)| (*name).to_owned())
        .collect()
}
