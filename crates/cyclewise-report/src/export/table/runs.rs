//! Tables for whole commands: metrics beside the time, every run, and the t-tests in words.

use super::grid::{BOLD, Column, Look, in_blocks, wrapped};
use crate::export::in_unit;
use crate::export::number::{decimals, estimate, fixed, half_width, interval, p_value, ratio, significant};
use crate::record::{Comparison, Experiment, Metric, Variant, bounds};
use std::fmt::Write;

/// One column per metric: mean and standard deviation, in as many tables as it takes. Variants without metrics and metrics that are always 0 are left out;
/// empty if nothing is left.
pub(super) fn metrics(e: &Experiment, look: Look) -> String {
    let is_zero = |m: &Metric| m.mean == 0.0 && m.sd == 0.0;
    let said = |name: &str| {
        e.variants
            .iter()
            .filter_map(|v| v.metrics.get(name))
            .any(|m| !is_zero(m))
    };
    let shown: Vec<(&str, &str)> = e.metric_units().into_iter().filter(|(name, _)| said(name)).collect();
    if shown.is_empty() {
        return String::new();
    }
    let cell = |m: &Metric| match is_zero(m) {
        true => "0".to_owned(),
        false => format!("{} ± {}", fixed(m.mean, decimals(m.mean, m.sd)), significant(m.sd, 2)),
    };
    let rows: Vec<&Variant> = e.variants.iter().filter(|v| !v.metrics.is_empty()).collect();
    let mut columns = vec![Column::text("mean ± sd of", rows.iter().map(|v| v.name.clone()))];
    columns.extend(shown.into_iter().map(|metric| {
        let cells = rows
            .iter()
            .map(|v| v.metrics.get(metric.0).map_or_else(String::new, cell));
        Column::new(title(metric), 0, cells)
    }));
    format!("{}\n", in_blocks(1, &columns, look))
}

/// The name of a metric, with its unit if it has one.
fn title((name, unit): (&str, &str)) -> String {
    if unit == "1" {
        name.to_owned()
    } else {
        format!("{name} ({unit})")
    }
}

/// Every run of every variant.
pub fn runs(e: &Experiment, look: Look) -> String {
    let e = &*in_unit::experiment(e, look.unit);
    let runs: Vec<(&Variant, usize)> = e.variants.iter().flat_map(|v| (0..v.n).map(move |i| (v, i))).collect();
    let cells =
        |cell: &dyn Fn(&Variant, usize) -> String| -> Vec<String> { runs.iter().map(|(v, i)| cell(v, *i)).collect() };
    let number =
        |title: String, cell: &dyn Fn(&Variant, usize) -> String| Column::new(title, 0, cells(cell).into_iter());
    let mut columns = vec![
        Column::text("run of", cells(&|v, _| v.name.clone()).into_iter()),
        number("#".to_owned(), &|_, i| (i + 1).to_string()),
        number(format!("real ({})", e.unit.as_str()), &|v, i| {
            significant(v.samples[i], 5)
        }),
    ];
    columns.extend(e.metric_units().into_iter().map(|metric| {
        number(title(metric), &|v, i| {
            let sample = v.metrics.get(metric.0).and_then(|m| m.samples.get(i));
            sample.map_or_else(String::new, |x| significant(*x, 4))
        })
    }));
    format!("{}\n", in_blocks(2, &columns, look))
}

/// Each comparison in words, with the terms of its t-test.
pub fn t_tests(e: &Experiment, look: Look) -> String {
    let e = &*in_unit::experiment(e, look.unit);
    let mut out = String::new();
    let sem = |name: &str| {
        e.variants
            .iter()
            .find(|v| v.name == name)
            .map_or(f64::NAN, |v| v.sd / (v.n as f64).sqrt())
    };
    let unit = e.unit.as_str();
    for c in &e.comparisons {
        let digits = decimals(c.difference, half_width(c.ci95));
        let difference = format!(
            ": {} {unit}, 95 % confidence interval {} {unit}",
            estimate(c.difference, c.ci95),
            interval(c.difference, c.ci95)
        );
        let terms = format!(
            "t = {}, df = {}, standard error of the difference {}, two-tailed p = {} (Welch); SEM {} and {}",
            fixed(c.t, 4),
            fixed(c.df, 1),
            fixed(sem(&c.a).hypot(sem(&c.b)), digits),
            p_value(c.p),
            fixed(sem(&c.a), digits),
            fixed(sem(&c.b), digits),
        );
        let kinds = match quantities(c, unit) {
            kinds if kinds.is_empty() => kinds,
            kinds => format!("\n  {}", wrapped(&kinds, look, 2, 2)),
        };
        let before = c.a.chars().count() + " minus ".len() + c.b.chars().count();
        let _ = writeln!(
            out,
            "{BOLD}{}{BOLD:#} minus {BOLD}{}{BOLD:#}{}\n  {}{kinds}\n",
            c.a,
            c.b,
            wrapped(&difference, look, before, 2),
            wrapped(&terms, look, 2, 2)
        );
    }
    out
}

/// The medians of each kind of time, and their ratios; empty where there is none.
fn quantities(c: &Comparison, unit: &str) -> String {
    let shown = c.quantities.iter().map(|q| {
        let [a, b] = q.medians.map(|m| significant(m, 3));
        let ci95 = bounds(q.ratio_ci95);
        let (times, spread) = (ratio(q.ratio, ci95), interval(q.ratio, ci95));
        format!("{} {a} and {b} {unit}, {times}× ({spread})", q.quantity)
    });
    match shown.collect::<Vec<_>>() {
        none if none.is_empty() => String::new(),
        some => format!("medians, and their ratios in rounds: {}", some.join("; ")),
    }
}
