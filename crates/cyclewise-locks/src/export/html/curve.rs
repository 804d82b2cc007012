//! How few places make most of a program's locked instructions: the cumulative share over sites, lines and functions.

use crate::error::Result;
use crate::profile::Profile;
use crate::record::{by, by_line, executed, place};
use cyclewise_report::export::html::plot::{Curves, Line, Plot};

/// The most points of a line: as many counts still have an axis on which doubling counts are spaced evenly.
const MOST_POINTS: usize = 12;

/// The plot; `None` where fewer than two sites were executed.
pub(super) fn cumulative(profile: &Profile) -> Result<Option<Plot>> {
    if profile.sites.iter().filter(|site| site.executed > 0).count() < 2 {
        return Ok(None);
    }
    let all = executed(profile) as f64;
    let functions = by(profile, |site| (site.module.clone(), place(site).function));
    let lines = by_line(profile);
    let instructions = by(profile, |site| (site.module.clone(), site.address));
    let series = [
        (
            "instructions",
            instructions.iter().map(|g| g.executed).collect::<Vec<_>>(),
        ),
        ("lines of code", lines.iter().map(|g| g.executed).collect()),
        ("functions", functions.iter().map(|g| g.executed).collect()),
    ];
    // The same counts for all lines, so that they share an axis.
    let counts = counts(series[0].1.len());
    Curves {
        name: "Cumulative share of locked instructions and fences",
        unit: "%",
        counted: "places, the most often executed first",
        lines: series
            .into_iter()
            .map(|(label, executions)| Line {
                label: label.to_owned(),
                points: points(&executions, all, &counts),
                published: Vec::new(),
            })
            .collect(),
        caption: "A curve that rises at once means that few places pay for most of it.".to_owned(),
    }
    .draw()
}

/// Numbers of places at which a share is drawn, up to `n`: 1, 2, 5, 10 and so on, or fewer steps for very many.
fn counts(n: usize) -> Vec<usize> {
    for steps in [&[1, 2, 5][..], &[1, 3], &[1]] {
        let decades = (0..).map_while(|exponent| 10usize.checked_pow(exponent));
        let mut counts: Vec<usize> = decades
            .flat_map(|decade| steps.iter().filter_map(move |step| decade.checked_mul(*step)))
            .take_while(|count| *count < n)
            .collect();
        counts.push(n);
        if counts.len() <= MOST_POINTS {
            return counts;
        }
    }
    vec![1, n]
}

/// The share of the first of `executions`, by their number.
fn points(executions: &[u64], all: f64, counts: &[usize]) -> Vec<(f64, f64)> {
    let share = |n: usize| {
        let sum = executions.iter().take(n).copied().fold(0, u64::saturating_add);
        100.0 * sum as f64 / all
    };
    let mut points: Vec<(f64, f64)> = counts
        .iter()
        .take_while(|n| **n < executions.len())
        .map(|n| (*n as f64, share(*n)))
        .collect();
    points.push((executions.len() as f64, 100.0));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up;

    #[test]
    fn counts_are_few_and_end_with_all() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(8), [1, 2, 5, 8]);
        for n in [2, 10, 5000, 94_480, usize::MAX] {
            let counts = counts(n);
            assert!(counts.len() <= MOST_POINTS || n == usize::MAX, "{n}: {counts:?}");
            assert!(
                counts.is_sorted_by(|a, b| a < b) && counts.last() == Some(&n),
                "{counts:?}"
            );
        }
    }

    #[test]
    fn shares_rise_to_all() {
        let found = points(&[50, 30, 15, 5], 100.0, &counts(4));
        assert_eq!(found, [(1.0, 50.0), (2.0, 80.0), (4.0, 100.0)]);
    }

    #[test]
    fn one_place_needs_no_plot() {
        assert!(cumulative(&made_up::rust().profile).unwrap().is_some());
        assert!(cumulative(&made_up::cplusplus().profile).unwrap().is_none());
    }
}
