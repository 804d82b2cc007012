//! The rows of an experiment: of each variant what someone needs to decide.

use super::grid::{Column, Look, fitted, style};
use crate::answer::Finding;
use crate::export::number::{NONE, count, estimate, significant};
use crate::export::row::{cycles, kind, least, marks, median, most, spread, usual_state};
use crate::record::{Experiment, Record, Unit, Variant};

pub(super) fn rows(record: &Record, e: &Experiment, rows: &[&Variant], look: Look) -> String {
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
    if is_time(e.unit) {
        // Of commands, one late run is worth a look.
        columns.insert(3, column("max", 2, &most));
        columns.splice(3..3, (!look.wide).then(|| column("min", 3, &least)));
    }
    if look.wide {
        columns.extend([
            column("mean", 1, &|v| of_cost(v, estimate(v.mean, v.ci95))),
            column("sd", 1, &|v| of_cost(v, significant(v.sd, 2))),
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
    let texts = rows.iter().map(|v| text(record, e, v));
    columns.push(Column::text("against others", texts));
    fitted(columns, look)
}

/// Whether the rows are runs of commands.
fn is_time(unit: Unit) -> bool {
    matches!(
        unit,
        Unit::Seconds | Unit::Milliseconds | Unit::Microseconds | Unit::Nanoseconds
    )
}

/// What is shown of a slope that is a cost; a dash for one that is not.
fn of_cost(v: &Variant, shown: String) -> String {
    if v.is_not_linear() { NONE.to_owned() } else { shown }
}

/// The row's comparisons, a line each, and its marks.
fn text(record: &Record, e: &Experiment, v: &Variant) -> String {
    let findings = e
        .comparisons
        .iter()
        .filter(|c| c.a == v.name)
        .map(|c| Finding::of_comparison(c, e.unit));
    let mut lines: Vec<String> = findings
        .map(|f| {
            let style = style(f.verdict);
            format!("{} {}: {style}{}{style:#}", f.times(), f.b, f.verdict_in_short())
        })
        .collect();
    lines.extend(marks(v, usual_state(e), record.adds_among([&e.name, &v.name])));
    lines.join("\n")
}
