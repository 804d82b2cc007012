//! The levels of the matrix of one-way times, beside the kernel's names for them.

use super::aligned::Table;
use crate::export::number::{decimals, fixed};
use crate::record::Experiment;
use crate::record::core_to_core::levels::{NamedLevel, found};
use std::fmt::Write;

/// The levels of `e`, or why there are none; `None` if it has no pairs.
pub(super) fn levels(e: &Experiment) -> Option<String> {
    let levels = match found(e)? {
        Ok(levels) => levels,
        Err(why) => return Some(format!("levels of the matrix: {why}\n")),
    };
    let rows = levels.iter().map(row);
    let header = ["level", "groups", "pairs", "min", "median", "max"];
    let mut out = format!("{}\n", Table::new(&header, rows, 2));
    let unnamed = levels.iter().filter(|found| found.named.is_none()).count();
    let _ = writeln!(
        out,
        "levels: by single linkage of the matrix; {}",
        match unnamed {
            0 => "the kernel names all of them".to_owned(),
            n => format!("the kernel does not name {n} of {}", levels.len()),
        }
    );
    if levels.iter().any(|found| found.level.is_gradient()) {
        let _ = writeln!(
            out,
            "gradient: pairs of one level differ by so much that one time does not describe them, as on a mesh or a ring"
        );
    }
    Some(out)
}

fn row(NamedLevel { level, named }: &NamedLevel) -> Vec<String> {
    let ns = |value| {
        fixed(
            value,
            decimals(value, 0.1_f64.max((level.max_ns - level.min_ns) / 10.0)),
        )
    };
    let name = named.map_or("unnamed", crate::record::core_to_core::Distance::name);
    let gradient = if level.is_gradient() { ", gradient" } else { "" };
    vec![
        format!("{name}{gradient}"),
        sizes(level.groups.iter().map(Vec::len).collect()),
        level.pairs.to_string(),
        ns(level.min_ns),
        ns(level.median_ns),
        ns(level.max_ns),
    ]
}

/// `6 of 8, 1 of 6`: groups by size, the largest first.
fn sizes(mut sizes: Vec<usize>) -> String {
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let alike = sizes.chunk_by(|a, b| a == b);
    let words = alike.map(|group| format!("{} of {}", group.len(), group[0]));
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_counted_by_size() {
        assert_eq!(sizes(vec![8, 6, 8, 1, 8]), "3 of 8, 1 of 6, 1 of 1");
    }
}
