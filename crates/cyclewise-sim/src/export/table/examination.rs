//! The result of the simulator's examination.

use crate::exam::figures::FigureResult;
use crate::exam::{ExamRow, Examination, KindResult};
use cyclewise_report::export::table::grid::{Column, Look, green, in_blocks, red, wrapped};
use cyclewise_report::number::significant;
use std::fmt::Write;

/// Each kind against what is asked, then the rows, then figures of mails and papers.
pub(crate) fn examination(examination: &Examination, look: Look) -> String {
    let kinds = examination.kinds();
    let header = [
        "kind",
        "",
        "asked",
        "median error",
        "rows",
        "off by > 2",
        "inside",
        "refused",
    ];
    let mut out = format!("{}\n\n", tabled(&header, 1, 2, kinds.iter().map(kind), look));
    let header = [
        "machine",
        "workload",
        "threads",
        "published",
        "predicted",
        "from",
        "to",
        "off by",
    ];
    let rows = examination.rows.iter().map(row);
    let _ = writeln!(out, "{}\n", tabled(&header, 3, 2, rows, look));
    let header = ["machine", "figure", "", "", "simulated", "range"];
    let figures = examination.figures.iter();
    let _ = writeln!(out, "{}", tabled(&header, 2, 4, figures.clone().map(figure), look));
    let figures_met = figures.filter(|result| result.is_met()).count();
    let met = kinds.iter().filter(|kind| kind.is_met() == Some(true)).count();
    let refused: usize = kinds.iter().map(|kind| kind.refused).sum();
    let summary = format!(
        "{met} of {} kinds as near as asked; {refused} of {} rows refused; ns per operation; {figures_met} of {} figures met",
        kinds.len(),
        examination.rows.len(),
        examination.figures.len()
    );
    let _ = writeln!(out, "{}", wrapped(&summary, look, 0, 2));
    out
}

/// Rows with their first columns as keys, and the first `words` columns to the left.
fn tabled(header: &[&str], keys: usize, words: usize, rows: impl Iterator<Item = Vec<String>>, look: Look) -> String {
    let rows: Vec<Vec<String>> = rows.collect();
    let column = |(i, title): (usize, &&str)| {
        let cells = rows.iter().map(|row| row[i].clone());
        if i < words {
            Column::text(*title, cells)
        } else {
            Column::new(*title, 0, cells)
        }
    };
    let columns: Vec<Column> = header.iter().enumerate().map(column).collect();
    in_blocks(keys, &columns, look)
}

fn kind(result: &KindResult) -> Vec<String> {
    let (style, word) = match result.is_met() {
        Some(true) => (green(), "met"),
        Some(false) => (red(), "MISSED"),
        None => (red(), "refused"),
    };
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let error = if result.rows == 0 {
        String::new()
    } else {
        percent(result.median_error)
    };
    vec![
        result.kind.name().to_owned(),
        format!("{style}{word}{style:#}"),
        percent(result.kind.asked()),
        error,
        result.rows.to_string(),
        result.far_off.to_string(),
        result.inside.to_string(),
        result.refused.to_string(),
    ]
}

fn row(row: &ExamRow) -> Vec<String> {
    let mut cells = vec![
        row.machine.clone(),
        row.workload(),
        row.published.threads.to_string(),
        significant(row.published.ns, 3),
    ];
    match (row.prediction(), row.error()) {
        (Some((predicted, band)), Some(error)) => {
            let (low, high) = row.around(band);
            cells.extend([predicted, low, high].map(|ns| significant(ns, 3)));
            cells.push(format!("{:+.0} %", 100.0 * error));
        }
        _ => cells.extend(["refused", "", "", ""].map(str::to_owned)),
    }
    cells
}

fn figure(result: &FigureResult) -> Vec<String> {
    let figure = &result.figure;
    let (style, word) = match result.is_met() {
        true => (green(), "met"),
        false => (red(), "MISSED"),
    };
    let end = |x: f64| match x.is_finite() {
        true => significant(x, 3),
        false => "…".to_owned(),
    };
    let (least, most) = figure.range;
    vec![
        figure.machine.clone(),
        figure.what.clone(),
        format!("{style}{word}{style:#}"),
        figure.role.name().to_owned(),
        significant(result.simulated(), 3),
        format!("{} to {} {}", end(least), end(most), figure.quantity.unit()),
    ]
}
