//! Markdown: the tables of limits, and the part of a page that they are.

use super::limits::{cost, ratio_and_spread, row};
use crate::limits::{Limits, OnMachine, PRIMITIVES, Primitive, PrimitiveCosts, Row};
use std::fmt::Write;

/// Begins the part of a page that is made from records.
const BEGIN: &str = "<!-- cyclewise limits: begin -->\n";
const END: &str = "<!-- cyclewise limits: end -->\n";

/// All tables: the limits, the ratios on each machine side by side, and each machine.
pub fn limits(limits: &Limits) -> String {
    let mut out = definitions();
    if limits.machines.len() > 1 {
        out.push_str("\n### Side by side\n\n");
        let untested: Vec<&str> = limits
            .machines
            .iter()
            .filter(|m| m.untested)
            .map(|m| m.name.as_str())
            .collect();
        if !untested.is_empty() {
            let _ = write!(
                out,
                "With slopes of two lengths, not tested for linearity: {}.\n\n",
                untested.join("; ")
            );
        }
        out.push_str("Ours relative to the limit:\n\n");
        out.push_str(&side_by_side(&limits.machines, |f| {
            ratio_and_spread(f.to_limit.as_ref())
        }));
        out.push_str("\nOurs relative to the best peer:\n\n");
        out.push_str(&side_by_side(&limits.machines, |f| {
            ratio_and_spread(f.to_peer.as_ref())
        }));
    }
    for machine in &limits.machines {
        out.push('\n');
        out.push_str(&on_machine(machine));
    }
    out
}

/// The page with the part between its markers replaced; `None` if it has not each marker once, in this order. Ends of lines
/// are as the page has them at its markers.
pub fn with_limits(page: &str, tables: &str) -> Option<String> {
    if page.contains(&BEGIN.replace('\n', "\r\n")) {
        let new = with_limits(&page.replace("\r\n", "\n"), tables)?;
        return Some(new.replace('\n', "\r\n"));
    }
    let (before, rest) = page.split_once(BEGIN)?;
    let (old, after) = rest.split_once(END)?;
    let is_marker = |text: &str| text.contains(BEGIN.trim_end()) || text.contains(END.trim_end());
    let clean = ![before, old, after].into_iter().any(is_marker);
    clean.then(|| format!("{before}{BEGIN}\n{}\n{END}{after}", tables.trim_end().to_owned() + "\n"))
}

/// A table whose columns after the first `words` are numbers.
fn table(header: &[&str], words: usize, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = format!("| {} |\n|", header.join(" | "));
    for i in 0..header.len() {
        out.push_str(if i < words { "---|" } else { "--:|" });
    }
    out.push('\n');
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out
}

/// The rows that are each limit: `2 × percpu-lists/rseq-add`.
fn rows_of_limit(p: &Primitive) -> String {
    let times = match p.times {
        1 => String::new(),
        n => format!("{n} × "),
    };
    match p.limit {
        [] => super::number::NONE.to_owned(),
        rows => format!("{times}{}", names(rows)),
    }
}

/// The most rows that are all named.
const MOST_NAMES: usize = 6;

/// The rows by experiment and variant; of many, some.
fn names(rows: &[Row]) -> String {
    let shown = if rows.len() > MOST_NAMES {
        MOST_NAMES / 2
    } else {
        rows.len()
    };
    let mut names: Vec<String> = rows[..shown]
        .iter()
        .map(|row| format!("`{}/{}`", row.experiment, row.variant))
        .collect();
    if rows.len() > shown {
        names.push(format!("and {} more of its kind", rows.len() - shown));
    }
    names.join(", ")
}

fn definitions() -> String {
    let rows = PRIMITIVES
        .iter()
        .map(|p| vec![p.name.to_owned(), p.set_by.to_owned(), rows_of_limit(p), names(p.ours)]);
    let header = [
        "primitive",
        "its limit is set by",
        "the fastest of these rows",
        "our row",
    ];
    table(&header, header.len(), rows)
}

fn side_by_side(machines: &[OnMachine], cell: fn(&PrimitiveCosts) -> String) -> String {
    let header: Vec<&str> = std::iter::once("primitive")
        .chain(machines.iter().map(|m| m.name.as_str()))
        .collect();
    let rows = PRIMITIVES.iter().enumerate().map(|(i, p)| {
        let cells = machines.iter().map(|m| cell(&m.primitives[i]));
        std::iter::once(p.name.to_owned()).chain(cells).collect()
    });
    table(&header, 1, rows)
}

fn on_machine(machine: &OnMachine) -> String {
    let mut out = format!(
        "### {}\n\n{}. Records: {}. Figures are ticks unless they say otherwise.\n\n",
        machine.name,
        machine.description,
        machine.records.join("; ")
    );
    let header = [
        "primitive",
        "limit's row",
        "limit",
        "ours",
        "ours / limit (95 %)",
        "best peer",
        "ours / peer (95 %)",
    ];
    let rows = PRIMITIVES.iter().zip(&machine.primitives).map(|(p, f)| {
        let limit = f
            .limit
            .as_ref()
            .map_or(super::number::NONE.to_owned(), |l| format!("`{}`", l.row));
        vec![
            p.name.to_owned(),
            limit,
            cost(f.limit.as_ref()),
            cost(f.ours.as_ref()),
            ratio_and_spread(f.to_limit.as_ref()),
            row(f.peer.as_ref()),
            ratio_and_spread(f.to_peer.as_ref()),
        ]
    });
    out.push_str(&table(&header, 2, rows));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_between_the_markers_is_replaced_and_the_rest_kept() {
        let page = format!("# A\n\n{BEGIN}old\n{END}\nafter\n");
        let new = with_limits(&page, "new\n").unwrap();
        assert_eq!(new, format!("# A\n\n{BEGIN}\nnew\n\n{END}\nafter\n"));
        assert_eq!(with_limits(&new, "new\n"), Some(new.clone()), "twice is once");
        let windows = |text: &str| text.replace('\n', "\r\n");
        assert_eq!(with_limits(&windows(&page), "new\n"), Some(windows(&new)));
        for broken in [
            "",
            "# A\n",
            BEGIN,
            END,
            &format!("{END}{BEGIN}"),
            &format!("{page}{page}"),
            &format!("{page}{END}"),
        ] {
            assert_eq!(with_limits(broken, "new\n"), None, "{broken:?}");
        }
    }
}
