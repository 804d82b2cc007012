//! Tables for whole commands: metrics beside the time, every run, and the t-tests in words.

use super::grid::{BOLD, Look, broken, table, wrapped};
use crate::export::number::{decimals, estimate, fixed, half_width, interval, p_value, significant};
use crate::record::{Experiment, Metric, Variant};
use std::fmt::Write;

/// One column per metric: mean and standard deviation. Variants without metrics and metrics that are always 0 are left out;
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
    let titles: Vec<String> = shown.iter().copied().map(title).collect();
    let mut header = vec!["mean ± sd of"];
    header.extend(titles.iter().map(String::as_str));
    let cell = |m: &Metric| match is_zero(m) {
        true => "0".to_owned(),
        false => format!("{} ± {}", fixed(m.mean, decimals(m.mean, m.sd)), significant(m.sd, 2)),
    };
    let rows = e.variants.iter().filter(|v| !v.metrics.is_empty()).map(|v| {
        let cells = shown
            .iter()
            .map(|(name, _)| v.metrics.get(*name).map_or_else(String::new, cell));
        std::iter::once(v.name.clone()).chain(cells).collect()
    });
    format!("{}\n", broken(table(&header, rows, 1), look))
}

/// The name of a metric, with its unit if it has one.
fn title((name, unit): (&str, &str)) -> String {
    if unit == "1" {
        name.to_owned()
    } else {
        format!("{name} ({unit})")
    }
}

/// The names of the metrics, each with its unit if it has one.
fn titles(e: &Experiment) -> Vec<String> {
    e.metric_units().into_iter().map(title).collect()
}

/// Every run of every variant.
pub fn runs(e: &Experiment, look: Look) -> String {
    let run = |v: &Variant, i: usize| {
        let mut row = vec![v.name.clone(), (i + 1).to_string(), fixed(v.samples[i], 6)];
        row.extend(
            v.metrics
                .values()
                .map(|m| m.samples.get(i).map_or_else(String::new, |x| significant(*x, 4))),
        );
        row
    };
    let real = format!("real ({})", e.unit.as_str());
    let titles = titles(e);
    let mut header = vec!["run of", "#", real.as_str()];
    header.extend(titles.iter().map(String::as_str));
    let rows = e.variants.iter().flat_map(|v| (0..v.n).map(move |i| run(v, i)));
    format!("{}\n", broken(table(&header, rows, 1), look))
}

/// Each comparison in words, with the terms of its t-test.
pub fn t_tests(e: &Experiment, look: Look) -> String {
    let mut out = String::new();
    let sem = |name: &str| {
        e.variants
            .iter()
            .find(|v| v.name == name)
            .map_or(f64::NAN, |v| v.sd / (v.n as f64).sqrt())
    };
    for c in &e.comparisons {
        let digits = decimals(c.difference, half_width(c.ci95));
        let unit = e.unit.as_str();
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
        let before = c.a.chars().count() + " minus ".len() + c.b.chars().count();
        let _ = writeln!(
            out,
            "{BOLD}{}{BOLD:#} minus {BOLD}{}{BOLD:#}{}\n  {}\n",
            c.a,
            c.b,
            wrapped(&difference, look, before, 2),
            wrapped(&terms, look, 2, 2)
        );
    }
    out
}
