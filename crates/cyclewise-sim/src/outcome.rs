//! What came of a job.

use serde::{Deserialize, Serialize};

/// The figures of one simulated run, all of the measured part alone; times are simulated ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How many threads worked; readers are not among them.
    pub threads: u32,
    /// Operations that were done.
    pub ops: u64,
    /// How long that took.
    pub elapsed_ns: f64,
    /// Elapsed time per operation of all threads together: the inverse of the throughput.
    pub ns_per_op: f64,
    /// Throughput of all threads together.
    pub ops_per_s: f64,
    /// How long operations took, each from its beginning to its end.
    pub latency: Latencies,
    /// Jain's index of the threads' counts of operations: 1 is fair, 1/threads is one thread that does all.
    pub jain: f64,
    /// The longest that any thread waited for an operation, also where that was not done by the end.
    pub longest_wait_ns: f64,
    /// Tries in vain per operation.
    pub retries_per_success: f64,
    /// How often the contended lines went from one core to another or back home, per operation.
    pub line_moves_per_op: f64,
    /// Operations per exclusive stay of a contended line at a core.
    pub ops_per_ownership: f64,
    /// Share of the operations that gave up trying and took the lock.
    pub fallback_share: f64,
    /// Events that the engine has processed for all of this, warm-up included.
    pub events: u64,
}

/// Percentiles of the operations' latencies, in nanoseconds, to three digits; the maximum is exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// Half of them took at most so long.
    pub p50_ns: f64,
    /// 90 % of them.
    pub p90_ns: f64,
    /// 99 % of them.
    pub p99_ns: f64,
    /// 999 of 1000.
    pub p999_ns: f64,
    /// The slowest.
    pub max_ns: f64,
}
