//! The figures of an outcome, in the order of columns.

use crate::Outcome;

/// A figure: its column in CSV, its heading and unit on a page, and its value.
pub(super) struct Figure {
    pub(super) csv: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) of: fn(&Outcome) -> f64,
}

macro_rules! figures {
    ($($csv:literal $title:literal $unit:literal $of:expr;)*) => {
        &[$(Figure { csv: $csv, title: $title, unit: $unit, of: $of }),*]
    };
}

pub(super) const FIGURES: &[Figure] = figures! {
    "ops_per_s" "Throughput" "op/s" |o| o.ops_per_s;
    "ns_per_op" "All threads" "ns/op" |o| o.ns_per_op;
    "p50_ns" "p50" "ns" |o| o.latency.p50_ns;
    "p90_ns" "p90" "ns" |o| o.latency.p90_ns;
    "p99_ns" "p99" "ns" |o| o.latency.p99_ns;
    "p999_ns" "p99.9" "ns" |o| o.latency.p999_ns;
    "max_ns" "Slowest" "ns" |o| o.latency.max_ns;
    "jain" "Jain" "index" |o| o.jain;
    "longest_wait_ns" "Longest wait" "ns" |o| o.longest_wait_ns;
    "retries_per_success" "Retries" "per op" |o| o.retries_per_success;
    "line_moves_per_op" "Line moves" "per op" |o| o.line_moves_per_op;
    "ops_per_ownership" "Operations" "per ownership" |o| o.ops_per_ownership;
    "fallback_share" "Took the lock" "share" |o| o.fallback_share;
};
