//! A fleet in long form: one line for each row of each machine, also of rows that are no headline.
//!
//! The facts in which groups differ are the last columns, each named `fact_` and its name: which there are depends on the fleet.
//! A fact of more than `MOST_LETTERS` characters, such as all mitigations, would be most of the file: the group stands for it,
//! and the JSON has it.
//! A value that is not known is empty. Names are written as they are, also those that begin with `=`: a spreadsheet that is to open
//! records of strangers has to be told that the columns are text. The lines are written one by one, so that memory does not grow with them.

use crate::export::fleet::{differing, fact};
use crate::record::fleet_report::{FleetReport, RowSpread};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};

const HEADER: &str = "node,group,experiment,variant,unit,headline,value,ci95_low,ci95_high,runs,n,\
    group_median,ratio,sigmas,p,q,outlier";

/// The longest fact that is a column.
const MOST_LETTERS: usize = 100;

/// Writes the values of `report`.
pub fn fleet(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    let mut facts = differing(&report.groups);
    facts.retain(|name| {
        let mut values = report.groups.iter().filter_map(|g| fact(g, name));
        values.all(|value| value.chars().count() <= MOST_LETTERS)
    });
    let header = HEADER.split(',').map(str::to_owned);
    let header = header.chain(facts.iter().map(|fact| format!("fact_{fact}")));
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(header.collect::<Vec<_>>()).map_err(failed)?;
    let of_groups = report.groups.iter();
    let of_groups: Vec<Vec<&str>> = of_groups
        .map(|g| facts.iter().map(|name| fact(g, name).unwrap_or_default()).collect())
        .collect();
    for row in &report.rows {
        lines(report, row, &of_groups, &mut writer).map_err(failed)?;
    }
    writer.flush()
}

fn lines<W: Write>(
    report: &FleetReport,
    row: &RowSpread,
    facts: &[Vec<&str>],
    writer: &mut csv::Writer<W>,
) -> csv::Result<()> {
    let mut medians = vec![f64::NAN; report.groups.len()];
    for spread in &row.groups {
        if let Some(median) = medians.get_mut(spread.group) {
            *median = spread.median;
        }
    }
    let outliers = report.outliers.iter();
    let outliers: HashSet<usize> = outliers
        .filter(|o| o.experiment == row.experiment && o.variant == row.variant && o.unit == row.unit)
        .map(|o| o.machine)
        .collect();
    let mut number = String::new();
    for (i, value) in row.values.iter().enumerate() {
        let index = value.machine as usize;
        let Some(machine) = report.machines.get(index) else {
            continue;
        };
        writer.write_field(&machine.name)?;
        writer.write_field(report.groups.get(machine.group).map_or("", |g| &*g.name))?;
        writer.write_field(&row.experiment)?;
        writer.write_field(&row.variant)?;
        writer.write_field(row.unit.as_str())?;
        writer.write_field(if row.headline { "true" } else { "false" })?;
        let median = medians.get(machine.group).copied().unwrap_or(f64::NAN);
        let distance = row.distances.get(i);
        let of = |pick: fn(&crate::record::fleet_report::Distance) -> f64| distance.map_or(f64::NAN, pick);
        let [low, high] = value.ci95;
        for x in [value.value, low, high] {
            field(writer, x, &mut number)?;
        }
        for x in [value.runs, value.n] {
            field(writer, f64::from(x), &mut number)?;
        }
        for x in [median, value.value / median, of(|d| d.sigmas), of(|d| d.p), of(|d| d.q)] {
            field(writer, x, &mut number)?;
        }
        writer.write_field(if outliers.contains(&index) { "true" } else { "false" })?;
        for fact in facts.get(machine.group).map(Vec::as_slice).unwrap_or_default() {
            writer.write_field(fact)?;
        }
        // Ends the line.
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

/// A number that reads back to the same, or nothing. `text` is memory to write it in.
fn field<W: Write>(writer: &mut csv::Writer<W>, x: f64, text: &mut String) -> csv::Result<()> {
    text.clear();
    if x.is_finite() {
        // Writing to a String does not fail.
        let _ = if x == 0.0 || (1e-5..1e16).contains(&x.abs()) {
            write!(text, "{x}")
        } else {
            write!(text, "{x:e}")
        };
    }
    writer.write_field(&*text)
}

/// The error of the file itself, which says that a disk is full.
fn failed(e: csv::Error) -> io::Error {
    match e.into_kind() {
        csv::ErrorKind::Io(e) => e,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::made_up::outputs;
    use crate::record::Unit;

    /// Columns before the facts.
    const COLUMNS: usize = 17;

    fn lines(report: &FleetReport) -> Vec<Vec<String>> {
        let mut out = Vec::new();
        fleet(report, &mut out).unwrap();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&*out);
        let line = |l: Result<csv::StringRecord, _>| l.unwrap().iter().map(str::to_owned).collect();
        reader.records().map(line).collect()
    }

    #[test]
    fn every_row_of_every_machine_has_a_line_with_the_analysed_value() {
        let report = outputs::report(60);
        let all = lines(&report);
        assert_eq!(all.len(), 1 + 60 * report.rows.len());
        assert_eq!(all[0][..COLUMNS].join(","), HEADER);
        assert_eq!(
            all[0][COLUMNS..],
            ["fact_cpu", "fact_microcode", "fact_kernel"],
            "arch is common to all"
        );
        let column = |name: &str| all[0].iter().position(|h| h == name).unwrap();
        for (line, (row, value)) in all[1..]
            .iter()
            .zip(report.rows.iter().flat_map(|r| r.values.iter().map(move |v| (r, v))))
        {
            assert_eq!(line[0], report.machines[value.machine as usize].name);
            assert_eq!(line[3], row.variant);
            assert_eq!(
                line[column("value")].parse::<f64>().unwrap(),
                value.value,
                "to the last bit"
            );
        }
        let ill = all
            .iter()
            .find(|l| l[0] == "node-00003" && l[3] == "lock-inc64")
            .unwrap();
        let of = |name: &str| ill[column(name)].as_str();
        assert_eq!((of("outlier"), of("sigmas"), of("p")), ("true", "220", "1e-30"));
        assert!((of("ratio").parse::<f64>().unwrap() - 1.9).abs() < 0.02);
        assert_eq!(all.iter().filter(|l| l[column("outlier")] == "true").count(), 1);
    }

    #[test]
    fn an_outlier_in_one_unit_is_none_in_another() {
        let mut report = outputs::report(60);
        let mut other = report.rows[0].clone();
        other.unit = Unit::OpsPerSecond;
        report.rows.push(other);
        let all = lines(&report);
        let place = COLUMNS - 1;
        assert_eq!(all.iter().filter(|l| l[place] == "true").count(), 1);
    }

    #[test]
    fn a_long_fact_is_no_column() {
        let mut report = outputs::report(60);
        report.groups[1].facts[1].1 = "x".repeat(MOST_LETTERS);
        assert_eq!(lines(&report)[0][COLUMNS], "fact_cpu");
        report.groups[1].facts[1].1.push('x');
        assert_eq!(lines(&report)[0][COLUMNS], "fact_microcode");
    }

    #[test]
    fn what_is_not_known_is_empty_and_names_are_quoted() {
        let all = lines(&outputs::report(60));
        assert!(all.iter().all(|l| l.len() == all[0].len()));
        assert_eq!(all[1 + 5][8], "", "a bound that is not known");
        assert_eq!(
            all[60][13..16],
            ["", "", ""],
            "the last machine's group is too small to test"
        );
        assert!(all.iter().any(|l| l[0] == "odd \"name\"\\\n7 <b>"));
    }

    #[test]
    fn a_full_disk_is_an_error_and_an_empty_fleet_is_a_header() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let full = fleet(&outputs::report(60), &mut Full).unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        assert_eq!(lines(&FleetReport::default()).len(), 1);
    }
}
