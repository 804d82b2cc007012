//! What is asked of a ratio.

/// Whether an interval of ratios is on one side of 1.
pub fn excludes_one([low, high]: [f64; 2]) -> bool {
    low > 1.0 || high < 1.0
}

/// The difference of two figures of this ratio as a share of the larger, which is the unit of the noise floor.
pub fn difference(ratio: f64) -> f64 {
    1.0 - ratio.min(1.0 / ratio)
}

/// Whether a ratio is within the margin of "same".
pub fn within(ratio: f64, margin: f64) -> bool {
    (ratio - 1.0).abs() < margin
}
