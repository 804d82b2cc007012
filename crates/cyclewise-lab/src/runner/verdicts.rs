//! The verdicts of a whole record.
//!
//! | verdict | when |
//! |---|---|
//! | no verdict | too few pairs of rounds are left, a row is not linear in the headline's state, or stolen time explains the difference |
//! | depends on the neighbour | the headline and another state both show a difference (see [`decision`](crate::stats::decide)), of opposite signs |
//! | faster, slower, same, undecided | what the headline shows, by the rule of [`decision`](crate::stats::decide) |
//!
//! The headline is the quiet state's where that is worth at least twenty independent rounds. A mixed state decides nothing:
//! it is part of both others. How many samples were rejected decides nothing either, as long as pairs are left; a note
//! says so.
//!
//! # Welch
//! [`Estimator::Welch`] is the rule of the source: four tests on means have to agree (see [`verdict`](crate::stats::verdict)).
//! Each is listed with its figure. It knows no states, and takes dependent rounds for independent ones.

use super::stolen;
use crate::record::{
    self, Comparison, Control, Estimator, Experiment, Figure, Paired, Record, State, Test, Variant, Verdict,
};
use crate::stats::{self, Decision};

/// The share of rejected samples from which a note says so.
const MANY: f64 = 0.20;

/// The note if more than [`MANY`] of the samples were rejected.
pub(super) fn noise_note(variants: &[Variant]) -> Option<String> {
    let lost: usize = variants.iter().map(|v| v.rejected).sum();
    let all = lost + variants.iter().map(|v| v.n).sum::<usize>();
    let share = lost as f64 / all.max(1) as f64;
    (share > MANY).then(|| {
        format!(
            "{:.0} % of the samples were rejected: this machine is noisy; verdicts rest on the rounds that are left, and \
             intervals would be narrower with less other work, another CPU (--cpu), or an idle machine",
            100.0 * share
        )
    })
}

/// Corrects p over all comparisons of `record` and sets the verdicts, by paired medians.
pub(crate) fn give_verdicts(record: &mut Record) {
    give_verdicts_by(record, Estimator::Median);
}

/// The same, by this estimator.
pub(crate) fn give_verdicts_by(record: &mut Record, estimator: Estimator) {
    let comparisons = || record.experiments.iter().flat_map(|e| &e.comparisons);
    let p: Vec<f64> = match estimator {
        Estimator::Welch => comparisons().map(|c| c.p).collect(),
        Estimator::Median => comparisons()
            .map(|c| c.headline.as_ref().map_or(1.0, |h| h.p))
            .collect(),
    };
    // The states beside the headline are a family of their own.
    let p_states: Vec<f64> = comparisons().flat_map(|c| &c.states).map(|s| s.p).collect();
    let mut corrected = stats::holm(&p).into_iter();
    let mut corrected_states = stats::holm(&p_states).into_iter();
    for e in &mut record.experiments {
        let mut comparisons = std::mem::take(&mut e.comparisons);
        if estimator == Estimator::Welch {
            welch_control(e);
        }
        for c in &mut comparisons {
            c.estimator = estimator;
            c.p_holm = corrected.next().unwrap_or(1.0);
            let states: Vec<f64> = corrected_states.by_ref().take(c.states.len()).collect();
            let decision = match estimator {
                Estimator::Median => by_median(e, c, &states),
                Estimator::Welch => by_welch(e, c),
            };
            c.verdict = decision.verdict;
            c.reason = decision.reason;
            c.tests = decision.tests;
        }
        e.comparisons = comparisons;
    }
}

fn by_median(e: &Experiment, c: &mut Comparison, p_states: &[f64]) -> Decision {
    let (Some(a), Some(b)) = (variant(e, &c.a), variant(e, &c.b)) else {
        return Decision::none("one of the two was not measured".to_string());
    };
    let Some(mut headline) = c.headline.take() else {
        return Decision::none(too_few(e, a, b, 0));
    };
    for (state, p) in c.states.iter_mut().zip(p_states) {
        state.verdict = in_state(e, [a, b], state, *p).verdict;
    }
    let mut decision = in_state(e, [a, b], &headline, c.p_holm);
    headline.verdict = decision.verdict;
    if headline.ci95[0].is_none() {
        decision.reason = Some(too_few(e, a, b, headline.n));
    }
    if let Some(why) = stolen::forbids(a, b, headline.ratio) {
        decision = Decision {
            tests: decision.tests,
            ..Decision::none(why)
        };
    }
    let opposite = |s: &&Paired| s.state != State::Mixed && s.verdict.is_claim() && s.verdict != decision.verdict;
    if decision.verdict.is_claim()
        && let Some(other) = c.states.iter().find(opposite)
    {
        decision.verdict = Verdict::Depends;
        decision.reason = Some(format!("{}; {}", in_words(&headline), in_words(other)));
    } else if decision.verdict.is_claim()
        && let Some(other) = c
            .states
            .iter()
            .find(|s| s.state == State::Busy && s.verdict != decision.verdict)
    {
        // No contradiction, but not the same either: the reader is told.
        decision.reason = Some(in_words(other));
    }
    c.headline = Some(headline);
    decision
}

/// What one state shows by itself.
fn in_state(e: &Experiment, [a, b]: [&Variant; 2], paired: &Paired, p_holm: f64) -> Decision {
    let figure = |v: &'_ Variant| {
        v.headline
            .iter()
            .chain(&v.states)
            .find(|f| f.state == paired.state)
            .cloned()
    };
    let figures: [Option<Figure>; 2] = [figure(a), figure(b)];
    for (v, figure) in [a, b].into_iter().zip(&figures) {
        if figure.as_ref().is_some_and(|f| f.linear == Some(false)) {
            let why = v
                .linearity
                .as_ref()
                .filter(|l| l.linear == Some(false))
                .map_or("", |l| &l.why);
            let sep = if why.is_empty() { "" } else { ": " };
            return Decision::none(format!("not linear: {} has no constant cost{sep}{why}", v.name));
        }
    }
    let median = |v: &Variant, f: &Option<Figure>| f.as_ref().map_or(v.median, |f| f.median).abs();
    let cost = median(a, &figures[0]).max(median(b, &figures[1]));
    let floor = e.control.as_ref().map(|c| floor(c, paired.state));
    stats::decide(paired, p_holm, cost, floor, e.unit.more_is_faster())
}

/// The tighter bound of the state's own rounds and of all: what the apparatus adds does not depend on the neighbour.
fn floor(control: &Control, state: State) -> f64 {
    let own = control.states.iter().find(|s| s.state == state);
    own.map_or(control.floor, |own| own.floor.min(control.floor))
}

fn too_few(e: &Experiment, a: &Variant, b: &Variant, pairs: usize) -> String {
    if 2 * pairs < e.rounds {
        let lost = [a, b].map(|v| e.rounds.saturating_sub(v.n));
        return format!(
            "lost samples: of {} rounds, {} lost {} and {} lost {}, and {pairs} pairs are left",
            e.rounds, a.name, lost[0], b.name, lost[1]
        );
    }
    format!("too few rounds: {pairs}, and six that do not depend on each other are needed; give it more time")
}

fn in_words(p: &Paired) -> String {
    let state = match p.state {
        State::All => "over all rounds".to_string(),
        state => format!(
            "while the neighbour is {}",
            if state == State::Quiet { "idle" } else { state.as_str() }
        ),
    };
    format!("{} {state}: ratio {:.3}, {} rounds", p.verdict.in_words(), p.ratio, p.n)
}

fn variant<'a>(e: &'a Experiment, name: &str) -> Option<&'a Variant> {
    e.variants.iter().find(|v| v.name == name)
}

/// Puts the floor of means in place of that of medians.
fn welch_control(e: &mut Experiment) {
    let Some(mut control) = e.control.take() else { return };
    let samples = variant(e, &control.of)
        .map(|v| v.samples.as_slice())
        .unwrap_or_default();
    let floor = if control.samples.is_empty() {
        stats::split_floor(samples)
    } else {
        stats::noise_floor(samples, &control.samples)
    };
    e.control = floor.map(|floor| {
        control.difference = floor.difference;
        control.ci99 = floor.ci99;
        control.floor = floor.share;
        control.states.clear();
        control
    });
}

fn by_welch(e: &Experiment, c: &Comparison) -> Decision {
    let reference = variant(e, &c.b).map_or(f64::NAN, |v| v.mean);
    let floor = e.control.as_ref().map(|c| c.floor);
    let ratio_ci95 = record::bounds(c.ratio_ci95);
    let verdict = stats::verdict(
        c.difference,
        reference,
        c.p_holm,
        c.p_rank,
        ratio_ci95,
        floor,
        e.unit.more_is_faster(),
    );
    let share = (c.difference / reference).abs();
    let test = |name: &str, passed: bool, seen: String| Test {
        name: name.to_string(),
        seen,
        passed,
    };
    let [low, high] = ratio_ci95;
    let tests = vec![
        test(
            "welch",
            c.p_holm < stats::ALPHA,
            format!("p {:.2e}, {:.2e} after Holm's correction", c.p, c.p_holm),
        ),
        test("mann-whitney", c.p_rank < stats::ALPHA, format!("p {:.2e}", c.p_rank)),
        test(
            "bootstrap",
            (low > 1.0 && c.difference > 0.0) || (high < 1.0 && c.difference < 0.0),
            format!("ratio {:.4} [{low:.4}, {high:.4}]", c.ratio),
        ),
        test(
            "noise-floor",
            floor.is_some_and(|floor| share > floor),
            floor.map_or("no A/A control".to_string(), |floor| {
                format!("{:.2} % against a floor of {:.2} %", 100.0 * share, 100.0 * floor)
            }),
        ),
    ];
    let failed: Vec<&str> = tests.iter().filter(|t| !t.passed).map(|t| t.seen.as_str()).collect();
    Decision {
        reason: (verdict == Verdict::Undecided).then(|| format!("no difference is shown: {}", failed.join("; "))),
        verdict,
        tests,
    }
}
