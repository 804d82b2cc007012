//! The outcome of a job.

use serde::{Deserialize, Serialize};

/// The figures of a simulated run, without its warm-up; times are simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The number of threads, without readers.
    pub threads: u32,
    /// Finished operations.
    pub ops: u64,
    /// Elapsed time.
    pub elapsed_ns: f64,
    /// Elapsed time per operation of all threads: the inverse of the throughput.
    pub ns_per_op: f64,
    /// Throughput of all threads.
    pub ops_per_s: f64,
    /// Latency of operations, from begin to end.
    pub latency: Latencies,
    /// Jain's index of the threads' operation counts: 1 is fair; 1/threads means that one thread did everything.
    pub jain: f64,
    /// Operations of the slowest thread, as a share of what each would have in equal parts; absent if these are fewer than 16, since then a
    /// slow thread may be chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest_share: Option<f64>,
    /// The longest wait of any thread for an operation, including unfinished ones.
    pub longest_wait_ns: f64,
    /// Failed tries per successful update.
    pub retries_per_success: f64,
    /// Moves of contended lines between cores or to their home, per operation.
    pub line_moves_per_op: f64,
    /// Operations per exclusive fill of a contended line.
    pub ops_per_ownership: f64,
    /// Share of the updates that gave up trying and took the lock.
    pub fallback_share: f64,
    /// Events that the engine processed, including the warm-up.
    pub events: u64,
    /// Operations before those that are counted.
    #[serde(default)]
    pub warm_up_ops: u64,
    /// Whether throughput was found to be stationary; `None` if the job fixes its length, and so nothing was tested.
    #[serde(default)]
    pub stationary: Option<bool>,
}

impl Outcome {
    /// Whether a thread made less than a tenth of an equal share of the operations.
    pub fn starves(&self) -> bool {
        self.slowest_share.is_some_and(|share| share < 0.1)
    }
}

/// Latency percentiles in nanoseconds, to three digits; the maximum is exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// Median.
    pub p50_ns: f64,
    /// 90th percentile.
    pub p90_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
    /// 99.9th percentile.
    pub p999_ns: f64,
    /// Maximum.
    pub max_ns: f64,
}
