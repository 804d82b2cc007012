//! Figures between the runs of a record, and verdicts held against them.
//!
//! What that run says of two variants is compared with the ratios of all runs:
//!
//! | verdict | it stands if |
//! |---|---|
//! | faster, slower | every run's ratio is on that side of 1, and the interval between the runs excludes 1; of two runs, whose interval is as wide as Student's t with one degree of freedom, both ratios may be beyond the noise floor instead |
//! | same | every run's ratio is within the margin |
//! | of rows that are not linear | the above holds at every length of their loops |
//! | depends | always, because a run that met one state of the neighbour cannot contradict it; the reason counts the runs |

use super::decide::{difference, excludes_one, within};
use crate::record::{BetweenRuns, Comparison, Experiment, Reason, Run, RunLengths, Test, Variant, Verdict, bounds};
use crate::stats;

/// The name of the test of a claim, among a comparison's tests.
const TEST: &str = "every run agrees";

/// The name of the test of "same".
const TEST_SAME: &str = "a run is beyond the margin";

/// Adds the figures between runs to an experiment, and takes back verdicts on which the runs do not agree.
pub(super) fn figures(e: &mut Experiment, runs: &[Run]) {
    for v in &mut e.variants {
        let medians: Vec<f64> = runs.iter().filter_map(|r| r.median(&e.name, &v.name)).collect();
        v.between = stats::between_runs(&medians);
        between_at_lengths(&e.name, v, runs);
    }
    for c in &mut e.comparisons {
        let ratios: Vec<f64> = runs.iter().filter_map(|r| r.ratio(&e.name, &c.a, &c.b)).collect();
        c.between = stats::between_runs(&ratios);
        let state = c.paired().state;
        let floor = e
            .control
            .as_ref()
            .map_or(0.0, |control| control.floor_in(state, stats::ENOUGH));
        let mut held = vec![(String::new(), ratios, c.between.clone())];
        if !c.at_lengths(state).is_empty() {
            let of_runs: Vec<[f64; 3]> = runs
                .iter()
                .filter_map(|r| r.ratios_at_lengths(&e.name, &c.a, &c.b))
                .collect();
            held.clear();
            for (i, at) in c.lengths.iter_mut().enumerate() {
                let ratios: Vec<f64> = of_runs.iter().filter_map(|ratios| ratios.get(i).copied()).collect();
                at.between = stats::between_runs(&ratios);
                held.push((format!("at {} copies ", at.copies), ratios, at.between.clone()));
            }
        }
        agree(c, &held, floor, e.unit.more_is_faster());
    }
}

/// Adds what a copy costs at each length over the runs, to a row that is not linear.
fn between_at_lengths(experiment: &str, v: &mut Variant, runs: &[Run]) {
    let (name, lengths) = (v.name.clone(), v.at_lengths());
    let Some(l) = v.linearity.as_mut().filter(|l| l.linear == Some(false)) else {
        return;
    };
    let of_runs: Vec<&RunLengths> = runs
        .iter()
        .filter_map(|r| r.lengths(experiment, &name))
        .filter(|of_run| {
            lengths
                .iter()
                .zip(of_run.copies)
                .all(|(at, copies)| at.copies == copies)
        })
        .collect();
    let between = (0..lengths.len()).map(|i| {
        let medians: Vec<f64> = of_runs.iter().map(|of_run| of_run.headline[i]).collect();
        stats::between_runs(&medians)
    });
    l.between = between.collect::<Option<_>>().unwrap_or_default();
}

/// Holds a verdict against the ratios of all runs: of slopes, or of each length, called so. All of these must stand.
fn agree(c: &mut Comparison, held: &[(String, Vec<f64>, Option<BetweenRuns>)], floor: f64, more_is_faster: bool) {
    let name = match c.verdict {
        Verdict::Faster | Verdict::Slower => TEST,
        Verdict::Same => TEST_SAME,
        Verdict::Undecided | Verdict::None | Verdict::Depends => return,
    };
    let above = (c.verdict == Verdict::Faster) == more_is_faster;
    let mut fallen: Option<String> = None;
    for (at, ratios, between) in held {
        let (seen, stands) = match c.verdict {
            Verdict::Same => is_same_in_all(ratios, floor),
            _ => is_claim_of_all(ratios, between.as_ref(), above, floor),
        };
        let seen = format!("{at}{seen}");
        c.tests.push(Test {
            name: name.to_string(),
            seen: seen.clone(),
            // Whether it agrees that there is a difference.
            passed: stands == c.verdict.is_claim(),
        });
        fallen = fallen.or((!stands).then_some(seen));
    }
    if let Some(seen) = fallen {
        c.reason = Some(Reason::Other(format!(
            "one run says {}, but the runs do not agree: {seen}",
            c.verdict.as_str()
        )));
        c.verdict = Verdict::Undecided;
    }
}

/// What the ratios of several runs say by themselves: of times, so that more is slower. Undecided of fewer than two.
pub fn verdict_of_runs(ratios: &[f64], floor: f64) -> Verdict {
    let between = stats::between_runs(ratios);
    let beyond_floor = between.as_ref().is_some_and(|b| difference(b.value) > floor);
    let claim = |above: bool| beyond_floor && is_claim_of_all(ratios, between.as_ref(), above, floor).1;
    match ratios.len() {
        0 | 1 => Verdict::Undecided,
        _ if claim(true) => Verdict::Slower,
        _ if claim(false) => Verdict::Faster,
        _ if is_same_in_all(ratios, floor).1 => Verdict::Same,
        _ => Verdict::Undecided,
    }
}

/// The ratios of the runs in words.
fn in_runs(ratios: &[f64]) -> String {
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("ratio {least:.3} to {most:.3} in {} runs", ratios.len())
}

/// Whether each ratio is on this side of 1, and the interval between the runs excludes 1.
fn is_claim_of_all(ratios: &[f64], between: Option<&BetweenRuns>, above: bool, floor: f64) -> (String, bool) {
    let mut seen = in_runs(ratios);
    let one_side = ratios.iter().all(|r| if above { *r > 1.0 } else { *r < 1.0 });
    let apart = match ratios.len() {
        // No other run has the comparison.
        0 | 1 => true,
        n => {
            let excludes = between.is_some_and(|b| excludes_one(bounds(b.ci95)));
            if !excludes {
                seen.push_str(", and the interval between them includes 1");
            }
            excludes || n == 2 && ratios.iter().all(|r| difference(*r) > floor)
        }
    };
    (seen, one_side && apart)
}

/// Whether each ratio is within the margin.
fn is_same_in_all(ratios: &[f64], floor: f64) -> (String, bool) {
    let margin = floor.clamp(stats::SAME_MARGIN, stats::LARGEST_MARGIN);
    let seen = format!("{}, margin {:.1} %", in_runs(ratios), 100.0 * margin);
    (seen, ratios.iter().all(|r| within(*r, margin)))
}

#[cfg(test)]
mod tests {
    use super::super::runs::tests::{joined, run};
    use super::*;
    use crate::record::made_up::bent;
    use crate::record::{Record, State, pairs_at_lengths};

    /// A run of two rows that are not linear, whose ratios at 4, 8 and 16 copies are these.
    fn of_lengths(ratios: [f64; 3]) -> Record {
        let mut record = run(10.0, 0.5);
        let e = &mut record.experiments[0];
        let costs = [1.5, 9.0, 7.0];
        let a = [0, 1, 2].map(|i: usize| ratios[i] * costs[i]);
        e.variants = vec![bent("a", a, ""), bent("b", costs, "")];
        e.comparisons[0].lengths = pairs_at_lengths(&e.variants[0], &e.variants[1], &[State::All], 1.0);
        record.runs = vec![Run::of(&record)];
        record
    }

    #[test]
    fn of_rows_that_are_not_linear_every_length_must_hold_in_every_run() {
        let record = joined(vec![
            of_lengths([0.5, 0.8, 0.6]),
            of_lengths([0.51, 0.81, 0.6]),
            of_lengths([0.52, 0.79, 0.61]),
        ]);
        let e = &record.experiments[0];
        let c = &e.comparisons[0];
        assert_eq!((c.verdict, c.tests.len()), (Verdict::Faster, 3));
        assert_eq!(c.tests[1].seen, "at 8 copies ratio 0.790 to 0.810 in 3 runs");
        let between = c.lengths[0].between.as_ref().unwrap();
        assert!(between.runs == 3 && (between.value - 0.51).abs() < 0.001, "{between:?}");
        let [least, most] = e.variants[0].cost_range().unwrap();
        assert!(
            (least.cost - 1.5 * 0.51).abs() < 0.001 && most.ci95[1].unwrap() > 7.2,
            "{most:?}"
        );
        // The twin: a run of another sign at one length; that of the slopes is the same in all.
        let record = joined(vec![
            of_lengths([0.5, 0.8, 0.6]),
            of_lengths([0.51, 1.3, 0.6]),
            of_lengths([0.52, 0.79, 0.61]),
        ]);
        let c = &record.experiments[0].comparisons[0];
        assert_eq!(c.verdict, Verdict::Undecided);
        let why = c.reason.as_ref().unwrap();
        assert!(why.contains("at 8 copies ratio 0.790 to 1.300 in 3 runs"), "{why}");
    }
}
