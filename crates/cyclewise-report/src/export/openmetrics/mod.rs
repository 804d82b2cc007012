//! OpenMetrics 1.0 text of a fleet's report, for Prometheus.
//!
//! It is also right in Prometheus's text format 0.0.4, which the textfile collector of node_exporter reads: every family is a
//! gauge, because 0.0.4 has no other type that fits; no name ends in a suffix that one of the formats reserves; no sample has a
//! time stamp; HELP has no quotes, which 0.0.4 does not escape; `UNIT` and `EOF` are comments there. The collector reads files
//! whose names end in `.prom`.
//!
//! # References
//! OpenMetrics 1.0, <https://prometheus.io/docs/specs/om/open_metrics_spec/>, "Text format". Times are seconds, shares are
//! ratios: its base units.

use super::fleet::kind;
use crate::record::Unit;
use crate::record::fleet_report::{Component, FleetReport, MachineValue, RowSpread};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Labels and their values.
type Labels<'a> = Vec<(&'a str, &'a str)>;

/// Writes the report.
///
/// # Errors
/// Those of `out`.
pub fn fleet(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    let names = machine_names(report);
    let mut text = Exposition { out };
    text.counts(report)?;
    text.groups(report)?;
    text.machines(report, &names)?;
    text.rows(report, &names)?;
    text.spread(report)?;
    text.outliers(report, &names)?;
    text.promises(report)?;
    text.features(report)?;
    text.out.write_all(b"# EOF\n")
}

/// The machines' names. Two samples with the same labels make the whole text invalid, so a name that came before gets a number.
fn machine_names(report: &FleetReport) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let name = |m: &'_ str, n: usize| match n {
        1 => m.to_owned(),
        n => format!("{m} ({n})"),
    };
    let mut names = Vec::with_capacity(report.machines.len());
    for machine in &report.machines {
        let times = seen.entry(&machine.name).or_insert(0);
        *times += 1;
        names.push(name(&machine.name, *times));
    }
    names
}

/// What is written so far.
struct Exposition<'w> {
    out: &'w mut dyn Write,
}

impl Exposition<'_> {
    /// The metadata of a family of gauges. `unit` is the end of the name, or empty.
    fn family(&mut self, name: &str, unit: &str, help: &str) -> io::Result<()> {
        debug_assert!(unit.is_empty() || name.ends_with(&format!("_{unit}")));
        writeln!(self.out, "# TYPE {name} gauge")?;
        if !unit.is_empty() {
            writeln!(self.out, "# UNIT {name} {unit}")?;
        }
        writeln!(self.out, "# HELP {name} {help}")
    }

    /// One sample; a value that is no number is left out.
    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) -> io::Result<()> {
        if !value.is_finite() {
            return Ok(());
        }
        self.out.write_all(name.as_bytes())?;
        for (i, (label, text)) in labels.iter().enumerate() {
            write!(self.out, "{}{label}=\"", if i == 0 { '{' } else { ',' })?;
            escaped(text, self.out)?;
            self.out.write_all(b"\"")?;
        }
        let end = if labels.is_empty() { "" } else { "}" };
        writeln!(self.out, "{end} {value:e}")
    }

    fn counts(&mut self, report: &FleetReport) -> io::Result<()> {
        let counts = [
            ("cyclewise_fleet_records", "Records that were read.", report.records),
            (
                "cyclewise_fleet_machines",
                "Machines of the fleet.",
                report.machines.len(),
            ),
            (
                "cyclewise_fleet_groups",
                "Groups of machines that are alike.",
                report.groups.len(),
            ),
            (
                "cyclewise_fleet_outliers",
                "Rows of machines that are not like their group.",
                report.outliers.len(),
            ),
            (
                "cyclewise_fleet_tests",
                "Machines times rows in which outliers were looked for.",
                report.search.tests,
            ),
            (
                "cyclewise_fleet_untested_machines",
                "Machines in groups too small to test.",
                report.search.untested_machines,
            ),
        ];
        for (name, help, n) in counts {
            self.family(name, "", help)?;
            self.sample(name, &[], n as f64)?;
        }
        let name = "cyclewise_fleet_false_discovery_ratio";
        self.family(name, "ratio", "The rate of false outliers that is held over all tests.")?;
        self.sample(name, &[], report.search.rate)?;
        let name = "cyclewise_fleet_problems";
        self.family(
            name,
            "",
            "Files that were left out and parts that are missing, by kind.",
        )?;
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for problem in &report.problems {
            *kinds.entry(kind(problem.kind)).or_default() += 1;
        }
        for (kind, n) in kinds {
            self.sample(name, &[("kind", kind)], n as f64)?;
        }
        Ok(())
    }

    fn groups(&mut self, report: &FleetReport) -> io::Result<()> {
        let name = "cyclewise_group_machines";
        self.family(name, "", "Machines of each group.")?;
        for group in &report.groups {
            self.sample(name, &[("group", &group.name)], group.machines as f64)?;
        }
        let name = "cyclewise_group_facts";
        self.family(
            name,
            "",
            "What the machines of each group have in common, as labels; always 1.",
        )?;
        for group in &report.groups {
            let facts: Vec<(String, &str)> = group
                .facts
                .iter()
                .map(|(fact, value)| (label_name(fact), &**value))
                .collect();
            let mut labels: Labels<'_> = vec![("group", &group.name)];
            for (fact, value) in &facts {
                // A label may be there once.
                if !labels.iter().any(|(known, _)| known == fact) {
                    labels.push((fact, value));
                }
            }
            self.sample(name, &labels, 1.0)?;
        }
        Ok(())
    }

    fn promises(&mut self, report: &FleetReport) -> io::Result<()> {
        let name = "cyclewise_promise_broken";
        self.family(name, "", "1 for each promise that broke on a node.")?;
        for verified in &report.verified {
            for seen in &verified.broken {
                let labels = [
                    ("node", &*seen.node),
                    ("verified", &*verified.what),
                    ("promise", &*seen.name),
                ];
                self.sample(name, &labels, 1.0)?;
            }
        }
        Ok(())
    }

    fn machines(&mut self, report: &FleetReport, names: &[String]) -> io::Result<()> {
        let mut outliers = vec![0_usize; report.machines.len()];
        for outlier in &report.outliers {
            if let Some(n) = outliers.get_mut(outlier.machine) {
                *n += 1;
            }
        }
        let group = |i: usize| report.groups.get(report.machines[i].group).map_or("", |g| &*g.name);
        let name = "cyclewise_machine_outlier_rows";
        self.family(name, "", "Rows in which the machine is not like its group.")?;
        for (i, node) in names.iter().enumerate() {
            self.sample(name, &[("node", node), ("group", group(i))], outliers[i] as f64)?;
        }
        let name = "cyclewise_machine_unlike";
        let help = "1 where the machine is not like its group, in a row or in all of them together.";
        self.family(name, "", help)?;
        for (i, node) in names.iter().enumerate() {
            let is_unlike = report.unlike.iter().any(|unlike| unlike.machine == i);
            let value = f64::from(u8::from(is_unlike));
            self.sample(name, &[("node", node), ("group", group(i))], value)?;
        }
        let name = "cyclewise_machine_runs";
        self.family(name, "", "Runs in all records of the machine.")?;
        for (i, node) in names.iter().enumerate() {
            self.sample(
                name,
                &[("node", node), ("group", group(i))],
                report.machines[i].runs as f64,
            )?;
        }
        let name = "cyclewise_machine_steal_ratio";
        self.family(
            name,
            "ratio",
            "The share of CPU time that the hypervisor took from the machine.",
        )?;
        for (i, node) in names.iter().enumerate() {
            let steal = report.machines[i].steal.unwrap_or(f64::NAN);
            self.sample(name, &[("node", node), ("group", group(i))], steal)?;
        }
        Ok(())
    }

    /// Values and medians of the headline rows, a family for each unit.
    fn rows(&mut self, report: &FleetReport, names: &[String]) -> io::Result<()> {
        for unit in [Unit::NanosPerOp, Unit::TicksPerOp, Unit::OpsPerSecond, Unit::Seconds] {
            let rows = || report.rows.iter().filter(move |r| r.headline && r.unit == unit);
            if rows().next().is_none() {
                continue;
            }
            let (what, ends, help, scale) = base_unit(unit);
            // A bound that is not known is no sample, as whatever is no number.
            type Of = fn(&MachineValue) -> f64;
            let families: [(&str, &str, Of); 3] = [
                ("", "", |v| v.value),
                ("_low", "the lower end of its 95 % interval, ", |v| v.ci95[0]),
                ("_high", "the upper end of its 95 % interval, ", |v| v.ci95[1]),
            ];
            for (end, bound, of) in families {
                let name = format!("cyclewise_{what}{end}_{ends}");
                self.family(
                    &name,
                    ends,
                    &format!("{help}, {bound}of each machine and headline row."),
                )?;
                for row in rows() {
                    for value in &row.values {
                        let Some(machine) = report.machines.get(value.machine as usize) else {
                            continue;
                        };
                        let group = report.groups.get(machine.group).map_or("", |g| &*g.name);
                        let mut labels = of_row(row);
                        labels.extend([("node", &*names[value.machine as usize]), ("group", group)]);
                        self.sample(&name, &labels, of(value) * scale)?;
                    }
                }
            }
            let name = format!("cyclewise_group_median_{what}_{ends}");
            self.family(
                &name,
                ends,
                &format!("{help}, the median over the machines of each group."),
            )?;
            for row in rows() {
                for spread in &row.groups {
                    let mut labels = of_row(row);
                    labels.push(("group", report.groups.get(spread.group).map_or("", |g| &*g.name)));
                    self.sample(&name, &labels, spread.median * scale)?;
                }
            }
        }
        Ok(())
    }

    fn spread(&mut self, report: &FleetReport) -> io::Result<()> {
        let rows = || report.rows.iter().filter(|r| r.headline);
        let name = "cyclewise_group_spread_ratio";
        self.family(
            name,
            "ratio",
            "The robust spread between the machines of a group, as a share of their median.",
        )?;
        for row in rows() {
            for spread in &row.groups {
                let mut labels = of_row_and_unit(row);
                labels.push(("group", report.groups.get(spread.group).map_or("", |g| &*g.name)));
                self.sample(name, &labels, spread.spread.unwrap_or(f64::NAN))?;
            }
        }
        let name = "cyclewise_spread_ratio";
        let help = "Where the spread of a row comes from: the standard deviation of the logarithm between groups, between machines of a group, \
                    and between runs of a machine.";
        self.family(name, "ratio", help)?;
        for row in rows() {
            let Some(c) = &row.components else { continue };
            let parts = [
                ("groups", c.between_groups),
                ("machines", c.between_machines),
                ("runs", c.between_runs),
            ];
            for (between, component) in parts {
                let mut labels = of_row_and_unit(row);
                labels.push(("between", between));
                self.sample(name, &labels, component.map_or(f64::NAN, |c: Component| c.sd))?;
            }
        }
        Ok(())
    }

    fn outliers(&mut self, report: &FleetReport, names: &[String]) -> io::Result<()> {
        let families = [
            (
                "cyclewise_outlier_ratio",
                "ratio",
                "The value of a machine that is not like its group, over the group's median.",
            ),
            (
                "cyclewise_outlier_sigmas",
                "",
                "How many standard deviations of its group such a machine is away, with a sign.",
            ),
        ];
        for (name, unit, help) in families {
            self.family(name, unit, help)?;
            for outlier in &report.outliers {
                let Some(node) = names.get(outlier.machine) else {
                    continue;
                };
                let labels = [
                    ("experiment", &*outlier.experiment),
                    ("variant", &*outlier.variant),
                    ("unit", outlier.unit.as_str()),
                    ("node", &**node),
                ];
                let value = if unit.is_empty() { outlier.sigmas } else { outlier.ratio };
                self.sample(name, &labels, value)?;
            }
        }
        Ok(())
    }

    fn features(&mut self, report: &FleetReport) -> io::Result<()> {
        let name = "cyclewise_feature_nodes";
        self.family(name, "", "Nodes by what their doctor says of a feature.")?;
        for feature in &report.features {
            for (status, n) in &feature.counts {
                self.sample(name, &[("feature", &feature.name), ("status", status)], *n as f64)?;
            }
        }
        Ok(())
    }
}

fn of_row(row: &RowSpread) -> Labels<'_> {
    vec![("experiment", &*row.experiment), ("variant", &*row.variant)]
}

/// The labels of a row in a family that has rows of all units: a variant may have one in each of two.
fn of_row_and_unit(row: &RowSpread) -> Labels<'_> {
    let mut labels = of_row(row);
    labels.push(("unit", row.unit.as_str()));
    labels
}

/// What the family of a unit's rows is called, its base unit, its help, and the factor from the row's unit.
fn base_unit(unit: Unit) -> (&'static str, &'static str, &'static str, f64) {
    match unit {
        Unit::NanosPerOp => ("operation", "seconds", "The time of one operation", 1e-9),
        Unit::TicksPerOp => (
            "operation",
            "ticks",
            "The time of one operation, in ticks of a clock whose rate is not known",
            1.0,
        ),
        Unit::OpsPerSecond => ("throughput", "operations_per_second", "Operations per second", 1.0),
        Unit::Seconds | Unit::Milliseconds | Unit::Microseconds | Unit::Nanoseconds => {
            ("command", "seconds", "The time of one run of a command", 1.0)
        }
    }
}

/// A fact's name as a label's: letters, digits and underscores, and none that is taken or reserved.
fn label_name(fact: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    format!("fact_{}", fact.chars().map(plain).collect::<String>())
}

/// A label's value with its escapes. Lines end at a line feed alone, and a carriage return must not be there.
fn escaped(text: &str, out: &mut dyn Write) -> io::Result<()> {
    if !text.contains(['"', '\\', '\n', '\r']) {
        return out.write_all(text.as_bytes());
    }
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace('\r', " ");
    out.write_all(escaped.as_bytes())
}

#[cfg(test)]
mod tests;
