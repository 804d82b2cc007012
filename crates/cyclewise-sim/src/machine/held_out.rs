//! Predictions that a machine's fit made for rows that it had not seen.

use crate::{Job, Relax, Workload};
use serde::{Deserialize, Serialize};

/// A measured row, and what a machine predicted that was fitted without it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldOut {
    /// The workload.
    pub workload: Workload,
    /// Number of threads.
    pub threads: u32,
    /// Relax policy of its loops.
    #[serde(default)]
    pub relax: Relax,
    /// Measured nanoseconds per operation of all threads.
    pub measured_ns: f64,
    /// The prediction.
    pub predicted_ns: f64,
}

impl HeldOut {
    /// The row that `job` measures, to a picosecond.
    pub fn of(job: &Job, measured_ns: f64, predicted_ns: f64) -> Self {
        let rounded = |ns: f64| (ns * 1000.0).round() / 1000.0;
        Self {
            workload: job.workload,
            threads: job.threads,
            relax: job.relax,
            measured_ns: rounded(measured_ns),
            predicted_ns: rounded(predicted_ns),
        }
    }

    /// The logarithm of predicted by measured.
    pub fn error(&self) -> f64 {
        (self.predicted_ns / self.measured_ns).ln()
    }
}
