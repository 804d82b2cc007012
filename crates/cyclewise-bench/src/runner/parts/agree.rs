//! Figures between the processes of a run, and verdicts on which they agree.
//!
//! | verdict of all rounds | it stands if |
//! |---|---|
//! | faster, slower | every process' ratio is on that side of 1, and the interval between them excludes 1; of two, whose interval is as wide as Student's t with one degree of freedom, both ratios may be beyond the noise floor instead |
//! | same | every process' ratio is within the margin, or the interval between them is |
//! | of rows that are not linear | the above holds at every length of their loops |
//! | depends | always, because a process that met one state of the neighbour cannot contradict it |
//!
//! Fewer than two processes with enough rounds agree on nothing.

use crate::record::{BetweenRuns, Comparison, Experiment, Reason, Run, RunLengths, Test, Variant, Verdict, bounds};
use crate::stats::{self, difference, excludes_one, within};

/// The name of the test of a claim, among a comparison's tests.
const TEST: &str = "every process agrees";

/// The name of the test of "same".
const TEST_SAME: &str = "a process is beyond the margin";

/// Adds the figures between `runs` to an experiment, and takes back verdicts on which they do not agree.
pub fn figures_between(e: &mut Experiment, runs: &[Run]) {
    if runs.len() < 2 {
        return;
    }
    for v in &mut e.variants {
        v.between = stats::between_runs(&medians(&e.name, v, runs));
        between_at_lengths(&e.name, v, runs);
    }
    for c in &mut e.comparisons {
        let ratios: Vec<f64> = runs.iter().filter_map(|r| r.ratio(&e.name, &c.a, &c.b)).collect();
        c.between = stats::between_runs(&ratios);
        let state = c.paired().state;
        let control = e.control.as_ref();
        let floor = control.map_or(0.0, |control| control.floor_in(state, stats::ENOUGH));
        let mut held = vec![(String::new(), ratios, c.between.clone())];
        if !c.at_lengths(state).is_empty() {
            let of = |r: &Run| r.ratios_at_lengths(&e.name, &c.a, &c.b);
            let of_runs: Vec<[f64; 3]> = runs.iter().filter_map(of).collect();
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

/// The medians of a row in the headline's state: two have an interval. Where fewer processes met that state, those of all that they met.
fn medians(experiment: &str, v: &Variant, runs: &[Run]) -> Vec<f64> {
    let state = v.figure().state;
    let of = |r: &Run| Some((r.state(experiment, &v.name), r.median(experiment, &v.name)?));
    let all: Vec<_> = runs.iter().filter_map(of).collect();
    let same = all.iter().filter(|(of, _)| *of == Some(state));
    let in_state: Vec<f64> = same.map(|(_, median)| *median).collect();
    match in_state.len() {
        0 | 1 => all.iter().map(|(_, median)| *median).collect(),
        _ => in_state,
    }
}

/// Adds what a copy costs at each length over the processes, to a row that is not linear.
fn between_at_lengths(experiment: &str, v: &mut Variant, runs: &[Run]) {
    let (name, lengths) = (v.name.clone(), v.at_lengths());
    let Some(l) = v.linearity.as_mut().filter(|l| l.linear == Some(false)) else {
        return;
    };
    let alike = |of: &&RunLengths| lengths.iter().zip(of.copies).all(|(at, copies)| at.copies == copies);
    let of_runs = runs.iter().filter_map(|r| r.lengths(experiment, &name)).filter(alike);
    let of_runs: Vec<&RunLengths> = of_runs.collect();
    let between = (0..lengths.len()).map(|i| {
        let medians: Vec<f64> = of_runs.iter().map(|of| of.headline[i]).collect();
        stats::between_runs(&medians)
    });
    l.between = between.collect::<Option<_>>().unwrap_or_default();
}

/// Holds a verdict against the ratios of all processes: of slopes, or of each length, called so. All of these must stand.
fn agree(c: &mut Comparison, held: &[(String, Vec<f64>, Option<BetweenRuns>)], floor: f64, more_is_faster: bool) {
    let name = match c.verdict {
        Verdict::Faster | Verdict::Slower => TEST,
        Verdict::Same => TEST_SAME,
        Verdict::Undecided | Verdict::None | Verdict::Depends => return,
    };
    let above = (c.verdict == Verdict::Faster) == more_is_faster;
    let mut fallen: Option<String> = None;
    for (at, ratios, between) in held {
        let between = between.as_ref().map_or([f64::NAN; 2], |b| bounds(b.ci95));
        let (seen, stands) = match c.verdict {
            Verdict::Same => is_same(ratios, between, floor),
            _ => is_claim_of_all(ratios, between, above, floor),
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
            "all rounds say {}, but the processes do not agree: {seen}",
            c.verdict.as_str()
        )));
        c.verdict = Verdict::Undecided;
    }
}

/// Takes back claims between two builds that the layout of their code explains: below [`stats::SAME_MARGIN`], or whose interval between the
/// processes reaches what is negligible.
///
/// A change anywhere moves all code behind it, the same in every process of a build, so that no number of processes shows it.
pub fn hold_between_builds(e: &mut Experiment) {
    for c in e.comparisons.iter_mut().filter(|c| c.verdict.is_claim()) {
        let mut held: Vec<_> = c
            .ratios_at_lengths()
            .into_iter()
            .map(|(_, ratio, ci95)| (ratio, ci95))
            .collect();
        if held.is_empty() {
            held.push(c.ratio_of());
        }
        let explained =
            |(ratio, ci95): &(f64, _)| difference(*ratio) < stats::SAME_MARGIN || stats::reaches_negligible(*ci95);
        let by_layout = held.into_iter().find(explained).map(|(ratio, ci95)| {
            let [low, high] = bounds(ci95);
            format!("ratio {ratio:.4} [{low:.4}, {high:.4}]")
        });
        if let Some(seen) = by_layout {
            c.reason = Some(Reason::Other(format!(
                "the processes say {}, but another layout of the same code may do as much: {seen}",
                c.verdict.as_str()
            )));
            c.verdict = Verdict::Undecided;
        }
    }
}

/// What the ratios of several processes say by themselves: of times, so that more is slower.
pub fn verdict_of_runs(ratios: &[f64], floor: f64) -> Verdict {
    let between = stats::between_runs(ratios);
    let beyond_floor = between.as_ref().is_some_and(|b| difference(b.value) > floor);
    let between = between.map_or([f64::NAN; 2], |b| bounds(b.ci95));
    let claim = |above: bool| beyond_floor && is_claim_of_all(ratios, between, above, floor).1;
    match () {
        () if claim(true) => Verdict::Slower,
        () if claim(false) => Verdict::Faster,
        () if is_same(ratios, between, floor).1 => Verdict::Same,
        () => Verdict::Undecided,
    }
}

fn in_words(ratios: &[f64]) -> String {
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match ratios.len() {
        0 | 1 => "fewer than two have enough rounds".to_string(),
        n => format!("ratio {least:.3} to {most:.3} in {n} processes"),
    }
}

/// Whether each ratio is on this side of 1, and the interval between the processes excludes 1.
fn is_claim_of_all(ratios: &[f64], between: [f64; 2], above: bool, floor: f64) -> (String, bool) {
    let mut seen = in_words(ratios);
    let one_side = ratios.iter().all(|r| if above { *r > 1.0 } else { *r < 1.0 });
    let excludes = excludes_one(between);
    if !excludes && ratios.len() > 1 {
        seen.push_str(", and the interval between them includes 1");
    }
    let clear = ratios.len() == 2 && ratios.iter().all(|r| difference(*r) > floor);
    (seen, ratios.len() > 1 && one_side && (excludes || clear))
}

/// Whether each ratio is within the margin, or the interval between the processes is.
fn is_same(ratios: &[f64], between: [f64; 2], floor: f64) -> (String, bool) {
    let margin = floor.clamp(stats::SAME_MARGIN, stats::LARGEST_MARGIN);
    let seen = format!("{}, margin {:.1} %", in_words(ratios), 100.0 * margin);
    let all_within = |ratios: &[f64]| ratios.iter().all(|r| within(*r, margin));
    (seen, ratios.len() > 1 && (all_within(ratios) || all_within(&between)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::bent;
    use crate::record::{Control, Paired, Record, State, pairs_at_lengths};

    /// A comparison with this verdict by all rounds, whose processes have these ratios (NaN: none), under a noise floor of 2 %.
    fn with_verdict(ratios: &[f64], verdict: Verdict) -> Comparison {
        let runs: Vec<Run> = ratios
            .iter()
            .map(|ratio| Run {
                medians: vec![("e".into(), "b".into(), 10.0)],
                ratios: Vec::from_iter(ratio.is_finite().then(|| ("e".into(), "a".into(), "b".into(), *ratio))),
                ..Run::default()
            })
            .collect();
        let mut e = Experiment {
            name: "e".to_string(),
            control: Some(Control {
                floor: 0.02,
                ..Control::default()
            }),
            variants: vec![Variant {
                name: "b".to_string(),
                ..Variant::default()
            }],
            comparisons: vec![Comparison {
                a: "a".into(),
                b: "b".into(),
                verdict,
                ..Comparison::default()
            }],
            ..Experiment::default()
        };
        figures_between(&mut e, &runs);
        let several = (ratios.len() > 1).then_some(ratios.len());
        assert_eq!(e.variants[0].between.as_ref().map(|b| b.runs), several);
        e.comparisons.remove(0)
    }

    #[test]
    fn a_claim_needs_an_interval_between_the_processes_or_two_clear_ones() {
        let verdict = |ratios: &[f64]| with_verdict(ratios, Verdict::Slower).verdict;
        assert_eq!(verdict(&[1.05, 1.06, 1.07]), Verdict::Slower);
        assert_eq!(
            verdict(&[1.001, 1.06, 1.5]),
            Verdict::Undecided,
            "on one side, but scattered"
        );
        assert_eq!(verdict(&[1.05, 1.5]), Verdict::Slower, "both beyond the floor");
        assert_eq!(verdict(&[1.01, 1.5]), Verdict::Undecided, "one within the floor");
        assert_eq!(
            verdict(&[0.99, 1.05, 1.05, 1.05]),
            Verdict::Undecided,
            "one on the other side"
        );
        assert_eq!(
            verdict(&[1.05]),
            Verdict::Slower,
            "one process has none to disagree with"
        );
        let c = with_verdict(&[1.05, 1.5], Verdict::Slower);
        assert!(c.tests[0].seen.contains("includes 1"), "{:?}", c.tests);
        let c = with_verdict(&[1.05, 1.06, 1.07], Verdict::Slower);
        assert!(
            c.tests[0].passed && c.tests[0].seen == "ratio 1.050 to 1.070 in 3 processes",
            "{:?}",
            c.tests
        );
        let between = c.between.unwrap();
        assert!(between.runs == 3 && (between.value - 1.06).abs() < 1e-3, "{between:?}");
    }

    #[test]
    fn what_a_layout_explains_is_no_claim_between_builds() {
        let verdict = |ratios: &[f64]| {
            let mut e = Experiment {
                comparisons: vec![with_verdict(ratios, Verdict::Slower)],
                ..Experiment::default()
            };
            assert_eq!(
                e.comparisons[0].verdict,
                Verdict::Slower,
                "within one build it is a claim"
            );
            hold_between_builds(&mut e);
            e.comparisons.remove(0)
        };
        assert_eq!(verdict(&[1.019, 1.02, 1.021]).verdict, Verdict::Slower);
        let small = verdict(&[1.007, 1.008, 1.009]);
        assert_eq!(small.verdict, Verdict::Undecided);
        let why = small.reason.unwrap();
        assert!(why.contains("another layout") && why.contains("1.0080"), "{why}");
        assert_eq!(
            verdict(&[1.003, 1.01, 1.02, 1.02, 1.03]).verdict,
            Verdict::Undecided,
            "its interval reaches 0.5 %"
        );
    }

    #[test]
    fn what_is_faster_follows_the_unit() {
        let verdict = |ratios: &[f64]| with_verdict(ratios, Verdict::Faster).verdict;
        assert_eq!(verdict(&[0.95, 0.94, 0.93]), Verdict::Faster);
        assert_eq!(verdict(&[1.05, 1.06, 1.07]), Verdict::Undecided);
    }

    #[test]
    fn the_same_has_to_be_the_same_in_every_process_or_between_them() {
        let verdict = |ratios: &[f64]| with_verdict(ratios, Verdict::Same).verdict;
        assert_eq!(verdict(&[1.001, 1.015]), Verdict::Same);
        assert_eq!(
            verdict(&[1.0, 1.001, 0.999, 1.0, 1.021]),
            Verdict::Same,
            "the interval between them"
        );
        let c = with_verdict(&[1.001, 1.3], Verdict::Same);
        assert_eq!(c.verdict, Verdict::Undecided);
        assert!(
            c.tests[0].passed
                && c.reason
                    .unwrap()
                    .contains("1.001 to 1.300 in 2 processes, margin 2.0 %"),
            "{:?}",
            c.tests
        );
    }

    #[test]
    fn what_depends_on_the_neighbour_is_not_contradicted() {
        assert_eq!(with_verdict(&[0.9, 1.2], Verdict::Depends).verdict, Verdict::Depends);
    }

    /// A record's run of two rows that are not linear, whose ratios at 4, 8 and 16 copies are these.
    fn of_lengths(ratios: [f64; 3]) -> Record {
        let costs = [1.5, 9.0, 7.0];
        let a = [0, 1, 2].map(|i: usize| ratios[i] * costs[i]);
        let variants = vec![bent("a", a, ""), bent("b", costs, "")];
        let lengths = pairs_at_lengths(&variants[0], &variants[1], &[State::All], 1.0);
        let comparison = Comparison {
            a: "a".to_string(),
            b: "b".to_string(),
            verdict: Verdict::Faster,
            lengths,
            headline: Some(Paired {
                ratio: 0.5,
                ..Paired::default()
            }),
            ..Comparison::default()
        };
        Record {
            experiments: vec![Experiment {
                name: "e".to_string(),
                variants,
                comparisons: vec![comparison],
                ..Experiment::default()
            }],
            ..Record::default()
        }
    }

    fn joined(ratios: [[f64; 3]; 3]) -> Experiment {
        let records = ratios.map(of_lengths);
        let runs: Vec<Run> = records.iter().map(Run::of_record).collect();
        let [mut record, ..] = records;
        figures_between(&mut record.experiments[0], &runs);
        record.experiments.remove(0)
    }

    #[test]
    fn of_rows_that_are_not_linear_every_length_must_hold_in_every_process() {
        let e = joined([[0.5, 0.8, 0.6], [0.51, 0.81, 0.6], [0.52, 0.79, 0.61]]);
        let c = &e.comparisons[0];
        assert_eq!((c.verdict, c.tests.len()), (Verdict::Faster, 3));
        assert_eq!(c.tests[1].seen, "at 8 copies ratio 0.790 to 0.810 in 3 processes");
        let between = c.lengths[0].between.as_ref().unwrap();
        assert!(between.runs == 3 && (between.value - 0.51).abs() < 0.001, "{between:?}");
        let [least, most] = e.variants[0].cost_range().unwrap();
        assert!(
            (least.cost - 1.5 * 0.51).abs() < 0.001 && most.ci95[1].unwrap() > 7.2,
            "{most:?}"
        );
        // The twin: a process of another sign at one length; that of the slopes is the same in all.
        let e = joined([[0.5, 0.8, 0.6], [0.51, 1.3, 0.6], [0.52, 0.79, 0.61]]);
        assert_eq!(e.comparisons[0].verdict, Verdict::Undecided);
        let why = e.comparisons[0].reason.as_ref().unwrap();
        assert!(why.contains("at 8 copies ratio 0.790 to 1.300 in 3 processes"), "{why}");
    }

    #[test]
    fn ratios_of_processes_have_a_verdict_of_their_own() {
        assert_eq!(verdict_of_runs(&[1.05, 1.06, 1.07], 0.02), Verdict::Slower);
        assert_eq!(verdict_of_runs(&[0.95, 0.94, 0.93], 0.02), Verdict::Faster);
        assert_eq!(verdict_of_runs(&[1.001, 0.999, 1.0], 0.02), Verdict::Same);
        assert_eq!(
            verdict_of_runs(&[1.05, 1.06, 1.07], 0.2),
            Verdict::Undecided,
            "below the floor"
        );
        assert_eq!(verdict_of_runs(&[1.05], 0.02), Verdict::Undecided);
    }
}
