//! The table of a group: nanoseconds, core cycles beside them, and each row against the first.

use crate::answer::Finding;
use crate::number::{NONE, at_least_two_digits, cost_range, count, decimals, interval, significant, uncertainty};
use crate::record::{ALLOCATED, ALLOCATIONS, Experiment, Unit, Variant, Verdict, bounds};

/// A table as text, the header first. Columns after the first are numbers, but for the last.
pub(super) struct Table {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The verdict of each row, where it has one.
    pub(super) verdicts: Vec<Option<Verdict>>,
}

/// The unit of the time column, by its least figure.
pub(super) fn time_unit(least_ns: f64) -> (&'static str, f64) {
    match least_ns {
        ns if ns < 1e5 => ("ns", 1.0),
        ns if ns < 1e8 => ("µs", 1e-3),
        ns if ns < 1e11 => ("ms", 1e-6),
        _ => ("s", 1e-9),
    }
}

pub(super) fn of_group(e: &Experiment, tsc_hz: f64) -> Table {
    let rates = e.unit == Unit::OpsPerSecond;
    let ns = 1e9 / tsc_hz;
    let cost = |v: &Variant| v.cost_range().map_or(v.value().0, |[least, _]| least.cost);
    let least = e.variants.iter().map(|v| cost(v) * ns).fold(f64::INFINITY, f64::min);
    let (unit, scale) = match rates {
        true => ("million/s", 1e-6),
        false => {
            let (unit, scale) = time_unit(least);
            (unit, ns * scale)
        }
    };
    type Cell<'a> = Box<dyn Fn(&Variant) -> String + 'a>;
    let mut columns: Vec<(String, Cell<'_>)> = vec![
        ("row".to_string(), Box::new(|v| v.name.clone())),
        (unit.to_string(), Box::new(move |v| value(v, scale))),
        ("95 %".to_string(), Box::new(move |v| spread(v, scale))),
        ("cycles".to_string(), Box::new(cycles)),
    ];
    for name in e.metric_units().into_iter().map(|(name, _)| name.to_string()) {
        let title = name.clone();
        columns.push((title, Box::new(move |v| metric(v, &name))));
    }
    columns.push(("n".to_string(), Box::new(|v| count(v.n))));
    columns.push((
        "ratio".to_string(),
        Box::new(|v| finding(e, v).map_or(String::new(), |f| f.times())),
    ));
    columns.push((
        "95 %".to_string(),
        Box::new(|v| finding(e, v).map_or(String::new(), |f| f.interval())),
    ));
    columns.push(("against".to_string(), Box::new(|v| against(e, v))));
    let mut rows: Vec<Vec<String>> = vec![Vec::new(); e.variants.len()];
    let mut header = Vec::new();
    for (title, cell) in columns {
        let cells: Vec<String> = e.variants.iter().map(cell).collect();
        if cells.iter().any(|c| !c.is_empty() && c != NONE) {
            header.push(title);
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        }
    }
    Table {
        header,
        rows,
        verdicts: e.variants.iter().map(|v| finding(e, v).map(|f| f.verdict)).collect(),
    }
}

/// The cost; of a row that is not linear, the least and the greatest by the calls in the loop.
fn value(v: &Variant, scale: f64) -> String {
    if v.is_not_linear() {
        return v
            .cost_range()
            .map_or(NONE.to_string(), |range| cost_range(range, scale));
    }
    let (value, ci95) = v.value();
    let [value, low, high] = [value, bounds(ci95)[0], bounds(ci95)[1]].map(|x| x * scale);
    at_least_two_digits(value, decimals(value, uncertainty(value, [low, high])))
}

fn spread(v: &Variant, scale: f64) -> String {
    if v.is_not_linear() {
        return "not linear".to_string();
    }
    let (value, ci95) = v.value();
    interval(value * scale, bounds(ci95).map(|bound| bound * scale))
}

fn cycles(v: &Variant) -> String {
    let known = v.cycles.as_ref().filter(|_| !v.is_not_linear());
    known.map_or(String::new(), |c| {
        at_least_two_digits(c.per_op, decimals(c.per_op, uncertainty(c.per_op, c.ci95)))
    })
}

fn metric(v: &Variant, name: &str) -> String {
    let Some(m) = v.metrics.get(name) else {
        return String::new();
    };
    match name {
        ALLOCATIONS | ALLOCATED => count(m.mean.round() as usize),
        // A median, as the time is; rates are read to three digits.
        _ => crate::stats::median(m.samples.iter().copied()).map_or(String::new(), scaled),
    }
}

/// `1.23 G`: three digits with a prefix of the SI.
fn scaled(x: f64) -> String {
    let prefix = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    let (by, name) = prefix.into_iter().find(|(by, _)| x >= *by).unwrap_or((1.0, ""));
    format!("{}{name}", significant(x / by, 3))
}

fn finding<'e>(e: &'e Experiment, v: &Variant) -> Option<Finding<'e>> {
    let c = e.comparisons.iter().find(|c| c.a == v.name)?;
    Some(Finding::of_comparison(c, e.unit))
}

/// `faster than iter`.
fn against(e: &Experiment, v: &Variant) -> String {
    finding(e, v).map_or(String::new(), |f| match f.verdict {
        Verdict::Faster | Verdict::Slower => format!("{} than {}", f.verdict_alone(), f.b),
        _ => format!("{}: {}", f.b, f.verdict_alone()),
    })
}

impl Table {
    /// The last column is words, and those before it, but for the first, are numbers.
    fn is_words(&self, column: usize) -> bool {
        column == 0 || (self.header[column] == "against")
    }

    /// With spaces between; `paint` gets the cell of a verdict.
    pub(super) fn plain(&self, paint: impl Fn(&str, Verdict) -> String) -> String {
        let width = |i: usize| {
            let cells = self.rows.iter().map(|row| &row[i]).chain([&self.header[i]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let line = |cells: &[String], verdict: Option<Verdict>| {
            let padded = cells.iter().enumerate().map(|(i, cell)| {
                let space = " ".repeat(widths[i] - cell.chars().count());
                let shown = match verdict.filter(|_| i > 0 && self.is_words(i)) {
                    Some(verdict) => paint(cell, verdict),
                    None => cell.clone(),
                };
                if self.is_words(i) {
                    format!("{shown}{space}")
                } else {
                    format!("{space}{shown}")
                }
            });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
        };
        let rows = self.rows.iter().zip(&self.verdicts);
        line(&self.header, None) + &rows.map(|(row, verdict)| line(row, *verdict)).collect::<String>()
    }

    /// As Markdown.
    pub(super) fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = (0..self.header.len()).map(|i| if self.is_words(i) { "---" } else { "--:" }.to_string());
        let escaped = |row: &Vec<String>| line(row.iter().map(|cell| cell.replace('|', "\\|")).collect());
        let rows: String = self.rows.iter().map(escaped).collect();
        line(self.header.clone()) + &line(rule.collect()) + &rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::made_up::comparison;
    use crate::record::Metric;
    use crate::record::made_up::bent;

    fn group() -> Experiment {
        let row = |name: &str, ticks: f64| Variant {
            name: name.to_string(),
            n: 9,
            median: ticks,
            metrics: [(
                "elements/s".to_string(),
                Metric {
                    samples: vec![2.5e9],
                    ..Metric::default()
                },
            )]
            .into(),
            ..Variant::default()
        };
        Experiment {
            variants: vec![row("ds", 250.0), row("lock", 500.0)],
            comparisons: vec![comparison(Verdict::Slower, 2.0, [1.99, 2.01])],
            ..Experiment::default()
        }
    }

    #[test]
    fn rows_are_nanoseconds_with_what_differs() {
        let table = of_group(&group(), 2.5e9);
        assert_eq!(
            table.header,
            ["row", "ns", "elements/s", "n", "ratio", "95 %", "against"]
        );
        assert_eq!(table.rows[0][..3], ["ds", "100", "2.50 G"]);
        assert_eq!(table.rows[1][4..], ["2.00×", "1.990–2.010", "slower than ds"]);
        let plain = table.plain(|text, _| text.to_uppercase());
        let lines: Vec<&str> = plain.lines().collect();
        assert!(
            lines[2].starts_with("lock  200") && lines[2].ends_with("SLOWER THAN DS"),
            "{plain}"
        );
        assert!(lines.iter().all(|line| !line.ends_with(' ')));
    }

    #[test]
    fn a_row_that_is_not_linear_shows_its_range() {
        let mut e = group();
        e.variants[0] = bent("ds", [1.5, 9.0, 7.0], "");
        let table = of_group(&e, 1e9);
        assert_eq!(table.rows[0][..3], ["ds", "1.50–9.00", "not linear"]);
        // The twin: a linear row shows its slope.
        e.variants[0].linearity.as_mut().unwrap().linear = Some(true);
        assert_eq!(of_group(&e, 1e9).rows[0][1], "18");
    }

    #[test]
    fn markdown_has_a_rule_and_no_stray_bars() {
        let mut e = group();
        e.variants[0].name = "a|b".to_string();
        let text = of_group(&e, 2.5e9).markdown();
        assert!(text.contains("|---|--:|") || text.contains("| --- | --: |"), "{text}");
        assert!(text.contains("a\\|b"));
    }

    #[test]
    fn the_unit_of_time_follows_the_least() {
        let units = [5.0, 3e5, 4e9, 2e11].map(|ns| time_unit(ns).0);
        assert_eq!(units, ["ns", "µs", "ms", "s"]);
        assert_eq!([12.0, 1234.0, 5e7].map(scaled), ["12.0", "1.23 k", "50.0 M"]);
    }
}
