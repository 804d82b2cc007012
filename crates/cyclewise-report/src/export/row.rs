//! The figures and marks of a row as text, the same in every format.

use super::number::{
    NONE, added, at_least_two_digits, brief, cost_range, count, decimals, estimate, half_width, interval, percent,
    significant, uncertainty,
};
use crate::record::{Experiment, FigureKind, Mode, State, TimedCommand, Variant, bounds};

/// A row that lost a larger share of its samples says how many.
const MANY_REJECTED: f64 = 0.1;

/// The value of the row with the digits that its interval supports; where a slope is no cost, the least and the greatest time of a copy
/// by the loop around it, or a dash if they are not known.
pub(super) fn median(v: &Variant) -> String {
    if v.n == 0 {
        return NONE.to_owned();
    }
    if v.is_not_linear() {
        return v.cost_range().map_or(NONE.to_owned(), |range| cost_range(range, 1.0));
    }
    let (value, ci95) = v.value();
    let ci95 = bounds(ci95);
    // An older record has no interval of the median: that of the mean says how far to trust it.
    let uncertainty = match uncertainty(value, ci95) {
        unknown if unknown.is_nan() && v.headline.is_none() => half_width(v.ci95),
        known => known,
    };
    at_least_two_digits(value, decimals(value, uncertainty))
}

/// The 95 % interval of that; of a range, from the lower bound of its least to the upper bound of its greatest.
pub(super) fn spread(v: &Variant) -> String {
    if v.n == 0 {
        return NONE.to_owned();
    }
    if v.is_not_linear() {
        return v.cost_range().map_or(NONE.to_owned(), |[least, most]| {
            interval(least.cost, bounds([least.ci95[0], most.ci95[1]]))
        });
    }
    let (value, ci95) = v.value();
    interval(value, bounds(ci95))
}

pub(super) fn cycles(v: &Variant) -> String {
    match &v.cycles {
        Some(_) if v.n == 0 || v.is_not_linear() => NONE.to_owned(),
        Some(c) => estimate(c.per_op, c.ci95),
        None => String::new(),
    }
}

/// A slope's least sample may be below 0, and is no cost then.
pub(super) fn least(v: &Variant) -> String {
    if v.min <= 0.0 || v.is_not_linear() {
        return NONE.to_owned();
    }
    at_least_two_digits(v.min, decimals(v.mean, half_width(v.ci95)))
}

/// The largest sample, with the digits of the median: one late run widens the mean's interval.
pub(super) fn most(v: &Variant) -> String {
    let (value, ci95) = v.value();
    let most = v.samples.iter().copied().fold(f64::NAN, f64::max);
    at_least_two_digits(most, decimals(value, uncertainty(value, bounds(ci95))))
}

pub(super) fn kind(v: &Variant) -> &'static str {
    match v.kind {
        Some(FigureKind::Latency) => "chain",
        Some(FigureKind::Throughput) => "throughput",
        None => "",
    }
}

/// What else someone must know to use the row's figure. `usual` is the state of most rows; `adds` what the row adds among other
/// instructions, at least and at most, which is told of a row that is not linear.
pub(super) fn marks(v: &Variant, usual: State, adds: Option<[f64; 2]>) -> Vec<String> {
    let mut marks = Vec::new();
    if v.n == 0 {
        marks.push("no samples kept".to_owned());
        return marks;
    }
    marks.extend(v.timed.as_ref().and_then(TimedCommand::failures_in_words));
    let figure = v.figure();
    if v.is_not_linear() {
        let at = v.at_lengths();
        let per_copy: Vec<String> = at.iter().map(|at| significant(at.cost, 3)).collect();
        let copies: Vec<String> = at.iter().map(|at| count(at.copies as usize)).collect();
        let adds = adds.map_or(String::new(), |adds| format!("; {}", added(adds)));
        marks.push(format!(
            "not linear: {} a copy at {} copies{adds}",
            per_copy.join(", "),
            copies.join(", ")
        ));
    } else {
        let mut states = Vec::new();
        if figure.state != usual {
            states.push(format!("of {} rounds", figure.state.as_str()));
        }
        let others = v.states.iter().filter(|s| s.n > 0 && s.state != State::Mixed);
        states.extend(others.map(|s| match s.linear {
            Some(false) => format!("{} not linear", s.state.as_str()),
            _ => format!("{} {}", s.state.as_str(), brief(s.median, bounds(s.ci95))),
        }));
        if !states.is_empty() {
            marks.push(states.join(", "));
        }
        if figure.modes.len() > 1 {
            let mode = |m: &Mode| format!("{} ({})", significant(m.value, 3), percent(m.share));
            let modes: Vec<String> = figure.modes.iter().map(mode).collect();
            marks.push(format!("modes {}", modes.join(", ")));
        }
    }
    // A stranger's record may have any numbers.
    let taken = v.n.saturating_add(v.rejected);
    if v.rejected as f64 > MANY_REJECTED * taken as f64 {
        marks.push(format!("{} of {taken} rejected", v.rejected));
    }
    marks
}

/// The state that most rows' headline figures are of.
pub(super) fn usual_state(e: &Experiment) -> State {
    let cells = e
        .matrix()
        .into_iter()
        .flat_map(|m| &m.operations)
        .flat_map(|o| o.cells.iter().flatten());
    let of_cells = cells.map(|cell| cell.added.state);
    let states: Vec<State> = e.variants.iter().map(|v| v.figure().state).chain(of_cells).collect();
    let count = |state: State| states.iter().filter(|s| **s == state).count();
    let all = [State::All, State::Quiet, State::Busy, State::Mixed];
    all.into_iter()
        .max_by_key(|s| (count(*s), *s == State::All))
        .unwrap_or_default()
}
