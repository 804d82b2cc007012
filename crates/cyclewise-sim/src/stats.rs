//! The formulas of the examination.

/// The median; for an even number of values the mean of the middle two; NaN for none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len() % 2) {
        (Some(high), 0) => f64::midpoint(sorted[middle - 1], *high),
        (Some(only), _) => *only,
        (None, _) => f64::NAN,
    }
}

/// The mean; NaN of none.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The exponent of the best power law: the slope of the least-squares line through the points' logarithms.
pub(crate) fn exponent(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let logs = || points.iter().map(|(x, y)| (x.ln(), y.ln()));
    let mean_x = logs().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs().map(|(_, y)| y).sum::<f64>() / count;
    let covariance: f64 = logs().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logs().map(|(x, _)| (x - mean_x).powi(2)).sum();
    covariance / variance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_mean_is_of_all_values() {
        assert!((mean(&[1.0, 2.0, 6.0]) - 3.0).abs() < 1e-12);
        assert!(mean(&[]).is_nan());
    }

    #[test]
    fn a_power_law_has_its_exponent() {
        let points: Vec<_> = [1.0, 2.0, 4.0, 8.0_f64].map(|x| (x, 5.0 * x.powf(1.7))).to_vec();
        assert!((exponent(&points) - 1.7).abs() < 1e-12);
    }
}
