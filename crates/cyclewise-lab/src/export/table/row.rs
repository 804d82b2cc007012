//! The rows of an experiment: of each variant what someone needs to decide.

use super::grid::{Column, Look, TEXT, fitted, style};
use super::headline_state;
use crate::answer::Finding;
use crate::export::number::{
    NONE, at_least_two_digits, brief, count, decimals, estimate, half_width, interval, percent, significant,
    uncertainty,
};
use crate::record::{Experiment, Kind, State, Variant, bounds};

/// A row that lost a larger share of its samples says how many.
const MANY_REJECTED: f64 = 0.1;

/// The table of `rows`.
pub(super) fn rows(e: &Experiment, rows: &[&Variant], look: Look) -> String {
    let column =
        |title, rank, cell: &dyn Fn(&Variant) -> String| Column::new(title, rank, rows.iter().map(|v| cell(v)));
    let mut columns = vec![
        column("variant", 0, &|v| v.name.clone()),
        column("median", 0, &median),
        column("95 %", 1, &|v| spread(v)),
        column("cycles", 2, &cycles),
        column("kind", 3, &|v| kind(v).to_owned()),
        column("n", 4, &|v| count(v.figure().n)),
    ];
    if look.wide {
        columns.extend([
            column("mean", 1, &|v| estimate(v.mean, v.ci95)),
            column("sd", 1, &|v| significant(v.sd, 2)),
            column("min", 1, &least),
            column("kept", 1, &|v| count(v.n)),
            column("rejected", 1, &|v| count(v.rejected)),
            column("IPC", 1, &|v| {
                let ipc = v.cycles.as_ref().and_then(|c| c.ipc);
                ipc.map_or_else(String::new, |ipc| significant(ipc, 3))
            }),
            column("bytes", 1, &|v| {
                v.code_bytes.map_or_else(String::new, |b| b.to_string())
            }),
        ]);
    }
    columns.push(column(TEXT, 0, &|v| text(e, v)));
    fitted(columns, look)
}

/// The value of the row with the digits that its interval supports; a dash where a slope is no cost.
fn median(v: &Variant) -> String {
    if v.n == 0 || v.is_not_linear() {
        return NONE.to_owned();
    }
    let (value, ci95) = v.value();
    let ci95 = bounds(ci95);
    // An older record has no interval of the median: that of the mean says how far to trust it.
    let uncertainty = match uncertainty(value, ci95) {
        unknown if unknown.is_nan() => half_width(v.ci95),
        known => known,
    };
    at_least_two_digits(value, decimals(value, uncertainty))
}

fn spread(v: &Variant) -> String {
    if v.n == 0 || v.is_not_linear() {
        return NONE.to_owned();
    }
    let (value, ci95) = v.value();
    interval(value, bounds(ci95))
}

fn cycles(v: &Variant) -> String {
    match &v.cycles {
        Some(_) if v.n == 0 || v.is_not_linear() => NONE.to_owned(),
        Some(c) => estimate(c.per_op, c.ci95),
        None => String::new(),
    }
}

/// A slope's least sample may be below 0, and is no cost then.
fn least(v: &Variant) -> String {
    if v.min <= 0.0 || v.is_not_linear() {
        return NONE.to_owned();
    }
    at_least_two_digits(v.min, decimals(v.mean, half_width(v.ci95)))
}

pub(super) fn kind(v: &Variant) -> &'static str {
    match v.kind {
        Some(Kind::Latency) => "chain",
        Some(Kind::Throughput) => "throughput",
        None => "",
    }
}

/// The row's comparisons, a line each, and its marks.
fn text(e: &Experiment, v: &Variant) -> String {
    let findings = e
        .comparisons
        .iter()
        .filter(|c| c.a == v.name)
        .map(|c| Finding::of(c, e.unit));
    let mut lines: Vec<String> = findings
        .map(|f| {
            let style = style(f.verdict);
            format!("{} {}: {style}{}{style:#}", f.times(), f.b, f.verdict())
        })
        .collect();
    lines.extend(marks(v, headline_state(e)));
    lines.join("\n")
}

/// What else someone must know to use the row's figure. `usual` is the state of most rows.
fn marks(v: &Variant, usual: State) -> Vec<String> {
    let mut marks = Vec::new();
    if v.n == 0 {
        marks.push("no samples kept".to_owned());
        return marks;
    }
    let figure = v.figure();
    if let Some(l) = v.linearity.as_ref().filter(|_| v.is_not_linear()) {
        let per_copy: Vec<String> = l.per_copy.iter().map(|c| significant(*c, 3)).collect();
        let copies: Vec<String> = l.copies.iter().map(|c| count(*c as usize)).collect();
        marks.push(format!(
            "not linear: {} a copy at {} copies",
            per_copy.join(", "),
            copies.join(", ")
        ));
    } else {
        let mut states = Vec::new();
        if figure.state != usual {
            states.push(format!("of {} rounds", figure.state.as_str()));
        }
        let others = v.states.iter().filter(|s| s.n > 0 && s.state != State::Mixed);
        states.extend(others.map(|s| format!("{} {}", s.state.as_str(), brief(s.median, bounds(s.ci95)))));
        if !states.is_empty() {
            marks.push(states.join(", "));
        }
        if figure.modes.len() > 1 {
            let mode = |m: &crate::record::Mode| format!("{} ({})", significant(m.value, 3), percent(m.share));
            let modes: Vec<String> = figure.modes.iter().map(mode).collect();
            marks.push(format!("modes {}", modes.join(", ")));
        }
    }
    if v.rejected as f64 > MANY_REJECTED * (v.n + v.rejected) as f64 {
        marks.push(format!("{} of {} rejected", v.rejected, v.n + v.rejected));
    }
    marks
}
