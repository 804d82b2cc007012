//! What a comparison of paired rounds comes to, and which tests decide it.
//!
//! | verdict | rule, in the order in which it is asked |
//! |---|---|
//! | no verdict | fewer than six effective rounds: there is no interval |
//! | faster, slower | the 95 % interval of the median difference excludes 0, its p is under 5 % after Holm's correction over the record, and the difference exceeds the noise floor |
//! | same | the 95 % interval of the ratio lies within ± the margin: two one-sided tests at 2.5 %; not if a difference of more than 1 % is proven that the floor hides, nor if the margin is more than 5 % |
//! | undecided | none of these; the reason names the test that failed |
//!
//! Nothing else can veto. Welch's t, the rank test and the bootstrap stand beside the figures and decide only under
//! `--test welch` (see [`verdict`](mod@super::verdict)).
//!
//! # The margin
//! [`SAME_MARGIN`], 1 %, and never less than the noise floor: the lab promises to find 1 % (`cyclewise verify lab`), so
//! that "same" means that a difference of the size it is trusted with would have been seen. A difference that is proven and
//! smaller than the margin is a difference; its tests say that it lies within the margin. Half of the margin is [`is_negligible`]'s. One that is proven, larger than 1 %
//! and hidden by the floor is not "same" either. A floor of more than [`LARGEST_MARGIN`] is no margin: on a machine that is off
//! by a fifth nothing is shown to be the same.
//!
//! # The floor
//! The same estimator's, on the A/A control. What the apparatus adds (the place in memory, the second copy of the code) does
//! not depend on the neighbour, so the tighter bound of the state's own rounds and of all rounds is used.
//!
//! # References
//! - D. J. Schuirmann, "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the
//!   Equivalence of Average Bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987.
//! - `holm` and `paired`.

use super::paired::excludes;
use super::verdict::ALPHA;
use super::{Interval, Paired, Reason, Verdict};
use serde::{Deserialize, Serialize};

/// One test that a verdict rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its figure, as a sentence part with numbers.
    pub seen: String,
    /// Whether it agrees that there is a difference.
    pub passed: bool,
}

/// The margin of "same", unless the noise floor is larger.
pub const SAME_MARGIN: f64 = 0.01;

/// A ratio whose interval lies within this of 1 is negligible.
const TRIFLE: f64 = 0.005;

/// The largest margin of "same".
pub const LARGEST_MARGIN: f64 = 0.05;

/// Effective rounds from which a state can have the headline: no fewer can pass Holm's correction by signs.
pub const ENOUGH: f64 = 20.0;

const NO_CONTROL: &str = "there is no A/A control, so nothing is claimed";

/// A verdict with what it rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// Why there is none, or why it is undecided.
    pub reason: Option<Reason>,
    /// The tests that decide.
    pub tests: Vec<Test>,
}

impl Decision {
    /// No verdict, for this reason.
    pub fn none(reason: Reason) -> Self {
        Self {
            verdict: Verdict::None,
            reason: Some(reason),
            tests: Vec::new(),
        }
    }
}

/// Decides by the paired rounds of one state.
///
/// `cost` is the larger of the two medians, which the floor (a share; `None`: no control) is of.
pub fn decide(paired: &Paired, p_holm: f64, cost: f64, floor: Option<f64>, more_is_faster: bool) -> Decision {
    let [Some(low), Some(high)] = paired.ci95 else {
        return Decision::none(Reason::Other(format!(
            "too few rounds: {} in pairs, worth {:.0} independent ones, and six are needed",
            paired.n, paired.effective_n
        )));
    };
    let differs = excludes(paired.ci95, 0.0);
    let beyond_chance = p_holm < ALPHA;
    let share = paired.difference.abs() / cost.abs();
    let beyond_floor = floor.is_some_and(|floor| share > floor);
    let margin = floor.unwrap_or(0.0).max(SAME_MARGIN);
    let hidden = differs && beyond_chance && share > SAME_MARGIN;
    let same = floor.is_some() && margin <= LARGEST_MARGIN && !hidden && within(paired.ratio_ci95, margin);
    let margin_test = test("same-margin", !same, same_words(paired, margin));
    let mut tests = vec![
        test(
            "paired-median",
            differs,
            format!(
                "difference {:.4} [{low:.4}, {high:.4}], 95 % interval",
                paired.difference
            ),
        ),
        test(
            "holm",
            beyond_chance,
            format!("p {:.2e}, {p_holm:.2e} after Holm's correction", paired.p),
        ),
        test(
            "noise-floor",
            beyond_floor,
            floor.map_or(NO_CONTROL.to_string(), |floor| {
                format!("{:.2} % against a floor of {:.2} %", 100.0 * share, 100.0 * floor)
            }),
        ),
    ];
    let (verdict, reason) = if differs && beyond_chance && beyond_floor {
        let up = paired.difference > 0.0;
        (
            if up == more_is_faster {
                Verdict::Faster
            } else {
                Verdict::Slower
            },
            None,
        )
    } else if same {
        (
            Verdict::Same,
            Some(Reason::Other(format!(
                "within {}\u{a0}%",
                (1000.0 * margin).ceil() / 10.0
            ))),
        )
    } else {
        let reason = floor.map_or(NO_CONTROL.to_string(), |_| undecided(&tests, &margin_test));
        (Verdict::Undecided, Some(Reason::Other(reason)))
    };
    tests.push(margin_test);
    Decision { verdict, reason, tests }
}

/// Whether a difference whose ratio has this interval, proven or not, is too small to report.
///
/// One run knows a row to a tenth of a percent, but the place of code and data differs between two runs of one build, and
/// verdicts on such differences contradicted each other.
pub fn is_negligible(ratio_ci95: Interval) -> bool {
    within(ratio_ci95, TRIFLE)
}

/// Whether the interval of a ratio holds a difference that is too small to report.
pub fn reaches_negligible(ratio_ci95: Interval) -> bool {
    !matches!(ratio_ci95, [Some(low), _] if low > 1.0 + TRIFLE)
        && !matches!(ratio_ci95, [_, Some(high)] if high < 1.0 - TRIFLE)
}

fn test(name: &str, passed: bool, seen: String) -> Test {
    Test {
        name: name.to_string(),
        seen,
        passed,
    }
}

/// Why neither a difference nor its absence is shown.
fn undecided(tests: &[Test], margin: &Test) -> String {
    let failed = tests.iter().chain([margin]).filter(|t| !t.passed);
    let seen: Vec<&str> = failed.chain([margin]).map(|t| t.seen.as_str()).collect();
    format!("neither a difference nor equality is shown: {}", seen.join("; "))
}

fn same_words(paired: &Paired, margin: f64) -> String {
    let bound = |b: Option<f64>| b.map_or("—".to_string(), |b| format!("{b:.4}"));
    let [low, high] = paired.ratio_ci95.map(bound);
    let inside = if within(paired.ratio_ci95, margin) {
        "lies"
    } else {
        "does not lie"
    };
    let too_wide = if margin > LARGEST_MARGIN {
        format!(
            ", which is more than the {:.0} % that count as the same",
            100.0 * LARGEST_MARGIN
        )
    } else {
        String::new()
    };
    format!(
        "ratio {:.4} [{low}, {high}] {inside} within ±{:.2} % of 1{too_wide}",
        paired.ratio,
        100.0 * margin
    )
}

fn within(interval: Interval, margin: f64) -> bool {
    matches!(interval, [Some(low), Some(high)] if low >= 1.0 - margin && high <= 1.0 + margin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Faster, None as NoVerdict, Same, Slower, Undecided};

    /// A paired figure about a reference that costs 100.
    fn figure(ci95: [f64; 2]) -> Paired {
        let middle = ci95[0].midpoint(ci95[1]);
        Paired {
            n: 100,
            effective_n: 50.0,
            difference: middle,
            ci95: ci95.map(Some),
            ratio: 1.0 + middle / 100.0,
            ratio_ci95: ci95.map(|x| Some(1.0 + x / 100.0)),
            p: 0.001,
            ..Paired::default()
        }
    }

    fn verdict(ci95: [f64; 2], p_holm: f64, floor: Option<f64>) -> Verdict {
        decide(&figure(ci95), p_holm, 100.0, floor, false).verdict
    }

    #[test]
    fn each_row_of_the_table() {
        assert_eq!(verdict([1.0, 3.0], 0.01, Some(0.005)), Slower);
        assert_eq!(verdict([-3.0, -1.0], 0.01, Some(0.005)), Faster);
        assert_eq!(
            decide(&figure([1.0, 3.0]), 0.01, 100.0, Some(0.005), true).verdict,
            Faster
        );
        assert_eq!(verdict([-0.5, 0.6], 0.9, Some(0.005)), Same);
        assert_eq!(verdict([-0.5, 1.6], 0.9, Some(0.005)), Undecided);
        let short = Paired {
            ci95: [None; 2],
            n: 5,
            effective_n: 5.0,
            ..figure([1.0, 3.0])
        };
        let d = decide(&short, 0.01, 100.0, Some(0.005), false);
        assert_eq!(d.verdict, NoVerdict);
        assert!(d.reason.unwrap().contains("too few rounds: 5"));
    }

    #[test]
    fn each_deciding_test_alone_can_refuse_and_is_named() {
        for (ci95, p, floor, failed) in [
            ([-0.1, 4.0], 0.01, Some(0.005), "paired-median"),
            ([1.0, 3.0], 0.05, Some(0.005), "holm"),
            ([1.0, 3.0], 0.01, Some(0.02), "noise-floor"),
            ([1.0, 3.0], 0.01, None, "noise-floor"),
        ] {
            let d = decide(&figure(ci95), p, 100.0, floor, false);
            assert_eq!(d.verdict, Undecided, "{failed}");
            let names: Vec<&str> = d.tests.iter().filter(|t| !t.passed).map(|t| t.name.as_str()).collect();
            assert_eq!(names, [failed]);
            let reason = d.reason.unwrap();
            assert!(reason.contains(&d.tests.iter().find(|t| !t.passed).unwrap().seen));
            assert_eq!(reason.contains("neither"), floor.is_some(), "{reason}");
        }
    }

    #[test]
    fn a_small_proven_difference_is_one_and_says_that_it_is_within_the_margin() {
        let d = decide(&figure([0.2, 0.4]), 0.001, 100.0, Some(0.001), false);
        assert_eq!(d.verdict, Slower);
        assert!(!d.tests[3].passed && d.tests[3].seen.contains("lies within ±1.00 %"));
    }

    #[test]
    fn the_margin_is_never_below_the_floor_and_needs_a_control() {
        assert_eq!(verdict([-2.0, 2.0], 0.9, Some(0.03)), Same);
        assert_eq!(verdict([-2.0, 2.0], 0.9, Some(0.01)), Undecided);
        assert_eq!(verdict([-0.2, 0.2], 0.9, None), Undecided);
    }

    #[test]
    fn a_large_floor_makes_nothing_the_same() {
        // A fifth to a third more, beyond chance, under a floor of 40 %.
        let d = decide(&figure([20.0, 30.0]), 1e-9, 100.0, Some(0.4), false);
        assert_eq!(d.verdict, Undecided);
        assert!(d.reason.unwrap().contains("more than the 5 %"));
        assert_eq!(verdict([-3.0, 3.0], 0.9, Some(0.06)), Undecided);
        assert_eq!(verdict([-3.0, 3.0], 0.9, Some(0.05)), Same, "the twin");
        // Proven, of 2 %, and hidden by the floor.
        assert_eq!(verdict([1.0, 3.0], 1e-9, Some(0.04)), Undecided);
        assert_eq!(verdict([1.0, 3.0], 0.9, Some(0.04)), Same, "the twin: chance can do it");
    }

    #[test]
    fn what_is_not_a_number_claims_nothing() {
        assert_eq!(verdict([1.0, 3.0], f64::NAN, Some(0.005)), Undecided);
        assert_eq!(verdict([1.0, 3.0], 0.01, Some(f64::NAN)), Undecided);
        assert_eq!(
            decide(&figure([1.0, 3.0]), 0.01, f64::NAN, Some(0.005), false).verdict,
            Undecided
        );
    }
}
