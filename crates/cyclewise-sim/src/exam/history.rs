//! Results of earlier examinations: `data/results.toml`. A result stays, good or bad.

use super::WorkloadKind;
use serde::Deserialize;

/// The result of a kind in an earlier examination.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastResult {
    /// Which model and laws were examined.
    pub of: String,
    /// The kind.
    pub kind: WorkloadKind,
    /// Predicted rows.
    pub rows: u32,
    /// Refused rows.
    pub refused: u32,
    /// The median error of the predicted rows; absent for none.
    pub median_error: Option<f64>,
    /// Rows off by more than a factor of 2.
    pub far_off: u32,
    /// Rows whose published figure was in the band.
    pub inside: u32,
}

/// The earlier results, the first one first.
///
/// # Panics
/// Never: a test reads the file.
#[must_use]
pub fn results() -> Vec<PastResult> {
    #[derive(Deserialize)]
    struct File {
        result: Vec<PastResult>,
    }
    let file: File = toml::from_str(include_str!("../../data/results.toml")).expect("a test reads the file");
    file.result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_earlier_result_is_possible() {
        for result in results() {
            assert!(!result.of.is_empty());
            assert_eq!(result.median_error.is_some(), result.rows > 0, "{result:?}");
            assert!(
                result.inside <= result.rows && result.far_off <= result.rows,
                "{result:?}"
            );
        }
    }
}
