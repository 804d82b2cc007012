//! The terminal's tables. Colour codes are written always; the stream takes them out where no terminal wants them.

use super::number::{figure, interval, p_value, percent};
use crate::experiment::Definition;
use crate::record::compare::{CompareExperiment, CompareReport};
use crate::record::{Comparison, Experiment, Machine, Record, Variant, Verdict};
use crate::verify::Verification;
use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use std::fmt::Write;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const YELLOW: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));

/// A whole record: the machine, then each experiment's rows and comparisons.
pub fn record(record: &Record) -> String {
    let mut out = machine(&record.machine);
    for e in &record.experiments {
        let _ = write!(out, "\n{}", experiment(e));
    }
    out
}

fn machine(m: &Machine) -> String {
    let mut out = String::new();
    let hypervisor = m
        .hypervisor
        .as_ref()
        .map_or("bare metal".to_string(), |h| format!("under {h}"));
    let _ = writeln!(
        out,
        "{BOLD}{}{BOLD:#}, {} CPUs, {hypervisor}, Linux {}",
        m.cpu_model, m.cpus, m.kernel
    );
    let _ = write!(
        out,
        "1 tick = {:.4} ns ({:.6} GHz, {})",
        1e9 / m.tsc_hz,
        m.tsc_hz / 1e9,
        m.clocksource
    );
    match &m.core_cycles_per_tick {
        Some(c) => {
            let half = (c.ci95[1] - c.ci95[0]) / 2.0;
            let _ = writeln!(
                out,
                ", {} core cycles (95 % {}; {})",
                figure(c.value, half),
                interval(c.ci95),
                c.why
            );
        }
        None => out.push('\n'),
    }
    for w in &m.warnings {
        let _ = writeln!(out, "{YELLOW}warning:{YELLOW:#} {w}");
    }
    out
}

fn experiment(e: &Experiment) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{BOLD}{}{BOLD:#}  {}", e.name, e.question);
    let _ = write!(
        out,
        "{DIM}{}{DIM:#}\n{}, {} rounds",
        e.source,
        e.unit.as_str(),
        e.rounds
    );
    match &e.control {
        Some(c) => {
            let _ = writeln!(out, ", noise floor {} ({} against itself)", percent(c.floor), c.of);
        }
        None => out.push_str(", no noise floor (the control had too few samples), so no verdict\n"),
    }
    let _ = writeln!(out, "{}", variants(e));
    for (metric, unit) in metric_names(e) {
        let _ = writeln!(out, "{}", metric_table(e, &metric, &unit));
    }
    if !e.comparisons.is_empty() {
        let _ = writeln!(out, "{}", comparisons(&e.comparisons));
    }
    for note in &e.notes {
        let _ = writeln!(out, "{DIM}note:{DIM:#} {note}");
    }
    out
}

fn variants(e: &Experiment) -> Table {
    let cycles = e.variants.iter().any(|v| v.cycles.is_some());
    let ipc = e
        .variants
        .iter()
        .any(|v| v.cycles.as_ref().is_some_and(|c| c.ipc.is_some()));
    let bytes = e.variants.iter().any(|v| v.code_bytes.is_some());
    let mut header = vec!["variant", "mean", "± 95 %", "sd", "median", "min", "n", "lost"];
    header.extend(cycles.then_some("cycles"));
    header.extend(ipc.then_some("IPC"));
    header.extend(bytes.then_some("bytes"));
    let rows = e.variants.iter().map(|v| {
        let half = (v.ci95[1] - v.ci95[0]) / 2.0;
        let mut row = vec![
            v.name.clone(),
            figure(v.mean, half),
            relative(half, v.mean),
            figure(v.sd, half),
            figure(v.median, half),
            figure(v.min, half),
            v.n.to_string(),
            v.rejected.to_string(),
        ];
        row.extend(cycles.then(|| {
            v.cycles
                .as_ref()
                .map_or_else(String::new, |c| figure(c.per_op, (c.ci95[1] - c.ci95[0]) / 2.0))
        }));
        row.extend(ipc.then(|| {
            v.cycles
                .as_ref()
                .and_then(|c| c.ipc)
                .map_or_else(String::new, |ipc| format!("{ipc:.2}"))
        }));
        row.extend(bytes.then(|| v.code_bytes.map_or_else(String::new, |b| b.to_string())));
        row
    });
    table(&header, rows, 1)
}

fn relative(half: f64, mean: f64) -> String {
    if mean == 0.0 {
        String::new()
    } else {
        percent((half / mean).abs())
    }
}

fn metric_names(e: &Experiment) -> Vec<(String, String)> {
    let first = e.variants.first().map(|v| &v.metrics);
    first
        .into_iter()
        .flatten()
        .map(|(name, m)| (name.clone(), m.unit.clone()))
        .collect()
}

fn metric_table(e: &Experiment, name: &str, unit: &str) -> Table {
    let title = if unit == "1" {
        name.to_string()
    } else {
        format!("{name} ({unit})")
    };
    let rows = e.variants.iter().filter_map(|v| {
        let m = v.metrics.get(name)?;
        let half = 2.0 * m.sd / (m.samples.len().max(1) as f64).sqrt();
        let least = m.samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = m.samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(vec![
            v.name.clone(),
            figure(m.mean, half),
            figure(m.sd, half),
            figure(least, half),
            figure(most, half),
        ])
    });
    table(&[title.as_str(), "mean", "sd", "min", "max"], rows, 1)
}

fn comparisons(all: &[Comparison]) -> Table {
    let rows = all.iter().map(|c| {
        vec![
            format!("{} is", c.a),
            coloured(c.verdict),
            format!(
                "{} {}",
                if c.verdict == Verdict::Indistinguishable {
                    "from"
                } else {
                    "than"
                },
                c.b
            ),
            figure(c.ratio, (c.ratio_ci95[1] - c.ratio_ci95[0]) / 2.0),
            interval(c.ratio_ci95),
            figure(c.difference, (c.ci95[1] - c.ci95[0]) / 2.0),
            interval(c.ci95),
            format!("{:.2}", c.t),
            format!("{:.1}", c.df),
            p_value(c.p),
            p_value(c.p_holm),
        ]
    });
    table(
        &[
            "",
            "verdict",
            "",
            "ratio",
            "95 %",
            "difference",
            "95 %",
            "t",
            "df",
            "p",
            "p (Holm)",
        ],
        rows,
        3,
    )
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
    let mut header = vec![
        "run of".to_string(),
        "#".to_string(),
        format!("real ({})", e.unit.as_str()),
    ];
    header.extend(
        metric_names(e)
            .into_iter()
            .map(|(name, unit)| if unit == "1" { name } else { format!("{name} ({unit})") }),
    );
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = e.variants.iter().flat_map(|v| (0..v.n).map(move |i| run(v, i)));
    format!("{}\n", table(&header, rows, 1))
}

/// Records held against each other.
pub fn comparison(report: &CompareReport) -> String {
    let mut out = String::new();
    for (i, r) in report.records.iter().enumerate() {
        let role = if i == 0 { "base" } else { "other" };
        let _ = writeln!(
            out,
            "{BOLD}{role}{BOLD:#} {} ({}, {}, Linux {})",
            r.label, r.created, r.machine.cpu_model, r.machine.kernel
        );
    }
    for w in &report.warnings {
        let _ = writeln!(out, "{YELLOW}warning:{YELLOW:#} {w}");
    }
    for e in &report.experiments {
        let floor = e.floor.map_or("no noise floor, so no verdict".to_string(), |f| {
            format!("noise floor {}", percent(f))
        });
        let _ = writeln!(
            out,
            "\n{BOLD}{}{BOLD:#}  {}\n{}, {floor}\n{}",
            e.name,
            e.question,
            e.unit.as_str(),
            compared(report, e)
        );
        for note in &e.notes {
            let _ = writeln!(out, "{DIM}note:{DIM:#} {note}");
        }
    }
    out
}

fn compared(report: &CompareReport, e: &CompareExperiment) -> Table {
    let rows = e.rows.iter().map(|r| {
        let half = |ci: [f64; 2]| (ci[1] - ci[0]) / 2.0;
        vec![
            r.variant.clone(),
            report
                .records
                .get(r.other)
                .map_or_else(String::new, |h| h.label.clone()),
            coloured(r.verdict),
            figure(r.base_stats.mean, half(r.base_stats.ci95)),
            figure(r.other_stats.mean, half(r.other_stats.ci95)),
            figure(r.ratio, half(r.ratio_ci95)),
            interval(r.ratio_ci95),
            figure(r.difference, half(r.ci95)),
            interval(r.ci95),
            p_value(r.p),
            p_value(r.p_holm),
        ]
    });
    table(
        &[
            "variant",
            "in",
            "verdict",
            "base",
            "other",
            "ratio",
            "95 %",
            "difference",
            "95 %",
            "p",
            "p (Holm)",
        ],
        rows,
        3,
    )
}

/// Promises, and whether they hold.
pub fn verification(v: &Verification) -> String {
    let rows = v.checks.iter().map(|c| {
        let (style, word) = if c.holds { (green(), "holds") } else { (red(), "BROKEN") };
        vec![
            c.name.to_string(),
            format!("{style}{word}{style:#}"),
            c.seen.clone(),
            c.promise.to_string(),
        ]
    });
    format!("{}\n", table(&["check", "", "seen", "promise"], rows, 4))
}

/// The list of experiments.
pub fn experiments(all: &[&Definition]) -> String {
    let mut out = String::new();
    for d in all {
        let _ = writeln!(
            out,
            "{BOLD}{}{BOLD:#}  {}\n    {DIM}{} ({}){DIM:#}",
            d.name,
            d.question,
            d.source,
            d.unit.as_str()
        );
    }
    out
}

fn coloured(verdict: Verdict) -> String {
    let style = match verdict {
        Verdict::Faster => green(),
        Verdict::Slower => red(),
        Verdict::Indistinguishable => DIM,
    };
    format!("{style}{}{style:#}", verdict.as_str())
}

const fn green() -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)))
}

const fn red() -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)))
}

/// A table whose first `words` columns are words, and the others numbers.
fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>, words: usize) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().map(|h| format!("{DIM}{h}{DIM:#}")));
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(words) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
