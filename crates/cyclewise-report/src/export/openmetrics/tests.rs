//! The text against a strict parser of OpenMetrics 1.0, written from its ABNF and the rules of its "Text format".

use super::*;
use crate::fleet::made_up::outputs;
use std::collections::HashSet;

/// A sample: its name, its labels, its value.
type Sample = (String, Vec<(String, String)>, f64);

/// Parses an exposition of gauges, and refuses everything that the specification does not allow.
fn parse(text: &str) -> Result<Vec<Sample>, String> {
    let Some(body) = text.strip_suffix("# EOF\n") else {
        return Err("does not end with # EOF".to_owned());
    };
    if text.contains('\r') {
        return Err("has a carriage return".to_owned());
    }
    let (mut samples, mut families) = (Vec::new(), Vec::<String>::new());
    let mut metadata: HashSet<(String, String)> = HashSet::new();
    let mut series = HashSet::new();
    for line in body.split_terminator('\n') {
        if let Some(line) = line.strip_prefix("# ") {
            let (word, rest) = line.split_once(' ').ok_or("no metadata")?;
            let (name, value) = rest.split_once(' ').ok_or("no value")?;
            metric_name(name)?;
            if !metadata.insert((word.to_owned(), name.to_owned())) {
                return Err(format!("{word} of {name} twice"));
            }
            match word {
                "TYPE" if value == "gauge" && !families.iter().any(|f| f == name) => families.push(name.to_owned()),
                "UNIT" if name.ends_with(&format!("_{value}")) => metric_name(value)?,
                "HELP" => drop(unescaped(value)?),
                _ => return Err(format!("not allowed here: {line}")),
            }
            if families.last().is_none_or(|f| f != name) {
                return Err(format!("{name} is interleaved or has no TYPE before"));
            }
        } else {
            let sample = sample(line)?;
            if families.last() != Some(&sample.0) {
                return Err(format!("{} is not of the family before", sample.0));
            }
            if !series.insert((sample.0.clone(), sample.1.clone())) {
                return Err(format!("{line} twice"));
            }
            samples.push(sample);
        }
    }
    Ok(samples)
}

fn metric_name(name: &str) -> Result<(), String> {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    let good = name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit());
    if good {
        Ok(())
    } else {
        Err(format!("{name:?} is no name"))
    }
}

/// `sample = metricname [labels] SP number`: this text has no time stamps and no exemplars.
fn sample(line: &str) -> Result<Sample, String> {
    let end = line.find(['{', ' ']).ok_or("no value")?;
    let (name, mut rest) = line.split_at(end);
    metric_name(name)?;
    let mut labels: Vec<(String, String)> = Vec::new();
    if let Some(after) = rest.strip_prefix('{') {
        rest = after;
        while !rest.starts_with('}') {
            if !labels.is_empty() {
                rest = rest.strip_prefix(',').ok_or_else(|| format!("no comma: {line}"))?;
            }
            let (label, value) = rest.split_once("=\"").ok_or("no label")?;
            metric_name(label)?;
            if label.contains(':') || labels.iter().any(|(known, _)| known == label) {
                return Err(format!("label {label}"));
            }
            let mut escape = false;
            let end = value.find(|c| {
                let is_end = c == '"' && !escape;
                escape = c == '\\' && !escape;
                is_end
            });
            let end = end.ok_or("no end of a label")?;
            labels.push((label.to_owned(), unescaped(&value[..end])?));
            rest = &value[end + 1..];
        }
        rest = &rest[1..];
    }
    let number = rest.strip_prefix(' ').ok_or_else(|| format!("no value: {line}"))?;
    let real = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    match number.parse() {
        Ok(value) if number.chars().all(real) => Ok((name.to_owned(), labels, value)),
        _ => Err(format!("{number:?} is no number")),
    }
}

/// An escaped string: after a backslash only `n`, `"` and a backslash.
fn unescaped(text: &str) -> Result<String, String> {
    let (mut out, mut chars) = (String::new(), text.chars());
    while let Some(c) = chars.next() {
        out.push(match c {
            '"' | '\n' => return Err(format!("{text:?} is not escaped")),
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some(c @ ('"' | '\\')) => c,
                _ => return Err(format!("{text:?} has an unknown escape")),
            },
            c => c,
        });
    }
    Ok(out)
}

fn text(report: &FleetReport) -> String {
    let mut out = Vec::new();
    fleet(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn it_follows_the_specification_and_has_every_machine() {
    let report = outputs::report(60);
    let samples = parse(&text(&report)).unwrap();
    let of = |name: &str| samples.iter().filter(|s| s.0 == name).collect::<Vec<_>>();
    // Two headline rows are in ns/op; a row that is no headline is not there.
    assert_eq!(of("cyclewise_operation_seconds").len(), 2 * 60);
    assert_eq!(of("cyclewise_group_median_operation_seconds").len(), 2 * 3);
    // With its interval, where that is known.
    let known = |end: usize| {
        report
            .rows
            .iter()
            .filter(|r| r.headline && r.unit == Unit::NanosPerOp)
            .flat_map(|r| &r.values)
            .filter(move |v| v.ci95[end].is_finite())
    };
    for (end, name) in ["low", "high"].into_iter().enumerate() {
        let bounds = of(&format!("cyclewise_operation_{name}_seconds"));
        assert_eq!(bounds.len(), known(end).count(), "{name}");
        assert!((bounds[0].2 / 1e-9 / known(end).next().unwrap().ci95[end] - 1.0).abs() < 1e-12);
    }
    assert_eq!(of("cyclewise_throughput_operations_per_second").len(), 60);
    assert_eq!(of("cyclewise_command_seconds").len(), 60);
    let flags = of("cyclewise_machine_outlier_rows");
    assert_eq!((flags.len(), flags[3].2, flags[4].2), (60, 1.0, 0.0));
    assert_eq!(of("cyclewise_outlier_ratio")[0].2, 1.9);
    assert_eq!(
        of("cyclewise_machine_steal_ratio").len(),
        30,
        "unknown ones are left out"
    );
    let value = of("cyclewise_operation_seconds")[0];
    assert_eq!(value.1[2], ("node".to_owned(), "node-00000".to_owned()));
    assert!((value.2 - report.rows[0].values[0].value * 1e-9).abs() < 1e-20);
    assert_eq!(of("cyclewise_fleet_problems").len(), 2);
}

#[test]
fn a_variant_in_two_units_has_samples_of_each() {
    let mut report = outputs::report(60);
    let (mut row, mut outlier) = (report.rows[0].clone(), report.outliers[0].clone());
    (row.unit, outlier.unit) = (Unit::OpsPerSecond, Unit::OpsPerSecond);
    report.rows.push(row);
    report.outliers.push(outlier);
    let samples = parse(&text(&report)).unwrap();
    let outliers: Vec<_> = samples.iter().filter(|s| s.0 == "cyclewise_outlier_ratio").collect();
    assert_eq!(outliers.len(), 2);
}

#[test]
fn names_are_escaped_and_come_back() {
    let report = outputs::report(60);
    let text = text(&report);
    let nodes: HashSet<String> = parse(&text)
        .unwrap()
        .into_iter()
        .flat_map(|s| s.1)
        .filter_map(|(label, value)| (label == "node").then_some(value))
        .collect();
    assert!(nodes.contains(&report.machines[7].name), "{nodes:?}");
    // The twin: without the escapes the parser refuses it.
    let raw = text.replace("\\\"", "\"");
    assert!(parse(&raw).is_err());
}

#[test]
fn machines_of_one_name_stay_apart() {
    let mut report = outputs::report(60);
    report.machines[4].name = report.machines[5].name.clone();
    report.machines[7].name = "a\rb".to_owned();
    parse(&text(&report)).unwrap();
}

#[test]
fn an_empty_fleet_has_a_text() {
    assert!(!parse(&text(&FleetReport::default())).unwrap().is_empty());
}

#[test]
fn the_parser_refuses_what_the_specification_forbids() {
    let good =
        "# TYPE a_seconds gauge\n# UNIT a_seconds seconds\n# HELP a_seconds Help.\na_seconds{b=\"c\"} 1e-9\n# EOF\n";
    assert_eq!(parse(good).unwrap().len(), 1);
    for (from, to) in [
        ("# EOF\n", ""),
        ("UNIT a_seconds seconds", "UNIT a_seconds meters"),
        ("gauge", "untyped"),
        ("1e-9", "1e-9 "),
        ("1e-9", "one"),
        ("1e-9", "infinite"),
        ("b=\"c\"", "b=\"c"),
        ("b=\"c\"", "b=\"c\",b=\"d\""),
        ("b=\"c\"", "b=\"\\x\""),
        ("b=\"c\"", "0b=\"c\""),
        ("a_seconds{", "other{"),
        (
            "# HELP a_seconds Help.",
            "# HELP a_seconds Help.\n# HELP a_seconds Help.",
        ),
        ("# HELP a_seconds Help.", "# a comment of nothing"),
        ("1e-9\n", "1e-9\na_seconds{b=\"c\"} 2e-9\n"),
        ("1e-9\n", "1e-9\r\n"),
        ("1e-9\n", "1e-9\n\n"),
    ] {
        assert!(parse(&good.replace(from, to)).is_err(), "{from:?} → {to:?}");
    }
}
