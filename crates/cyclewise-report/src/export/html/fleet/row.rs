//! One headline row on the fleet's page: its strips, its components, and the figures of the groups.

use super::{MOST_GROUPS, short};
use crate::error::Result;
use crate::export::fleet::{row_name, shares};
use crate::export::html::plot::{Bar, Bars, Density, DensityStrip, Plot};
use crate::export::html::table::{Table, maybe, number, words};
use crate::export::number::{brief, count, estimate, interval, percent, significant};
use crate::record::bounds;
use crate::record::fleet_report::{Component, FleetReport, GroupSpread, MOST_VALUES, RowSpread};

/// Strips of a plot; the table has more groups.
const MOST_STRIPS: usize = 16;

pub(super) struct RowView {
    pub(super) id: String,
    pub(super) experiment: String,
    pub(super) variant: String,
    pub(super) strips: Option<Plot>,
    pub(super) components: Option<Plot>,
    pub(super) table: Table,
}

impl RowView {
    /// The view of `row`; `explained` says how to read the plots.
    pub(super) fn new(report: &FleetReport, row: &RowSpread, id: String, explained: bool) -> Result<Self> {
        let name = row_name(row);
        let left_out = row.groups.len().saturating_sub(MOST_STRIPS);
        let caption = match left_out {
            0 => String::new(),
            n => format!("{} smaller groups are not drawn.", count(n)),
        };
        let strips = Density {
            name: &name,
            unit: row.unit.as_str(),
            range: row.range,
            strips: row
                .groups
                .iter()
                .take(MOST_STRIPS)
                .map(|g| strip(report, row, g))
                .collect(),
            explained,
            caption,
        };
        Ok(RowView {
            id,
            experiment: short(&row.experiment),
            variant: short(&row.variant),
            strips: strips.draw()?,
            components: components(row, &name, explained)?,
            table: table(report, row),
        })
    }
}

fn group_name(report: &FleetReport, group: usize) -> &str {
    report.groups.get(group).map_or("", |g| &g.name)
}

fn strip<'a>(report: &'a FleetReport, row: &'a RowSpread, spread: &'a GroupSpread) -> DensityStrip<'a> {
    let is_of_group = |machine: usize| report.machines.get(machine).is_some_and(|m| m.group == spread.group);
    // A group whose values are all known and few has a dot for each machine.
    let values = row.values.iter().filter(|v| is_of_group(v.machine as usize));
    let dots = match spread.machines <= MOST_VALUES {
        true => values.map(|v| v.value).collect(),
        false => Vec::new(),
    };
    let outliers = report.outliers.iter().filter(|o| {
        o.experiment == row.experiment && o.variant == row.variant && o.unit == row.unit && is_of_group(o.machine)
    });
    DensityStrip {
        label: format!(
            "{}: {} {}",
            group_name(report, spread.group),
            count(spread.machines),
            if spread.machines == 1 { "machine" } else { "machines" }
        ),
        detail: report.groups.get(spread.group).map_or("", |g| &g.label),
        bins: &spread.bins,
        dots,
        median: spread.median,
        quantiles: spread.quantiles,
        figure: brief(spread.median, bounds(spread.ci95)),
        outliers: outliers.map(|o| (o.value, &*report.machines[o.machine].name)).collect(),
    }
}

/// The spread between groups, between machines, between runs.
fn components(row: &RowSpread, name: &str, explained: bool) -> Result<Option<Plot>> {
    let Some(c) = &row.components else {
        return Ok(None);
    };
    let bar = |label, component: Option<Component>| {
        component.map(|c| Bar {
            label,
            value: 100.0 * c.sd,
            ci95: bounds(c.ci95).map(|bound| 100.0 * bound),
            figure: format!(
                "{}\u{a0}%",
                shares(Some(Component {
                    ci95: [None, None],
                    ..c
                }))
            ),
        })
    };
    let bars = [
        bar("Between groups", c.between_groups),
        bar("Machines of a group", c.between_machines),
        bar("Runs of a machine", c.between_runs),
    ];
    Bars {
        name,
        unit: "% (standard deviation of the logarithm)",
        bars: bars.into_iter().flatten().collect(),
        caption: match explained {
            true => "Bars: how far values are apart between groups, between machines of a group, and between runs of a machine. Whiskers: \
                     95\u{a0}% intervals."
                .to_owned(),
            false => String::new(),
        },
    }
    .draw()
}

/// The figures of the groups.
fn table(report: &FleetReport, row: &RowSpread) -> Table {
    let left_out = row.groups.len().saturating_sub(MOST_GROUPS);
    let unit = row.unit.as_str();
    let mut table = Table::new(match left_out {
        0 => format!("{}: the machines of each group", row_name(row)),
        n => format!(
            "{}: the machines of each group; {} smaller groups are in the JSON",
            row_name(row),
            count(n)
        ),
    });
    table.words("Group");
    table.numbers("Machines", "");
    table.numbers("Median", unit);
    table.numbers("Spread", "of the median");
    for quantile in ["5\u{a0}%", "25\u{a0}%", "75\u{a0}%", "95\u{a0}%"] {
        table.numbers(quantile, unit);
    }
    for g in row.groups.iter().take(MOST_GROUPS) {
        let ci = bounds(g.ci95);
        let mut cells = vec![
            words(group_name(report, g.group)),
            number(count(g.machines)),
            number(estimate(g.median, ci)).with_detail(interval(g.median, ci)),
            maybe(g.spread, percent),
        ];
        cells.extend(g.quantiles.map(|q| number(significant(q, 3))));
        table.rows.push(cells);
    }
    table
}
