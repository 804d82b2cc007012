//! The verdict on commands of so few runs that their rounds have no interval: by the exact rank test.
//!
//! Each run is a process of its own, so runs do not depend on each other as samples of one process do. Of five and five that do not
//! overlap the test has p = 0.008. Their ratio lies between those of their ends with more than 95 %, which is what is recorded.

use crate::record::{Paired, Test, Unit, Variant, Verdict};
use crate::stats::{self, Decision};

/// The chance of a false claim, for which nothing is corrected: one in a hundred, as between two records.
const ALPHA: f64 = 0.01;

/// Decides about `a`, and gives the paired figures the interval that they lack. `p_rank` is the rank test's. `None`: it does not decide.
pub(super) fn decide(unit: Unit, p_rank: f64, [a, b]: [&Variant; 2], headline: &mut Paired) -> Option<Decision> {
    let ends = |v: &Variant| stats::describe(&v.samples).map(|s| [s.min, s.max]);
    let ([a_low, a_high], [b_low, b_high]) = (ends(a)?, ends(b)?);
    let is_apart = a_low > b_high || a_high < b_low;
    // Where pairs alone are few, samples were lost, and not by chance.
    let is_few = a.n.max(b.n) < stats::FEWEST_IN_MEDIAN;
    if unit != Unit::Seconds || !is_few || p_rank >= ALPHA || !is_apart || b_low <= 0.0 {
        return None;
    }
    headline.ratio_ci95 = [Some(a_low / b_high), Some(a_high / b_low)];
    headline.ci95 = [Some(a_low - b_high), Some(a_high - b_low)];
    let test = Test {
        name: "rank".to_string(),
        seen: format!("{} and {} runs that do not overlap, p {p_rank:.4}", a.n, b.n),
        passed: true,
    };
    Some(Decision {
        verdict: if a_low > b_high {
            Verdict::Slower
        } else {
            Verdict::Faster
        },
        reason: None,
        tests: vec![test],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Comparison, Control, Experiment, Record, State};
    use crate::runner::give_verdicts;

    /// `n` runs of a command that takes `ratio` of the time of another.
    fn judged(n: usize, ratio: f64, unit: Unit) -> Comparison {
        let of = |name: &str, seconds: f64| Variant {
            name: name.to_string(),
            n,
            samples: [1.0, 1.01, 1.02, 1.03, 1.3][..n].iter().map(|x| x * seconds).collect(),
            ..Variant::default()
        };
        let (a, b) = (of("a", ratio), of("b", 1.0));
        let pairs: Vec<(f64, f64)> = a.samples.iter().copied().zip(b.samples.iter().copied()).collect();
        let c = Comparison {
            a: "a".to_string(),
            b: "b".to_string(),
            p_rank: stats::mann_whitney(&a.samples, &b.samples).unwrap(),
            headline: stats::paired(State::All, &pairs),
            ..Comparison::default()
        };
        let mut record = Record {
            experiments: vec![Experiment {
                unit,
                rounds: n,
                control: Some(Control::default()),
                variants: vec![a, b],
                comparisons: vec![c],
                ..Experiment::default()
            }],
            ..Record::default()
        };
        give_verdicts(&mut record);
        record.experiments.remove(0).comparisons.remove(0)
    }

    #[test]
    fn five_and_five_runs_are_decided_if_they_do_not_overlap() {
        let slower = judged(5, 5.2, Unit::Seconds);
        assert_eq!(slower.verdict, Verdict::Slower, "{slower:?}");
        let [low, high] = slower.ratio_of().1.map(Option::unwrap);
        assert!((low - 4.0).abs() < 1e-9 && (high - 6.76).abs() < 1e-9, "{low} {high}");
        assert_eq!(slower.tests[0].seen, "5 and 5 runs that do not overlap, p 0.0079");
        assert_eq!(judged(5, 0.2, Unit::Seconds).verdict, Verdict::Faster);
    }

    #[test]
    fn fewer_runs_those_that_overlap_and_samples_of_one_process_are_not() {
        for (n, ratio, unit) in [
            (4, 5.2, Unit::Seconds),
            (5, 1.2, Unit::Seconds),
            (5, 5.2, Unit::TicksPerOp),
        ] {
            let c = judged(n, ratio, unit);
            assert_eq!(c.verdict, Verdict::None, "{n} {ratio}");
            assert!(c.reason.unwrap().contains("too few rounds"));
        }
    }
}
