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
use crate::record::fleet_report::{Component, FleetReport, MachineValue, Outlier, RowSpread};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

type Labels<'a> = Vec<(&'a str, &'a str)>;

/// Writes the report.
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

    fn gauges<'l>(
        &mut self,
        name: &str,
        unit: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l>, f64)>,
    ) -> io::Result<()> {
        self.family(name, unit, help)?;
        let mut samples = samples.into_iter();
        samples.try_for_each(|(labels, value)| self.sample(name, &labels, value))
    }

    fn counts(&mut self, report: &FleetReport) -> io::Result<()> {
        let search = &report.search;
        for (what, help, n) in [
            ("records", "Records that were read.", report.records),
            ("machines", "Machines of the fleet.", report.machines.len()),
            ("groups", "Groups of machines that are alike.", report.groups.len()),
            (
                "outliers",
                "Rows of machines that are not like their group.",
                report.outliers.len(),
            ),
            (
                "tests",
                "Machines times rows in which outliers were looked for.",
                search.tests,
            ),
            (
                "untested_machines",
                "Machines in groups too small to test.",
                search.untested_machines,
            ),
        ] {
            self.gauges(&format!("cyclewise_fleet_{what}"), "", help, [(Vec::new(), n as f64)])?;
        }
        let help = "The rate of false outliers that is held over all tests.";
        let rate = [(Vec::new(), search.rate)];
        self.gauges("cyclewise_fleet_false_discovery_ratio", "ratio", help, rate)?;
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for problem in &report.problems {
            *kinds.entry(kind(problem.kind)).or_default() += 1;
        }
        let help = "Files that were left out and parts that are missing, by kind.";
        let kinds = kinds.into_iter().map(|(kind, n)| (vec![("kind", kind)], n as f64));
        self.gauges("cyclewise_fleet_problems", "", help, kinds)
    }

    fn groups(&mut self, report: &FleetReport) -> io::Result<()> {
        let machines = report
            .groups
            .iter()
            .map(|g| (vec![("group", &*g.name)], g.machines as f64));
        self.gauges("cyclewise_group_machines", "", "Machines of each group.", machines)?;
        let name = "cyclewise_group_facts";
        self.family(
            name,
            "",
            "What the machines of each group have in common, as labels; always 1.",
        )?;
        for group in &report.groups {
            let facts = group.facts.iter().map(|(fact, value)| (label_name(fact), &**value));
            let facts: Vec<(String, &str)> = facts.collect();
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
        let broken = report
            .verified
            .iter()
            .flat_map(|v| v.broken.iter().map(move |seen| (v, seen)));
        let samples = broken.map(|(v, seen)| {
            let labels = vec![("node", &*seen.node), ("verified", &*v.what), ("promise", &*seen.name)];
            (labels, 1.0)
        });
        self.gauges(
            "cyclewise_promise_broken",
            "",
            "1 for each promise that broke on a node.",
            samples,
        )
    }

    fn machines(&mut self, report: &FleetReport, names: &[String]) -> io::Result<()> {
        let mut outliers = vec![0_usize; report.machines.len()];
        for outlier in &report.outliers {
            if let Some(n) = outliers.get_mut(outlier.machine) {
                *n += 1;
            }
        }
        let each = |value: &dyn Fn(usize) -> f64| -> Vec<_> {
            let group = |i: usize| group_name(report, report.machines[i].group);
            let names = names.iter().map(String::as_str).enumerate();
            names
                .map(|(i, node)| (vec![("node", node), ("group", group(i))], value(i)))
                .collect()
        };
        let help = "Rows in which the machine is not like its group.";
        self.gauges(
            "cyclewise_machine_outlier_rows",
            "",
            help,
            each(&|i| outliers[i] as f64),
        )?;
        let help = "1 where the machine is not like its group, in a row or in all of them together.";
        let is_unlike = |i| f64::from(u8::from(report.unlike.iter().any(|unlike| unlike.machine == i)));
        self.gauges("cyclewise_machine_unlike", "", help, each(&is_unlike))?;
        let help = "Runs in all records of the machine.";
        self.gauges(
            "cyclewise_machine_runs",
            "",
            help,
            each(&|i| report.machines[i].runs as f64),
        )?;
        let help = "The share of CPU time that the hypervisor took from the machine.";
        let steal = |i: usize| report.machines[i].steal.unwrap_or(f64::NAN);
        self.gauges("cyclewise_machine_steal_ratio", "ratio", help, each(&steal))
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
                let values = rows().flat_map(|row| row.values.iter().map(move |value| (row, value)));
                let samples = values.filter_map(|(row, value)| {
                    let machine = report.machines.get(value.machine as usize)?;
                    let mut labels = of_row(row);
                    let node = names[value.machine as usize].as_str();
                    labels.extend([("node", node), ("group", group_name(report, machine.group))]);
                    Some((labels, of(value) * scale))
                });
                let help = format!("{help}, {bound}of each machine and headline row.");
                self.gauges(&format!("cyclewise_{what}{end}_{ends}"), ends, &help, samples)?;
            }
            let samples = rows().flat_map(|row| {
                row.groups.iter().map(move |spread| {
                    let mut labels = of_row(row);
                    labels.push(("group", group_name(report, spread.group)));
                    (labels, spread.median * scale)
                })
            });
            let help = format!("{help}, the median over the machines of each group.");
            self.gauges(&format!("cyclewise_group_median_{what}_{ends}"), ends, &help, samples)?;
        }
        Ok(())
    }

    fn spread(&mut self, report: &FleetReport) -> io::Result<()> {
        let rows = || report.rows.iter().filter(|r| r.headline);
        let of_groups = rows().flat_map(|row| {
            row.groups.iter().map(move |spread| {
                let mut labels = of_row_and_unit(row);
                labels.push(("group", group_name(report, spread.group)));
                (labels, spread.spread.unwrap_or(f64::NAN))
            })
        });
        let help = "The robust spread between the machines of a group, as a share of their median.";
        self.gauges("cyclewise_group_spread_ratio", "ratio", help, of_groups)?;
        let parts = rows()
            .filter_map(|row| Some((row, row.components.as_ref()?)))
            .flat_map(|(row, c)| {
                let parts = [
                    ("groups", c.between_groups),
                    ("machines", c.between_machines),
                    ("runs", c.between_runs),
                ];
                parts.map(|(between, component)| {
                    let mut labels = of_row_and_unit(row);
                    labels.push(("between", between));
                    (labels, component.map_or(f64::NAN, |c: Component| c.sd))
                })
            });
        let help = "Where the spread of a row comes from: the standard deviation of the logarithm between groups, between machines of a group, \
                    and between runs of a machine.";
        self.gauges("cyclewise_spread_ratio", "ratio", help, parts)
    }

    fn outliers(&mut self, report: &FleetReport, names: &[String]) -> io::Result<()> {
        let each = |value: fn(&Outlier) -> f64| {
            report.outliers.iter().filter_map(move |outlier| {
                let labels = vec![
                    ("experiment", &*outlier.experiment),
                    ("variant", &*outlier.variant),
                    ("unit", outlier.unit.as_str()),
                    ("node", names.get(outlier.machine)?),
                ];
                Some((labels, value(outlier)))
            })
        };
        let help = "The value of a machine that is not like its group, over the group's median.";
        self.gauges("cyclewise_outlier_ratio", "ratio", help, each(|outlier| outlier.ratio))?;
        let help = "How many standard deviations of its group such a machine is away, with a sign.";
        self.gauges("cyclewise_outlier_sigmas", "", help, each(|outlier| outlier.sigmas))
    }

    fn features(&mut self, report: &FleetReport) -> io::Result<()> {
        let counts = report
            .features
            .iter()
            .flat_map(|f| f.counts.iter().map(move |count| (f, count)));
        let samples = counts.map(|(f, (status, n))| (vec![("feature", &*f.name), ("status", &**status)], *n as f64));
        let help = "Nodes by what their doctor says of a feature.";
        self.gauges("cyclewise_feature_nodes", "", help, samples)
    }
}

fn group_name(report: &FleetReport, group: usize) -> &str {
    report.groups.get(group).map_or("", |g| &g.name)
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
