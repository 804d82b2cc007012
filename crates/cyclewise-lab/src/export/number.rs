//! Numbers as people read them: as many digits as the uncertainty allows.

/// `value` with two significant digits of `uncertainty` after the point (zero to six); without one, four significant.
pub(super) fn figure(value: f64, uncertainty: f64) -> String {
    format!("{:.*}", decimals(value, uncertainty), value)
}

fn decimals(value: f64, uncertainty: f64) -> usize {
    let (of, keep) = if uncertainty > 0.0 {
        (uncertainty, 1)
    } else {
        (value.abs(), 3)
    };
    if of <= 0.0 || !of.is_finite() {
        return 0;
    }
    (keep - of.log10().floor() as i32).clamp(0, 6) as usize
}

/// An interval, each end with the digits its width allows.
pub(super) fn interval(ends: [f64; 2]) -> String {
    let half = (ends[1] - ends[0]) / 2.0;
    format!("{} … {}", figure(ends[0], half), figure(ends[1], half))
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p >= 10.0 => format!("{p:.0} %"),
        p if p >= 1.0 => format!("{p:.1} %"),
        p => format!("{p:.2} %"),
    }
}

/// A p value; tiny ones as a bound, because no test means them to the last digit.
pub(super) fn p_value(p: f64) -> String {
    match p {
        p if p < 1e-99 => "< 1e-99".to_string(),
        p if p < 1e-4 => format!("{p:.0e}"),
        p => format!("{p:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_uncertainty() {
        assert_eq!(figure(11.53412, 0.0213), "11.534");
        assert_eq!(figure(275.31, 3.2), "275.3");
        assert_eq!(figure(123456.7, 4200.0), "123457");
        assert_eq!(figure(0.58012, 0.00004), "0.580120");
        assert_eq!(figure(0.0, 0.0), "0");
        assert_eq!(figure(f64::NAN, f64::NAN), "NaN");
    }

    #[test]
    fn tiny_p_is_a_bound() {
        assert_eq!(p_value(0.0), "< 1e-99");
        assert_eq!(p_value(3.2e-9), "3e-9");
        assert_eq!(p_value(0.9620), "0.9620");
    }
}
