//! Whole commands: the quantities beside the time, every run, and the t-test in words.

use super::super::number::{figure, interval, p_value};
use super::grid::{BOLD, table};
use crate::record::{Experiment, Metric, Variant};
use comfy_table::Table;
use std::fmt::Write;

/// One column a metric: mean and SD.
pub(super) fn metrics(e: &Experiment) -> Table {
    let titles = titles(e);
    let mut header = vec!["mean ± sd of"];
    header.extend(titles.iter().map(String::as_str));
    let cell = |m: &Metric| {
        let half = 2.0 * m.sd / (m.samples.len().max(1) as f64).sqrt();
        format!("{} ± {}", figure(m.mean, half), figure(m.sd, half))
    };
    let rows = e.variants.iter().map(|v| {
        let cells = metric_names(e)
            .into_iter()
            .map(|(name, _)| v.metrics.get(&name).map_or_else(String::new, cell));
        std::iter::once(v.name.clone()).chain(cells).collect()
    });
    table(&header, rows, 1)
}

/// The metrics' names, with their units where they have one.
fn titles(e: &Experiment) -> Vec<String> {
    let title = |(name, unit): (String, String)| if unit == "1" { name } else { format!("{name} ({unit})") };
    metric_names(e).into_iter().map(title).collect()
}

/// Of any of the variants: some may have none.
pub(super) fn metric_names(e: &Experiment) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for (name, m) in e.variants.iter().flat_map(|v| &v.metrics) {
        if !names.iter().any(|(known, _)| known == name) {
            names.push((name.clone(), m.unit.clone()));
        }
    }
    names
}

/// Every run of every variant, for who asks for them.
pub fn runs(e: &Experiment) -> String {
    let run = |v: &Variant, i: usize| {
        let mut row = vec![v.name.clone(), (i + 1).to_string(), format!("{:.6}", v.samples[i])];
        row.extend(
            v.metrics
                .values()
                .map(|m| m.samples.get(i).map_or_else(String::new, |x| figure(*x, 0.0))),
        );
        row
    };
    let real = format!("real ({})", e.unit.as_str());
    let titles = titles(e);
    let mut header = vec!["run of", "#", real.as_str()];
    header.extend(titles.iter().map(String::as_str));
    let rows = e.variants.iter().flat_map(|v| (0..v.n).map(move |i| run(v, i)));
    format!("{}\n", table(&header, rows, 1))
}

/// Each comparison in words, with what its t-test is made of.
pub fn t_tests(e: &Experiment) -> String {
    let mut out = String::new();
    let sem = |name: &str| {
        e.variants
            .iter()
            .find(|v| v.name == name)
            .map_or(f64::NAN, |v| v.sd / (v.n as f64).sqrt())
    };
    for c in &e.comparisons {
        let half = (c.ci95[1] - c.ci95[0]) / 2.0;
        let unit = e.unit.as_str();
        let _ = writeln!(
            out,
            "{BOLD}{}{BOLD:#} minus {BOLD}{}{BOLD:#}: {} {unit}, 95 % confidence interval {} {unit}\n  \
             t = {:.4}, df = {:.1}, standard error of the difference {}, two-tailed p = {} (Welch); SEM {} and {}\n",
            c.a,
            c.b,
            figure(c.difference, half),
            interval(c.ci95),
            c.t,
            c.df,
            figure(sem(&c.a).hypot(sem(&c.b)), half),
            p_value(c.p),
            figure(sem(&c.a), half),
            figure(sem(&c.b), half),
        );
    }
    out
}
