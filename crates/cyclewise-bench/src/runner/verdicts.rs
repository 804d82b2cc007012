//! The verdicts of a whole record.
//!
//! | verdict | when |
//! |---|---|
//! | no verdict | one of two commands failed more often, too few pairs of rounds are left, a row is not linear in the headline's state and the other has loops of other lengths, or stolen time explains the difference |
//! | depends on the neighbour | the headline and another state both show a difference (see [`decision`](crate::stats::decide)), of opposite signs |
//! | faster, slower | of commands with fewer than six rounds: their runs do not overlap, and the exact rank test is sure, as of five and five |
//! | faster, slower, same, undecided | what the headline shows, by the rule of [`decision`](crate::stats::decide) |
//!
//! The headline is the quiet state's where that is worth at least twenty independent rounds. A mixed state decides nothing:
//! it is part of both others, so its p is no part of the correction either. How many samples were rejected decides nothing either, as long as pairs are left; a note
//! says so.
//!
//! # Rows that are not linear
//! A slope that is no cost decides nothing. The two are compared in loops of each length, and among other instructions where
//! both were measured there: a verdict is what all lengths say ([`decide_at_lengths`](stats::decide_at_lengths)), if what they
//! add elsewhere shows the same somewhere and the opposite nowhere (`lengths`).
//!
//! # Welch
//! [`Estimator::Welch`] is the rule of the source: four tests on means have to agree (see [`verdict`](crate::stats::verdict)).
//! Each is listed with its figure. It knows no states, and takes dependent rounds for independent ones. A row that is not
//! linear gets no verdict from it either.

use super::{by_ranks, lengths, stolen};
use crate::record::{
    self, Among, Comparison, Estimator, Experiment, Paired, Reason, Record, State, Test, TimedCommand, Variant, Verdict,
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
             intervals would be narrower with less other work, another CPU (`taskset -c N`), or an idle machine",
            100.0 * share
        )
    })
}

/// Corrects p over all comparisons of `record` and sets the verdicts, by paired medians.
pub fn give_verdicts(record: &mut Record) {
    give_verdicts_by(record, Estimator::Median);
}

/// The same, by this estimator.
pub fn give_verdicts_by(record: &mut Record, estimator: Estimator) {
    let comparisons = || record.experiments.iter().flat_map(|e| &e.comparisons);
    let p: Vec<f64> = match estimator {
        Estimator::Welch => comparisons().map(|c| c.p).collect(),
        Estimator::Median => comparisons()
            .map(|c| c.headline.as_ref().map_or(1.0, |h| lengths::largest_p(c, h)))
            .collect(),
    };
    // The states beside the headline are a family of their own, without those that decide nothing.
    let decides = |s: &&Paired| s.state != State::Mixed;
    let p_states: Vec<f64> = comparisons()
        .flat_map(|c| c.states.iter().filter(decides).map(|s| lengths::largest_p(c, s)))
        .collect();
    let mut among = lengths::among_others(record).into_iter();
    let mut corrected = stats::holm(&p).into_iter();
    let mut corrected_states = stats::holm(&p_states).into_iter();
    for e in &mut record.experiments {
        let mut comparisons = std::mem::take(&mut e.comparisons);
        if estimator == Estimator::Welch {
            welch_control(e);
        }
        for c in &mut comparisons {
            c.estimator = estimator;
            c.among = among.next().flatten();
            c.p_holm = corrected.next().unwrap_or(1.0);
            let corrected = |s: &Paired| decides(&s).then(|| corrected_states.next()).flatten().unwrap_or(1.0);
            let states: Vec<f64> = c.states.iter().map(corrected).collect();
            let mut decision = match estimator {
                Estimator::Median => by_median(e, c, &states),
                Estimator::Welch => by_welch(e, c),
            };
            if let Some(why) = unlike_failures(e, c) {
                decision = Decision {
                    tests: decision.tests,
                    ..Decision::none(Reason::Other(why))
                };
                c.headline.iter_mut().for_each(|h| h.verdict = Verdict::None);
            }
            c.verdict = decision.verdict;
            c.reason = decision.reason;
            c.tests = decision.tests;
        }
        e.comparisons = comparisons;
    }
}

/// Why times of commands cannot be compared of which one failed more often: a run that fails does less.
fn unlike_failures(e: &Experiment, c: &Comparison) -> Option<String> {
    let [a, b] = [&c.a, &c.b].map(|name| variant(e, name).and_then(|v| Some((name, v.timed.as_ref()?))));
    let (a, b) = (a?, b?);
    let said = |(name, timed): (&String, &TimedCommand)| match timed.failures_in_words() {
        Some(failures) => format!("of {name}, {failures}"),
        None => format!("of {name}, none of {} failed", timed.runs),
    };
    a.1.fails_unlike(b.1)
        .then(|| format!("one fails more often: {}; {}", said(a), said(b)))
}

fn by_median(e: &Experiment, c: &mut Comparison, p_states: &[f64]) -> Decision {
    let (Some(a), Some(b)) = (variant(e, &c.a), variant(e, &c.b)) else {
        return Decision::none(Reason::Other("one of the two was not measured".to_string()));
    };
    let Some(mut headline) = c.headline.take() else {
        return Decision::none(Reason::Other(no_pairs(e, a, b)));
    };
    let of_states = c.states.iter().zip(p_states);
    let verdicts: Vec<Verdict> = of_states
        .map(|(state, p)| in_state(e, [a, b], c, state, *p).verdict)
        .collect();
    for (state, verdict) in c.states.iter_mut().zip(verdicts) {
        state.verdict = verdict;
    }
    let mut decision = in_state(e, [a, b], c, &headline, c.p_holm);
    let at_lengths = c.at_lengths(headline.state);
    if let Some(among) = c.among.as_ref().filter(|_| !at_lengths.is_empty()) {
        decision = among.hold(decision);
    }
    headline.verdict = decision.verdict;
    if headline.ci95[0].is_none() && at_lengths.is_empty() {
        decision = match by_ranks::decide(e.unit, c.p_rank, [a, b], &mut headline) {
            Some(decision) => decision,
            None => Decision::none(Reason::Other(too_few(e, a, b, headline.n))),
        };
        headline.verdict = decision.verdict;
    }
    if let Some(why) = stolen::forbids(a, b, headline.ratio) {
        decision = Decision {
            tests: decision.tests,
            ..Decision::none(Reason::Other(why))
        };
    }
    let opposite = |s: &&Paired| s.state != State::Mixed && s.verdict.is_claim() && s.verdict != decision.verdict;
    if decision.verdict.is_claim()
        && let Some(other) = c.states.iter().find(opposite)
    {
        decision.verdict = Verdict::Depends;
        decision.reason = Some(Reason::Other(in_words(c, &headline)).and(&in_words(c, other)));
    } else if decision.verdict != Verdict::None
        && let Some(other) = c.states.iter().find(|s| {
            let told = decision.verdict.is_claim() || s.verdict.is_claim();
            s.state == State::Busy && s.verdict != decision.verdict && told
        })
    {
        // No contradiction, but not the same either: the reader is told.
        let told = in_words(c, other);
        decision.reason = Some(match decision.reason {
            Some(own) => own.and(&told),
            None => Reason::Other(told),
        });
    }
    // Only where no state contradicts it.
    let negligible = match at_lengths.as_slice() {
        [] => stats::is_negligible(headline.ratio_ci95),
        at => {
            at.iter().all(|(_, paired)| stats::is_negligible(paired.ratio_ci95))
                && c.among.as_ref().is_none_or(Among::is_same)
        }
    };
    if decision.verdict.is_claim() && negligible {
        decision.verdict = Verdict::Same;
        let negligible = Reason::Other("within 0.5\u{a0}%".to_string());
        decision.reason = Some(match decision.reason {
            Some(why) => negligible.and(&why),
            None => negligible,
        });
    }
    c.headline = Some(headline);
    decision
}

/// What one state shows by itself.
fn in_state(e: &Experiment, [a, b]: [&Variant; 2], c: &Comparison, paired: &Paired, p_holm: f64) -> Decision {
    let floor = e.control.as_ref().map(|c| c.floor_in(paired.state, stats::ENOUGH));
    if let Some(bent) = [a, b].into_iter().find(|v| v.is_bent_in(paired.state)) {
        let at = lengths::pairs([a, b], c, paired.state);
        return match at.is_empty() {
            true => not_linear(bent),
            false => stats::decide_at_lengths(&at, p_holm, floor),
        };
    }
    let median = |v: &Variant| {
        let mut figures = v.headline.iter().chain(&v.states);
        figures
            .find(|f| f.state == paired.state)
            .map_or(v.median, |f| f.median)
            .abs()
    };
    stats::decide(paired, p_holm, median(a).max(median(b)), floor, e.unit.more_is_faster())
}

/// Whether the row's headline is not linear, or any figure where it has no headline.
fn is_headline_bent(v: &Variant) -> bool {
    v.is_bent_in(v.figure().state)
}

fn not_linear(v: &Variant) -> Decision {
    let why = v.linearity.as_ref().filter(|l| l.linear == Some(false));
    let why = why.map_or("", |l| &l.why);
    let sep = if why.is_empty() { "" } else { ": " };
    Decision::none(Reason::not_linear(format_args!(
        ": {} has no constant cost{sep}{why}",
        v.name
    )))
}

/// Why two rows have no paired figure.
fn no_pairs(e: &Experiment, a: &Variant, b: &Variant) -> String {
    if b.median <= 0.0 {
        return format!("{} has no measurable cost, so there is no ratio", b.name);
    }
    too_few(e, a, b, 0)
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

fn in_words(c: &Comparison, p: &Paired) -> String {
    let state = match p.state {
        State::All => "over all rounds".to_string(),
        state => format!(
            "while the neighbour is {}",
            if state == State::Quiet { "idle" } else { state.as_str() }
        ),
    };
    let ratios: Vec<f64> = c.at_lengths(p.state).iter().map(|(_, paired)| paired.ratio).collect();
    let ratio = match stats::describe(&ratios) {
        Some(s) => format!("ratios {:.3} to {:.3}", s.min, s.max),
        None => format!("ratio {:.3}", p.ratio),
    };
    format!("{} {state}: {ratio}, {} rounds", p.verdict.in_words(), p.n)
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
    let rows = [&c.a, &c.b].map(|name| variant(e, name));
    if let Some(bent) = rows.into_iter().flatten().find(|v| is_headline_bent(v)) {
        return not_linear(bent);
    }
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
        reason: (verdict == Verdict::Undecided)
            .then(|| Reason::Other(format!("no difference is shown: {}", failed.join("; ")))),
        verdict,
        tests,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Control, Figure, StateFloor};

    fn figure(state: State, linear: bool) -> Figure {
        Figure {
            state,
            median: 1.0,
            linear: Some(linear),
            ..Figure::default()
        }
    }

    /// A row with a quiet headline.
    fn row(name: &str, linear: bool) -> Variant {
        Variant {
            name: name.to_string(),
            headline: Some(figure(State::Quiet, linear)),
            n: 100,
            mean: 1.0,
            median: 1.0,
            samples: (0..100).map(|i| 1.0 + 0.001 * f64::from(i * 7 % 11)).collect(),
            ..Variant::default()
        }
    }

    fn paired(state: State, ratio: f64, p: f64) -> Paired {
        Paired {
            state,
            n: 100,
            effective_n: 100.0,
            difference: ratio - 1.0,
            ci95: [Some(ratio - 1.001), Some(ratio - 0.999)],
            ratio,
            ratio_ci95: [Some(ratio - 0.001), Some(ratio + 0.001)],
            p,
            ..Paired::default()
        }
    }

    fn judged(a: Variant, b: Variant, comparison: Comparison, estimator: Estimator) -> Comparison {
        let mut record = Record {
            experiments: vec![Experiment {
                rounds: 100,
                variants: vec![a, b],
                control: Some(Control {
                    of: "b".to_string(),
                    floor: 0.01,
                    ..Control::default()
                }),
                comparisons: vec![Comparison {
                    a: "a".to_string(),
                    b: "b".to_string(),
                    ..comparison
                }],
                ..Experiment::default()
            }],
            ..Record::default()
        };
        give_verdicts_by(&mut record, estimator);
        record.experiments.remove(0).comparisons.remove(0)
    }

    fn of(headline: Paired, states: Vec<Paired>) -> Comparison {
        Comparison {
            headline: Some(headline),
            states,
            ratio: 1.5,
            difference: 0.5,
            ratio_ci95: [Some(1.4), Some(1.6)],
            ..Comparison::default()
        }
    }

    #[test]
    fn a_row_that_is_not_linear_has_no_verdict_over_all_rounds_nor_by_means() {
        // Too few rounds were quiet on both sides, so the pair's headline is of all rounds and the row's of the quiet ones.
        for estimator in [Estimator::Median, Estimator::Welch] {
            let pair = || of(paired(State::All, 1.5, 1e-9), Vec::new());
            let bent = judged(row("a", false), row("b", true), pair(), estimator);
            assert_eq!(bent.verdict, Verdict::None);
            assert!(bent.reason.unwrap().contains("not linear: a"));
            let twin = judged(row("a", true), row("b", true), pair(), estimator);
            assert_eq!(twin.verdict, Verdict::Slower);
        }
    }

    #[test]
    fn the_floor_of_a_few_rounds_of_a_state_does_not_count() {
        let with = |n| Control {
            floor: 0.02,
            states: vec![StateFloor {
                state: State::Busy,
                n,
                floor: 0.001,
            }],
            ..Control::default()
        };
        assert_eq!(with(7).floor_in(State::Busy, stats::ENOUGH), 0.02, "by chance");
        assert_eq!(with(100).floor_in(State::Busy, stats::ENOUGH), 0.001);
        assert_eq!(with(100).floor_in(State::Quiet, stats::ENOUGH), 0.02);
    }

    #[test]
    fn a_reference_that_costs_nothing_is_the_reason_and_not_lost_samples() {
        let nothing = Variant {
            median: 0.0,
            ..row("b", true)
        };
        let without = || Comparison::default();
        let c = judged(row("a", true), nothing, without(), Estimator::Median);
        assert_eq!(c.verdict, Verdict::None);
        assert!(c.reason.unwrap().starts_with("b has no measurable cost"));
        let twin = judged(row("a", true), row("b", true), without(), Estimator::Median);
        assert!(twin.reason.unwrap().contains("lost samples"));
    }

    #[test]
    fn a_mixed_state_decides_nothing_and_costs_the_others_nothing() {
        let busy = || paired(State::Busy, 0.5, 0.03);
        let beside = |other: Option<Paired>| {
            let states = [busy()].into_iter().chain(other).collect();
            let pair = of(paired(State::Quiet, 1.5, 1e-9), states);
            judged(row("a", true), row("b", true), pair, Estimator::Median)
        };
        assert_eq!(beside(None).verdict, Verdict::Depends);
        let c = beside(Some(paired(State::Mixed, 0.5, 0.03)));
        assert_eq!(c.verdict, Verdict::Depends, "p 0.03 twice would be corrected to 0.06");
        assert!(!c.states[1].verdict.is_claim());
        // The twin: a second state that decides is part of the family.
        let c = beside(Some(paired(State::Quiet, 0.5, 0.03)));
        assert_eq!(c.verdict, Verdict::Slower);
    }

    #[test]
    fn what_only_the_busy_state_shows_is_in_the_reason() {
        let with = |busy: f64| {
            let pair = of(paired(State::Quiet, 1.0, 0.9), vec![paired(State::Busy, busy, 1e-9)]);
            judged(row("a", true), row("b", true), pair, Estimator::Median)
        };
        let c = with(1.3);
        assert_eq!(c.verdict, Verdict::Same);
        let reason = c.reason.unwrap();
        assert!(
            reason.starts_with("within 1\u{a0}%; slower while the neighbour is busy"),
            "{reason}"
        );
        assert_eq!(&*with(1.0).reason.unwrap(), "within 1\u{a0}%", "the twin");
    }
}
