//! Two rows of a record of which one is not linear in its copies: their ratios in loops of each length, and a verdict.
//!
//! In order of preference: the record's comparison of the two at each length; the ratios of several runs; the common rounds of one run,
//! with Bonferroni's correction for the ratios of the table.

use super::primitives::PRIMITIVES;
use super::ratio::{ByLength, Measured, Ratio};
use crate::record::{
    Comparison, Interval, PairAtLength, Paired, Reason, RunLengths, State, Variant, Verdict, pairs_at_lengths,
};
use crate::stats::{self, Decision, PairAt};
use cyclewise_bench::runner::parts::verdict_of_runs;

/// A ratio at a length.
type At = (f64, Interval);

impl Ratio {
    /// `a` relative to `times` operations of `b`, of which one is not linear; `None` if the record lacks what it takes.
    pub(super) fn by_length(a: Measured, b: Measured, times: u32) -> Option<Self> {
        if a.experiment.name != b.experiment.name {
            return None;
        }
        let (at, decision) = compared(a, b, times)
            .or_else(|| of_runs(a, b, times))
            .or_else(|| of_rounds(a, b, times))?;
        let decision = match a.among(b).filter(|_| times == 1) {
            Some(among) => among.hold(decision),
            None => decision,
        };
        let ratios = || at.iter().map(|(ratio, _)| *ratio);
        let bound = |i: usize, widest: fn(f64, f64) -> f64| {
            let bounds: Option<Vec<f64>> = at.iter().map(|(_, ci95)| ci95[i]).collect();
            bounds?.into_iter().reduce(widest)
        };
        Some(Self {
            value: ratios().min_by(|x, y| x.ln().abs().total_cmp(&y.ln().abs()))?,
            ci95: [bound(0, f64::min), bound(1, f64::max)],
            paired: true,
            by_length: Some(ByLength {
                least: ratios().reduce(f64::min)?,
                most: ratios().reduce(f64::max)?,
                verdict: decision.verdict,
                reason: decision.reason,
            }),
        })
    }
}

impl Measured<'_> {
    fn among(&self, other: Self) -> Option<crate::record::Among> {
        let name = |m: &'_ Self| [m.experiment.name.clone(), m.variant.name.clone()];
        let ([e, a], [f, b]) = (name(self), name(&other));
        self.record.among([&e, &a], [&f, &b])
    }
}

/// The record's own comparison of `a` with `b`.
fn compared(a: Measured, b: Measured, times: u32) -> Option<(Vec<At>, Decision)> {
    let of_two = |c: &&Comparison| c.a == a.variant.name && c.b == b.variant.name;
    let c = a.experiment.comparisons.iter().find(of_two).filter(|_| times == 1)?;
    let lengths = c.ratios_at_lengths().into_iter();
    let at: Vec<At> = lengths.map(|(_, ratio, ci95)| (ratio, ci95)).collect();
    let decision = Decision {
        verdict: c.verdict,
        reason: c.reason.clone(),
        tests: Vec::new(),
    };
    (!at.is_empty()).then_some((at, decision))
}

/// By the ratios that each run has at each length.
fn of_runs(a: Measured, b: Measured, times: u32) -> Option<(Vec<At>, Decision)> {
    let name = &a.experiment.name;
    let both = a.record.runs.iter().filter_map(|run| {
        let (x, y) = (run.lengths(name, &a.variant.name)?, run.lengths(name, &b.variant.name)?);
        (x.copies == y.copies).then_some((x, y))
    });
    let both: Vec<(&RunLengths, &RunLengths)> = both.collect();
    if both.len() < 2 || both.iter().any(|(x, _)| x.copies != both[0].0.copies) {
        return None;
    }
    let floor = a
        .experiment
        .control
        .as_ref()
        .map(|c| c.floor_in(State::All, stats::ENOUGH));
    let (mut at, mut verdicts) = (Vec::new(), Vec::new());
    for (i, copies) in both[0].0.copies.into_iter().enumerate() {
        let ratios: Vec<f64> = both
            .iter()
            .map(|(x, y)| x.headline[i] / (f64::from(times) * y.headline[i]))
            .collect();
        let between = stats::between_runs(&ratios)?;
        at.push((between.value, between.ci95));
        // Without a control nothing is claimed.
        let verdict = floor.map_or(Verdict::Undecided, |floor| verdict_of_runs(&ratios, floor));
        verdicts.push((copies, verdict));
    }
    Some((at, agreed(&verdicts)))
}

/// The verdict that all lengths give.
fn agreed(verdicts: &[(f64, Verdict)]) -> Decision {
    let first = verdicts.first().map_or(Verdict::Undecided, |(_, verdict)| *verdict);
    if first != Verdict::Undecided && verdicts.iter().all(|(_, verdict)| *verdict == first) {
        return Decision {
            verdict: first,
            ..Decision::default()
        };
    }
    Decision {
        verdict: Verdict::Undecided,
        reason: Some(Reason::not_linear(format_args!(
            ": {}",
            stats::lengths_in_words(verdicts)
        ))),
        tests: Vec::new(),
    }
}

/// By the common rounds of one run: of the quiet state where enough are.
fn of_rounds(a: Measured, b: Measured, times: u32) -> Option<(Vec<At>, Decision)> {
    if a.is_of_runs() || b.is_of_runs() {
        return None;
    }
    let in_state = |state| pairs_at_lengths(a.variant, b.variant, &[state], f64::from(times));
    let enough = |at: &PairAtLength| at.figures[0].effective_n >= stats::ENOUGH;
    let quiet = in_state(State::Quiet);
    let (state, lengths) = match !quiet.is_empty() && quiet.iter().all(enough) {
        true => (State::Quiet, quiet),
        false => (State::All, in_state(State::All)),
    };
    let figures: Vec<(f64, &Paired)> = lengths.iter().map(|at| (at.copies, &at.figures[0])).collect();
    let p = figures.iter().map(|(_, paired)| paired.p).reduce(f64::max)?;
    // A limit and a peer of each primitive.
    let corrected = (p * (2 * PRIMITIVES.len()) as f64).min(1.0);
    let cost = |length: usize| {
        let of = |v: &Variant| stats::median(v.samples_at(length, state).into_iter()).unwrap_or(0.0);
        of(a.variant).max(f64::from(times) * of(b.variant))
    };
    let at: Vec<PairAt<'_>> = figures
        .iter()
        .enumerate()
        .map(|(length, (copies, paired))| PairAt {
            copies: *copies,
            paired,
            cost: cost(length),
        })
        .collect();
    let floor = a.experiment.control.as_ref().map(|c| c.floor_in(state, stats::ENOUGH));
    let decision = stats::decide_at_lengths(&at, corrected, floor);
    Some((figures.iter().map(|(_, p)| (p.ratio, p.ratio_ci95)).collect(), decision))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::markdown;
    use crate::limits::{self, NoCost, PrimitiveCosts};
    use crate::record::made_up::{bent, record_of};
    use crate::record::{Control, Experiment, Record, Run};

    const LIST: &str = "Stack: pop and push";
    const COSTS: [f64; 3] = [1.5, 9.0, 7.0];

    /// A record whose stack costs this at 4, 8 and 16 copies, and a limit of two operations of `COSTS`.
    fn record(stack: [f64; 3]) -> Record {
        record_of(vec![Experiment {
            name: "percpu-lists".to_owned(),
            variants: vec![bent("stack", stack, ""), bent("rseq-add", COSTS, "")],
            control: Some(Control {
                floor: 0.005,
                ..Control::default()
            }),
            ..Experiment::default()
        }])
    }

    fn found(record: &Record) -> PrimitiveCosts {
        let limits = limits::on_machines(vec![record.clone()]);
        let place = PRIMITIVES.iter().position(|p| p.name == LIST).unwrap();
        limits.machines[0].primitives[place].clone()
    }

    fn judged(record: &Record) -> (Verdict, Option<String>) {
        let by_length = found(record).to_limit.unwrap().by_length.unwrap();
        (by_length.verdict, by_length.reason.map(String::from))
    }

    #[test]
    fn the_range_and_the_verdict_stand_for_a_cost_and_its_ratio() {
        let r = record([4.5, 36.0, 21.0]);
        let of_stack = found(&r);
        let ours = of_stack.ours.as_ref().unwrap();
        assert_eq!(ours.value, Err(NoCost::NotLinear));
        assert_eq!(ours.range.unwrap().map(|at| at.cost), [4.5, 36.0]);
        assert_eq!(
            of_stack.limit.as_ref().unwrap().range.unwrap().map(|at| at.cost),
            [3.0, 18.0]
        );
        assert_eq!(judged(&r), (Verdict::Slower, None));
        let shown = markdown::limits(&limits::on_machines(vec![r]));
        let cells = format!("| {LIST} | `rseq-add` | 3.00–18.0 | 4.50–36.0 | 1.50–2.00 (slower) | — | — |");
        assert!(shown.contains(&cells), "{shown}");
    }

    #[test]
    fn lengths_that_do_not_agree_are_undecided_with_the_reason() {
        let r = record([1.5, 36.0, 21.0]);
        let why = "not linear: faster at 4 copies, slower at 8 and 16".to_owned();
        assert_eq!(judged(&r), (Verdict::Undecided, Some(why)));
        let shown = markdown::limits(&limits::on_machines(vec![r.clone()]));
        assert_says!(shown, "(undecided: faster at 4 copies, slower at 8 and 16)");
        // The twin: without batches there is nothing to compare, and no ratio.
        let mut without = r;
        without.experiments[0].variants[1].batches = None;
        assert_eq!(found(&without).to_limit, None);
    }

    #[test]
    fn several_runs_must_agree_at_every_length() {
        let of_runs = |stacks: [[f64; 3]; 3]| {
            let mut whole = record(stacks[0]);
            whole.runs = stacks.map(|stack| Run::of_record(&record(stack))).to_vec();
            whole
        };
        let apart = of_runs([[4.5, 36.0, 21.0], [4.6, 35.0, 21.0], [4.55, 37.0, 21.5]]);
        assert_eq!(judged(&apart), (Verdict::Slower, None));
        let [low, high] = found(&apart).to_limit.unwrap().ci95.map(Option::unwrap);
        assert!(low < 1.5 && high > 2.0, "{low} {high}");
        // The twin: at one length a run says the opposite.
        let against = of_runs([[4.5, 36.0, 21.0], [2.6, 35.0, 21.0], [4.55, 37.0, 21.5]]);
        let why = "not linear: undecided at 4 copies, slower at 8 and 16".to_owned();
        assert_eq!(judged(&against), (Verdict::Undecided, Some(why)));
    }
}
