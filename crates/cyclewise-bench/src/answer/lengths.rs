//! The ratios of rows that are not linear, in loops of each length.

use crate::number;
use crate::record::{Interval, bounds};

/// A ratio with its 95 % interval.
pub(super) type Ratio = (f64, [f64; 2]);

/// The ratios at each length: the one nearest to 1 with the interval of all, and the least and the greatest.
pub(super) fn of_lengths(at: &[(f64, f64, Interval)]) -> Option<(Ratio, [Ratio; 2])> {
    let ratios: Vec<Ratio> = at.iter().map(|(_, ratio, ci95)| (*ratio, bounds(*ci95))).collect();
    let by = |of: fn(&Ratio) -> f64| ratios.iter().min_by(|x, y| of(x).total_cmp(&of(y))).copied();
    let (least, most) = (by(|r| r.0)?, by(|r| -r.0)?);
    let nearest = by(|r| r.0.ln().abs())?;
    // A bound that is not known at one length is not known of all.
    let widest = |bound: usize, of: fn(f64, f64) -> f64| {
        let mut bounds = ratios.iter().map(|r| r.1[bound]);
        let known = bounds.clone().all(f64::is_finite);
        bounds
            .next()
            .filter(|_| known)
            .map_or(f64::NAN, |first| bounds.fold(first, of))
    };
    let hull = [widest(0, f64::min), widest(1, f64::max)];
    Some(((nearest.0, hull), [least, most]))
}

/// `0.21–1.30×`, or one ratio where the two read the same.
pub(super) fn times_of_range([least, most]: [Ratio; 2]) -> String {
    let [low, high] = [least, most].map(|(ratio, ci95)| number::ratio(ratio, ci95));
    match low == high {
        true => format!("{low}×"),
        false => format!("{low}–{high}×"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Finding;
    use super::super::made_up::{comparison, said};
    use crate::record::{BetweenRuns, Comparison, PairAtLength, Paired, Reason, Unit, Verdict};

    /// A comparison at 4, 8 and 16 copies with these ratios.
    fn at_lengths(verdict: Verdict, ratios: [f64; 3]) -> Comparison {
        let figure = |ratio: f64| Paired {
            ratio,
            ratio_ci95: [Some(0.99 * ratio), Some(1.01 * ratio)],
            ..Paired::default()
        };
        Comparison {
            headline: Some(figure(17.6)),
            lengths: [4.0, 8.0, 16.0]
                .into_iter()
                .zip(ratios)
                .map(|(copies, ratio)| PairAtLength {
                    copies,
                    figures: vec![figure(ratio)],
                    between: None,
                })
                .collect(),
            ..comparison(verdict, 17.6, [17.0, 18.0])
        }
    }

    #[test]
    fn rows_that_are_not_linear_show_the_ratios_of_all_lengths_and_never_that_of_slopes() {
        let faster = at_lengths(Verdict::Faster, [0.25, 0.8, 0.5]);
        assert_eq!(
            said(&faster),
            [
                "0.250–0.800× ds: faster (at every length)",
                "lock is faster than ds: 0.250–0.800× the time (95\u{a0}% 0.25–0.81).",
                "less than nothing (0.250–0.800×)"
            ]
        );
        let finding = Finding::of_comparison(&faster, Unit::TicksPerOp);
        assert_eq!(finding.ratio, 0.8, "the one nearest to 1");
        assert_eq!(finding.relation(), "lock takes 0.250–0.800× the time of ds");
        assert_eq!(
            said(&at_lengths(Verdict::Slower, [1.1, 1.5, 1.2]))[2],
            "1.10–1.50 times"
        );
        let mut undecided = at_lengths(Verdict::Undecided, [0.25, 1.3, 1.5]);
        undecided.reason = Some(Reason::not_linear(": faster at 4 copies, slower at 8 and 16"));
        let said_of = said(&undecided);
        assert_eq!(
            said_of[0],
            "0.250–1.50× ds: undecided (not linear: faster at 4 copies, slower at 8 and 16)"
        );
        assert!(said_of.iter().all(|s| !s.contains("17.6")), "{said_of:?}");
        // The twin: without the lengths it is that of the slopes.
        undecided.lengths.clear();
        assert_says!(said(&undecided)[0], "17.6");
    }

    #[test]
    fn figures_between_runs_and_bounds_that_are_not_known_are_those_of_the_lengths() {
        let mut c = at_lengths(Verdict::Slower, [1.1, 1.5, 1.2]);
        c.lengths[1].between = Some(BetweenRuns {
            runs: 3,
            value: 1.9,
            ci95: [Some(1.7), Some(2.1)],
        });
        let finding = Finding::of_comparison(&c, Unit::TicksPerOp);
        assert!(
            finding.times().ends_with("–1.90×") && finding.ci95[1] == 2.1,
            "{:?}",
            finding.ci95
        );
        c.lengths[2].figures[0].ratio_ci95 = [None, Some(1.3)];
        let finding = Finding::of_comparison(&c, Unit::TicksPerOp);
        assert!(finding.ci95[0].is_nan() && finding.ci95[1] == 2.1, "{:?}", finding.ci95);
    }
}
