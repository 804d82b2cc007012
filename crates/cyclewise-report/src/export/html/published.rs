//! The figures that an experiment's source published, beside this record's.

use super::table::{Table, number, words};
use crate::export::number::{NONE, count};
use crate::export::row::median;
use crate::record::{Experiment, Published};

/// The table; `None` if the source published no figure.
pub(super) fn table(e: &Experiment, published: &[Published]) -> Option<Table> {
    if published.is_empty() {
        return None;
    }
    let mut table = Table::new("Published figures, and the corresponding figures of this record");
    table.words("What");
    table.numbers("Published", "");
    table.words("Unit");
    table.words("Machine");
    table.words("Variant");
    table.numbers("This record", e.unit.as_str());
    for p in published {
        let (variant, ours) = match p.variant {
            None => ("none", number(NONE)),
            Some(name) => (name, ours(e, name)),
        };
        table.rows.push(vec![
            words(p.what),
            number(as_printed(p.figure)),
            words(p.unit),
            words(p.machine),
            words(variant),
            ours,
        ]);
    }
    Some(table)
}

fn ours(e: &Experiment, name: &str) -> super::table::Cell {
    match e.variants.iter().find(|v| v.name == name) {
        Some(v) if v.n > 0 => number(median(v)).with_detail(format!("median, n = {}", count(v.figure().n))),
        Some(_) => number("no samples kept"),
        None => number("not in this record"),
    }
}

/// The source's own digits, with grouped thousands.
fn as_printed(figure: f64) -> String {
    let printed = figure.to_string();
    let decimals = printed.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    crate::export::number::fixed(figure, decimals as i32)
}
