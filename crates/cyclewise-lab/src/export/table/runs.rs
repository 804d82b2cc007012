//! Tables for whole commands: metrics beside the time, every run, and the t-tests in words.

use super::grid::{BOLD, Look, broken, table, wrapped};
use crate::export::number::{decimals, estimate, fixed, half_width, interval, p_value, significant};
use crate::record::{Experiment, Metric, Variant};
use std::fmt::Write;

/// One column per metric: mean and standard deviation.
pub(super) fn metrics(e: &Experiment, look: Look) -> String {
    let titles = titles(e);
    let mut header = vec!["mean ± sd of"];
    header.extend(titles.iter().map(String::as_str));
    let cell = |m: &Metric| format!("{} ± {}", fixed(m.mean, decimals(m.mean, m.sd)), significant(m.sd, 2));
    let rows = e.variants.iter().map(|v| {
        let cells = e
            .metric_units()
            .into_iter()
            .map(|(name, _)| v.metrics.get(name).map_or_else(String::new, cell));
        std::iter::once(v.name.clone()).chain(cells).collect()
    });
    broken(table(&header, rows, 1), look)
}

/// The names of the metrics, each with its unit if it has one.
fn titles(e: &Experiment) -> Vec<String> {
    let title = |(name, unit): (&str, &str)| {
        if unit == "1" {
            name.to_owned()
        } else {
            format!("{name} ({unit})")
        }
    };
    e.metric_units().into_iter().map(title).collect()
}

/// Every run of every variant.
pub(crate) fn runs(e: &Experiment, look: Look) -> String {
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
pub(crate) fn t_tests(e: &Experiment, look: Look) -> String {
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
