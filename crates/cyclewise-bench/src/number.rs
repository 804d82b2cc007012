//! Numbers for people: as many digits as the uncertainty allows, grouped thousands, "—" if not finite.
//!
//! # Invariants
//! 1. No number has more digits than its uncertainty supports; of unknown uncertainty, it has two.
//! 2. A bound that does not exist is never a number.

use crate::record::{AtLength, bounds};

/// Groups thousands; a line does not break at it.
const THIN_SPACE: char = '\u{202f}';
/// Stands for a missing or non-finite number.
pub const NONE: &str = "—";
/// No measurement is known to more digits than this.
const MOST_DIGITS: i32 = 5;
/// Larger numbers are written with an exponent.
const PLAIN_BELOW: f64 = 1e12;
/// Old records have the least and greatest finite number for bounds that do not exist.
const NO_BOUND: f64 = 1e300;

/// The exponent of the first significant digit.
fn exponent(x: f64) -> i32 {
    x.abs().log10().floor() as i32
}

/// The number of decimals that shows two digits of `uncertainty`; negative if even tens are noise.
pub fn decimals(value: f64, uncertainty: f64) -> i32 {
    if !value.is_finite() {
        return 0;
    }
    let digits = |n: i32| if value == 0.0 { n } else { n - 1 - exponent(value) };
    if uncertainty.is_finite() && uncertainty > 0.0 {
        // 0.0996 is printed as 0.10.
        let leading = exponent(uncertainty * 1.005);
        // The cap must not hide a value smaller than its uncertainty.
        (1 - leading).min(digits(MOST_DIGITS))
    } else if uncertainty == 0.0 {
        digits(4)
    } else {
        digits(2)
    }
}

/// `value` with `decimals` decimals; negative decimals round to tens, hundreds and so on.
pub fn fixed(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if decimals > 9 || value.abs() >= PLAIN_BELOW {
        return scientific(value);
    }
    let places = decimals.max(0) as usize;
    let scale = 10f64.powi(-decimals.min(0));
    let rounded = (value.abs() / scale).round_ties_even() * scale;
    let digits = if decimals < 0 {
        format!("{rounded:.0}")
    } else {
        format!("{:.places$}", value.abs())
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let zero = digits.chars().all(|c| matches!(c, '0' | '.'));
    let mut out = String::new();
    if value < 0.0 && !zero {
        out.push('−');
    }
    out.push_str(&grouped(whole));
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return fixed(value, 0);
    }
    fixed(value, digits - 1 - exponent(value))
}

/// `value` with `decimals` decimals, or more if it would lose its second digit: outliers widen a mean's interval, but do not
/// make the median less certain.
pub fn at_least_two_digits(value: f64, decimals: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return fixed(value, decimals);
    }
    fixed(value, decimals.max(1 - exponent(value)))
}

fn scientific(value: f64) -> String {
    format!("{value:.1e}").replace('-', "−")
}

pub fn count(n: usize) -> String {
    grouped(&n.to_string())
}

/// A count and its noun: `1 machine`, `2 machines`.
pub fn counted(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(n))
}

/// Groups digits by three, from five digits on.
fn grouped(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.to_owned();
    }
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(THIN_SPACE);
        }
        out.push(c);
    }
    out
}

/// Half the width of an interval: the uncertainty that determines the digits.
pub fn half_width(ci: [f64; 2]) -> f64 {
    (ci[1] - ci[0]) / 2.0
}

/// An interval with the digits that its width allows; of one bound, what it says.
pub fn interval(value: f64, ci: [f64; 2]) -> String {
    let exists = |bound: f64| bound.is_finite() && bound.abs() < NO_BOUND;
    match ci.map(exists) {
        [false, false] => NONE.to_owned(),
        [true, false] => format!("≥ {}", fixed(ci[0], decimals(value, (value - ci[0]).abs()))),
        [false, true] => format!("≤ {}", fixed(ci[1], decimals(value, (ci[1] - value).abs()))),
        [true, true] => {
            let d = decimals(value, half_width(ci));
            // A dash next to a minus sign is hard to read.
            let between = if ci[0] < 0.0 { " to " } else { "–" };
            format!("{}{between}{}", fixed(ci[0], d), fixed(ci[1], d))
        }
    }
}

/// A value with the digits that its interval allows.
pub fn estimate(value: f64, ci: [f64; 2]) -> String {
    fixed(value, decimals(value, uncertainty(value, ci)))
}

/// A value with the digits that its interval allows, and at most three: for sentences.
pub fn brief(value: f64, ci: [f64; 2]) -> String {
    if value == 0.0 || !value.is_finite() {
        return estimate(value, ci);
    }
    fixed(value, decimals(value, uncertainty(value, ci)).min(2 - exponent(value)))
}

/// A ratio with the digits that its interval allows: three, or near 1 as many as show two of its distance from 1.
pub fn ratio(value: f64, ci: [f64; 2]) -> String {
    let apart = (value - 1.0).abs();
    if !value.is_finite() || value == 0.0 || apart == 0.0 || apart >= 0.1 {
        return brief(value, ci);
    }
    let shown = (2 - exponent(value)).max(1 - exponent(apart));
    fixed(value, decimals(value, uncertainty(value, ci)).min(shown))
}

/// Half the width of an interval, or the distance to its only bound; NaN if it has none.
pub fn uncertainty(value: f64, ci: [f64; 2]) -> f64 {
    let exists = |bound: f64| bound.is_finite() && bound.abs() < NO_BOUND;
    match ci.map(exists) {
        [true, true] => half_width(ci),
        [true, false] => (value - ci[0]).abs(),
        [false, true] => (ci[1] - value).abs(),
        [false, false] => f64::NAN,
    }
}

/// A value and half the width of its interval: `1.024 ± 0.003`.
pub fn plus_minus(value: f64, ci: [f64; 2]) -> String {
    let half = half_width(ci);
    if half.is_finite() && half > 0.0 {
        let d = decimals(value, half);
        let shown = fixed(half, d);
        if shown.chars().any(|c| c.is_ascii_digit() && c != '0') {
            return format!("{} ± {shown}", fixed(value, d));
        }
    }
    estimate(value, ci)
}

/// A p-value. Below 1e-99 the exponent is an artefact of the approximation.
pub fn p_value(p: f64) -> String {
    match p {
        p if !p.is_finite() => NONE.to_owned(),
        p if p < 1e-99 => "< 1e-99".to_owned(),
        p if p < 0.001 => format!("{p:.0e}"),
        p if p < 0.1 => significant(p, 2),
        p => fixed(p, 2),
    }
}

/// The least and the greatest time of a copy of a row that is not linear, times `scale`: `1.42–6.81`.
pub fn cost_range(range: [AtLength; 2], scale: f64) -> String {
    let [least, most] = range.map(|at| brief(at.cost * scale, bounds(at.ci95).map(|bound| bound * scale)));
    format!("{least}–{most}")
}

/// What a row adds among other instructions, at least and at most: `adds 0 to 2.1 among other instructions`.
pub fn added([least, most]: [f64; 2]) -> String {
    match [least, most].map(|ticks| significant(ticks, 2)) {
        [least, most] if least == most && most == "0" => "adds nothing among other instructions".to_owned(),
        [least, most] if least == most => format!("adds {most} among other instructions"),
        [least, most] => format!("adds {least} to {most} among other instructions"),
    }
}

/// A share as a percentage with two significant digits.
pub fn percent(share: f64) -> String {
    format!("{}\u{a0}%", significant(share * 100.0, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_uncertainty() {
        assert_eq!(plus_minus(20.13456, [20.1223, 20.1469]), "20.135 ± 0.012");
        assert_eq!(
            plus_minus(1_234_567.0, [1_222_222.0, 1_246_912.0]),
            "1\u{202f}235\u{202f}000 ± 12\u{202f}000"
        );
        assert_eq!(interval(0.00745, [-0.30682, 0.32172]), "−0.31 to 0.32");
        assert_eq!(estimate(3.0, [3.0, 3.0]), "3.000");
        assert_eq!(ratio(1.00351, [1.00332, 1.00371]), "1.0035");
        assert_eq!(ratio(1.00351, [0.98, 1.02]), "1.004");
        assert_eq!(ratio(17.9312, [17.92, 17.94]), "17.9");
    }

    #[test]
    fn a_wide_interval_does_not_round_the_median_away() {
        assert_eq!(at_least_two_digits(3.05, -3), "3.0");
        assert_eq!(at_least_two_digits(18.601, 2), "18.60");
    }

    #[test]
    fn non_finite_numbers_are_dashes() {
        assert_eq!(fixed(f64::NAN, 2), NONE);
        assert_eq!(plus_minus(f64::NAN, [f64::NAN; 2]), NONE);
        assert_eq!(interval(1.0, [f64::NEG_INFINITY, f64::INFINITY]), NONE);
        assert_eq!(p_value(f64::NAN), NONE);
    }

    #[test]
    fn a_bound_that_does_not_exist_is_no_number() {
        for none in [f64::NAN, f64::INFINITY, f64::MAX] {
            assert_eq!(interval(1.26, [-none, none]), NONE);
            assert_eq!(interval(1.264, [1.213, none]), "≥ 1.213");
            assert_eq!(interval(1.264, [-none, 1.313]), "≤ 1.313");
            assert_eq!(estimate(1.2643, [-none, none]), "1.3");
            assert_eq!(brief(1.2643, [-none, none]), "1.3");
        }
    }

    #[test]
    fn a_sentence_has_three_digits_or_fewer() {
        assert_eq!(brief(1.26432, [1.26431, 1.26433]), "1.26");
        assert_eq!(brief(426.97, [426.9, 427.1]), "427");
        assert_eq!(brief(0.054321, [0.0543, 0.0544]), "0.0543");
        assert_eq!(brief(12.3, [2.0, 22.0]), "12");
    }

    #[test]
    fn no_number_is_written_with_a_hundred_digits() {
        for odd in [f64::MIN, f64::MAX, 1e300, -3e17, f64::MIN_POSITIVE, 5e-324] {
            for text in [
                fixed(odd, 2),
                significant(odd, 3),
                estimate(odd, [odd, odd]),
                percent(odd),
            ] {
                assert!(text.chars().count() < 24, "{odd:e}: {text}");
            }
        }
    }

    #[test]
    fn tiny_p_values_become_bounds() {
        assert_eq!(p_value(0.0), "< 1e-99");
        assert_eq!(p_value(0.9620), "0.96");
        assert_eq!(p_value(0.0123), "0.012");
        assert_eq!(p_value(3.2e-12), "3e-12");
    }

    #[test]
    fn a_rounded_zero_has_no_sign() {
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(fixed(-12345.6, 1), "−12\u{202f}345.6");
        assert_eq!(percent(0.003), "0.30\u{a0}%");
    }
}
