//! The table of comparisons with every figure, for `--wide`.

use super::aligned::Table;
use super::grid::style;
use crate::answer::Finding;
use crate::export::number::{NONE, estimate, fixed, interval, p_value};
use crate::record::{Experiment, bounds};

/// All comparisons of `e`: the deciding figures, then the t-test of the source.
pub(super) fn comparisons(e: &Experiment) -> Table {
    let rows = e.comparisons.iter().map(|c| {
        let f = Finding::of_comparison(c, e.unit);
        let paired = c.paired();
        let colour = style(f.verdict);
        let of_slopes = |shown: String| if f.has_difference() { shown } else { NONE.to_owned() };
        let tests: Vec<String> = c.tests.iter().map(|t| format!("{}: {}", t.name, t.seen)).collect();
        vec![
            f.a.to_owned(),
            f.b.to_owned(),
            format!("{colour}{}{colour:#}", f.verdict()),
            paired.state.as_str().to_owned(),
            paired.n.to_string(),
            f.times(),
            f.interval(),
            of_slopes(estimate(paired.difference, bounds(paired.ci95))),
            of_slopes(interval(paired.difference, bounds(paired.ci95))),
            if c.headline.is_some() {
                p_value(paired.p)
            } else {
                NONE.to_owned()
            },
            p_value(c.p_holm),
            fixed(c.t, 2),
            fixed(c.df, 1),
            p_value(c.p),
            p_value(c.p_rank),
            tests.join("; "),
        ]
    });
    let header = [
        "",
        "against",
        "verdict",
        "rounds",
        "n",
        "ratio",
        "95 %",
        "difference",
        "95 %",
        "p (sign)",
        "p (Holm)",
        "t",
        "df",
        "p (Welch)",
        "p (rank)",
        "tests",
    ];
    Table::new(&header, rows, 4)
}
