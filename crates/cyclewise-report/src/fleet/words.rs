//! Figures and names in the sentences of a fleet's report.

use crate::number;
use crate::record::Unit;

/// A ratio as in "1.9 times": two digits, or near 1 two of its distance from 1.
pub(super) fn times(ratio: f64) -> String {
    let apart = (ratio - 1.0).abs();
    match ratio {
        _ if apart == 0.0 => "1".to_owned(),
        _ if apart < 0.0095 => number::fixed(ratio, 4),
        _ if apart < 0.095 => number::fixed(ratio, 3),
        _ if ratio < 0.1 => number::significant(ratio, 2),
        _ if ratio < 10.0 => number::fixed(ratio, 2),
        _ => number::significant(ratio, 3),
    }
}

/// A ratio and its interval: `1.12 times [1.10, 1.14]`.
pub(super) fn times_within(ratio: f64, ci: [f64; 2]) -> String {
    // A small ratio has two digits, however many zeros are before them.
    let least = (1.0 - ratio.clamp(1e-12, 1.0).log10().floor()).max(2.0) as i32;
    let decimals = number::decimals(ratio, number::half_width(ci)).clamp(least, least.max(4));
    let [low, high] = ci.map(|bound| number::fixed(bound, decimals));
    format!("{} times [{low}, {high}]", number::fixed(ratio, decimals))
}

/// What a ratio means where that is not the longer time: of times less is faster, of rates less is slower.
pub(super) fn sense(unit: Unit, ratio: f64) -> &'static str {
    match (unit.more_is_faster(), ratio < 1.0) {
        (false, false) => "",
        (false, true) | (true, false) => " (faster)",
        (true, true) => " (slower)",
    }
}

/// A row's name: `lock-prefix/lock-inc64`.
pub(super) fn row(experiment: &str, variant: &str) -> String {
    format!("{experiment} {variant}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_shows_two_digits_of_what_matters() {
        assert_eq!(
            [1.9, 1.034, 1.0034, 0.52, 12.34].map(times),
            ["1.90", "1.034", "1.0034", "0.52", "12.3"]
        );
        assert_eq!(times_within(1.1234, [1.1034, 1.1434]), "1.123 times [1.103, 1.143]");
        assert_eq!([0.00123, 0.0456].map(times), ["0.0012", "0.046"]);
        assert_eq!(times_within(0.00123, [0.0011, 0.0014]), "0.0012 times [0.0011, 0.0014]");
        assert_eq!(times_within(0.05, [0.01, 0.09]), "0.050 times [0.010, 0.090]");
        assert_eq!(times_within(1.3, [0.9, 1.7]), "1.30 times [0.90, 1.70]");
    }

    #[test]
    fn more_operations_a_second_are_faster() {
        assert_eq!(sense(Unit::NanosPerOp, 1.9), "");
        assert_eq!(sense(Unit::NanosPerOp, 0.5), " (faster)");
        assert_eq!(sense(Unit::OpsPerSecond, 0.5), " (slower)");
        assert_eq!(sense(Unit::OpsPerSecond, 1.9), " (faster)");
    }
}
