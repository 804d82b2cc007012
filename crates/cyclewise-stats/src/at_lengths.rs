//! The verdict on two rows of which one is not linear in its copies: that of the loops of each length, if all say the same.
//!
//! The claim is that the difference has this sign at every length, so each length has to show it: an intersection-union test,
//! whose error is at most that of the test at one length. Each is made at the full level therefore, and its p, which Holm's
//! correction over the record gets, is the largest of them.
//!
//! # References
//! R. L. Berger, "Multiparameter Hypothesis Testing and Acceptance Sampling", Technometrics 24(4), 1982: intersection-union tests.

use super::decision::{Decision, Test, decide};
use super::{Paired, Reason, Verdict};

/// The pair's figures at a length, and the larger cost of the two there.
#[derive(Clone, Copy, Debug)]
pub struct PairAt<'p> {
    /// Copies in an iteration.
    pub copies: f64,
    /// The figures.
    pub paired: &'p Paired,
    /// The larger of the two medians.
    pub cost: f64,
}

/// Decides by all lengths. `p_holm` is the corrected largest p, `floor` the noise floor as a share (`None`: no control).
pub fn decide_at_lengths(at: &[PairAt<'_>], p_holm: f64, floor: Option<f64>) -> Decision {
    let mut decisions: Vec<(f64, Decision)> = at
        .iter()
        .map(|at| (at.copies, decide(at.paired, p_holm, at.cost, floor, false)))
        .collect();
    let tests = decisions.iter_mut().flat_map(|(copies, d)| {
        let named = |t: Test| Test {
            name: format!("{} at {copies} copies", t.name),
            ..t
        };
        d.tests.drain(..).map(named).collect::<Vec<Test>>()
    });
    let tests: Vec<Test> = tests.collect();
    let verdict = decisions.first().map_or(Verdict::None, |(_, d)| d.verdict);
    let agree = decisions.iter().all(|(_, d)| d.verdict == verdict);
    let reason = match verdict {
        _ if !agree || verdict == Verdict::Undecided => {
            let verdicts: Vec<(f64, Verdict)> = decisions.iter().map(|(copies, d)| (*copies, d.verdict)).collect();
            return Decision {
                verdict: Verdict::Undecided,
                reason: Some(Reason::not_linear(format_args!(": {}", lengths_in_words(&verdicts)))),
                tests,
            };
        }
        // The same margin at every length.
        Verdict::Same | Verdict::None => decisions.into_iter().next().and_then(|(_, d)| d.reason),
        _ => None,
    };
    Decision { verdict, reason, tests }
}

/// The verdicts at each length: `faster at 4 copies, undecided at 8 and 16`.
pub fn lengths_in_words(verdicts: &[(f64, Verdict)]) -> String {
    if verdicts.iter().all(|(_, verdict)| *verdict == Verdict::Undecided) {
        return "no length decides it".to_string();
    }
    let mut parts: Vec<(Verdict, Vec<String>)> = Vec::new();
    for (copies, of_length) in verdicts {
        match parts.last_mut() {
            Some((verdict, at)) if verdict == of_length => at.push(copies.to_string()),
            _ => parts.push((*of_length, vec![copies.to_string()])),
        }
    }
    let copies = |i: usize| if i == 0 { " copies" } else { "" };
    let part = |(i, (verdict, at)): (usize, &(Verdict, Vec<String>))| {
        let at = match at.split_last() {
            Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            _ => at.concat(),
        };
        format!("{} at {at}{}", verdict.in_words(), copies(i))
    };
    parts.iter().enumerate().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use crate::random::Source;
    use crate::tests::rates::rate;
    use Verdict::{Faster, Same, Slower, Undecided};

    fn paired(ratio: f64, half: f64) -> Paired {
        Paired {
            n: 100,
            effective_n: 50.0,
            difference: 10.0 * (ratio - 1.0),
            ci95: [ratio - half, ratio + half].map(|r| Some(10.0 * (r - 1.0))),
            ratio,
            ratio_ci95: [Some(ratio - half), Some(ratio + half)],
            p: 0.001,
            ..Paired::default()
        }
    }

    fn judged(ratios: [f64; 3], half: f64, p_holm: f64) -> Decision {
        let figures = ratios.map(|ratio| paired(ratio, half));
        let at: Vec<PairAt<'_>> = [4.0, 8.0, 16.0]
            .into_iter()
            .zip(&figures)
            .map(|(copies, paired)| PairAt {
                copies,
                paired,
                cost: 10.0,
            })
            .collect();
        decide_at_lengths(&at, p_holm, Some(0.01))
    }

    #[test]
    fn what_all_lengths_say_is_the_verdict() {
        assert_eq!(judged([0.2, 0.9, 0.5], 0.02, 0.01).verdict, Faster);
        assert_eq!(judged([1.2, 1.9, 5.0], 0.02, 0.01).verdict, Slower);
        let same = judged([1.0, 1.001, 0.999], 0.002, 0.9);
        assert_eq!((same.verdict, same.reason.as_deref()), (Same, Some("within 1\u{a0}%")));
        assert_eq!(same.tests.len(), 12);
        assert_eq!(same.tests[4].name, "paired-median at 8 copies");
    }

    #[test]
    fn one_length_that_says_something_else_leaves_it_undecided() {
        for (ratios, why) in [
            ([0.2, 1.3, 1.4], "not linear: faster at 4 copies, slower at 8 and 16"),
            ([0.2, 0.9, 1.0], "not linear: faster at 4 and 8 copies, same at 16"),
            ([1.0, 1.0, 1.2], "not linear: same at 4 and 8 copies, slower at 16"),
        ] {
            let d = judged(ratios, 0.002, 0.01);
            assert_eq!((d.verdict, d.reason.as_deref()), (Undecided, Some(why)));
        }
        // The correction of the largest p is that of all.
        let d = judged([0.2, 0.9, 0.5], 0.02, 0.2);
        assert_eq!(d.verdict, Undecided);
        assert_eq!(d.reason.as_deref(), Some("not linear: no length decides it"));
    }

    /// What pairs of rounds with these true ratios are judged to be; `any`: by the length that says the most.
    fn drawn(ratios: [f64; 3], any: bool, s: &mut Source) -> Verdict {
        let figures = ratios.map(|ratio| {
            let rounds: Vec<(f64, f64)> = (0..40)
                .map(|_| (ratio * (1.0 + 0.02 * s.normal()), 1.0 + 0.02 * s.normal()))
                .collect();
            crate::paired(State::All, &rounds).unwrap()
        });
        let pairs = figures.iter().map(|paired| PairAt {
            copies: 4.0,
            paired,
            cost: 1.0,
        });
        let p = figures.iter().map(|f| f.p);
        match any {
            false => decide_at_lengths(&pairs.collect::<Vec<_>>(), p.fold(0.0, f64::max), Some(0.0)).verdict,
            true => pairs
                .map(|at| decide_at_lengths(&[at], at.paired.p, Some(0.0)).verdict)
                .find(|verdict| verdict.is_claim())
                .unwrap_or(Undecided),
        }
    }

    #[test]
    fn each_length_at_the_full_level_claims_falsely_no_more_often_than_one() {
        // Two lengths differ for certain and the third does not: the worst case.
        let wrong = rate(400, 71, |s| drawn([1.2, 1.2, 1.0], false, s) == Slower);
        assert!(wrong <= 0.06, "{wrong}");
        let nothing = rate(400, 72, |s| drawn([1.0; 3], false, s).is_claim());
        assert!(nothing <= 0.01, "{nothing}");
        // A difference at all lengths is found.
        let found = rate(400, 73, |s| drawn([1.04, 1.05, 1.06], false, s) == Slower);
        assert!(found >= 0.95, "{found}");
        // The twin: a claim by any length needs a correction for their number.
        let any = rate(400, 74, |s| drawn([1.0; 3], true, s).is_claim());
        assert!(any > 0.07, "{any}");
    }

    #[test]
    fn too_few_rounds_have_no_verdict_at_any_length() {
        let few = Paired {
            ci95: [None; 2],
            n: 4,
            ..paired(0.2, 0.01)
        };
        let at = [PairAt {
            copies: 4.0,
            paired: &few,
            cost: 10.0,
        }; 3];
        let d = decide_at_lengths(&at, 0.01, Some(0.01));
        assert_eq!(d.verdict, Verdict::None);
        assert!(d.reason.unwrap().contains("too few rounds: 4"));
        assert_eq!(decide_at_lengths(&[], 0.01, None).verdict, Verdict::None);
    }
}
