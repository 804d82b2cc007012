//! One-way times between CPUs, as a matrix and by distance.

use super::aligned::Table;
use super::grid::Look;
use crate::export::number::{decimals, fixed};
use crate::record::Experiment;
use crate::record::core_to_core::{Matrix, spans};
use std::fmt::Write;

/// With at most this many pairs, each pair also has its own row.
pub(super) const MOST_ROWS: usize = 28;

/// The matrix and the distances of `e`; `None` if it has no pairs.
pub(super) fn matrix(e: &Experiment, look: Look) -> Option<String> {
    let matrix = Matrix::of_experiment(e)?;
    let cpus = &matrix.cpus;
    let rows = spans(e).into_iter().map(|s| {
        // The spread of one distance's pairs is their uncertainty.
        let ns = |value| fixed(value, decimals(value, 0.1_f64.max((s.max - s.min) / 10.0)));
        vec![
            s.distance.name().to_owned(),
            s.pairs.to_string(),
            ns(s.median),
            ns(s.min),
            ns(s.max),
        ]
    });
    let mut out = format!(
        "{}\n",
        Table::new(&["one way, ns", "pairs", "median", "min", "max"], rows, 1)
    );
    out.push_str(&super::levels::levels(e).unwrap_or_default());
    let names: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let mut header = vec!["CPU"];
    header.extend(names.iter().map(String::as_str));
    let rows = (0..cpus.len()).map(|a| {
        let cell = |b| match matrix.ns(a, b) {
            Some(ns) => format!("{ns:.0}"),
            None if a == b => String::new(),
            None => "·".to_owned(),
        };
        std::iter::once(names[a].clone())
            .chain((0..cpus.len()).map(cell))
            .collect()
    });
    let matrix = Table::new(&header, rows, 1).to_string();
    if !look.wide && matrix.lines().any(|line| super::grid::shown_width(line) > look.columns) {
        let _ = writeln!(
            out,
            "the matrix of {} CPUs is too wide for {} columns: use --wide, or see the page of --html",
            cpus.len(),
            look.columns
        );
        return Some(out);
    }
    let _ = writeln!(out, "{matrix}");
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment(pairs: &[(&str, f64)]) -> Experiment {
        let variants = pairs.iter().map(|(name, median)| {
            format!(
                r#"{{"name":"{name}","n":1,"rejected":0,"mean":1.0,"sd":0.0,"median":{median},"min":1.0,"ci95":[1.0,1.0],"code_bytes":null,"samples":[1.0]}}"#
            )
        });
        let text = format!(
            r#"{{"name":"core-to-core","question":"?","source":"","unit":"ns/op","variants":[{}],"comparisons":[],"notes":[]}}"#,
            variants.collect::<Vec<_>>().join(",")
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_matrix_as_people_read_it() {
        let e = experiment(&[
            ("sibling-0-2", 9.6),
            ("socket-0-1", 48.2),
            ("socket-1-3", 52.0),
            ("remote-0-3", 118.0),
        ]);
        insta::assert_snapshot!(anstream::adapter::strip_str(&matrix(&e, Look::new(None, false)).unwrap()).to_string());
        // Two complexes of two cores, which the kernel does not name.
        let whole = experiment(&[
            ("socket-0-1", 24.0),
            ("socket-0-2", 91.0),
            ("socket-0-3", 90.0),
            ("socket-1-2", 92.0),
            ("socket-1-3", 91.0),
            ("socket-2-3", 23.0),
        ]);
        insta::assert_snapshot!(
            "levels",
            anstream::adapter::strip_str(&matrix(&whole, Look::new(None, false)).unwrap()).to_string()
        );
    }

    #[test]
    fn without_pairs_there_is_none_and_with_many_it_is_drawn_elsewhere() {
        let alone = experiment(&[("fetch-add-t1", 5.0)]);
        assert_eq!(matrix(&alone, Look::new(None, false)), None);
        let names: Vec<String> = (1..=80).map(|b| format!("socket-0-{b}")).collect();
        let pairs: Vec<(&str, f64)> = names.iter().map(|n| (n.as_str(), 50.0)).collect();
        let narrow = matrix(&experiment(&pairs), Look::new(None, false)).unwrap();
        assert_says!(narrow, "matrix of 81 CPUs is too wide");
        let wide = matrix(&experiment(&pairs), Look::new(None, true)).unwrap();
        assert!(wide.lines().any(|line| line.len() > 200), "{wide}");
    }
}
