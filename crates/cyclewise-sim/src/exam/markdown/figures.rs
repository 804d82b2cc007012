//! The last section of EXAMINATION.md: figures of mails and papers.

use crate::exam::figures::FigureResult;
use std::fmt::{self, Write};

/// The marks of runs that were not stationary: a dagger.
const NOT_STATIONARY: &str = "\u{2020}";

/// Writes the table, and the reasons of what is missed or has two regimes.
pub(in crate::exam) fn write_figures(out: &mut String, results: &[FigureResult]) -> fmt::Result {
    writeln!(out, "\n## Figures of mails and papers\n")?;
    writeln!(
        out,
        "Of machines in `machines/`, each with one set of parameters for all of its figures and workloads. `fitted` marks a figure that the\n\
         parameters were fitted to: meeting it only shows that the laws permit it. `predicted` marks one that was not used. The set of laws was\n\
         chosen with all of these figures known. [data/figures.toml](data/figures.toml) has the jobs.\n\n\
         Each figure is computed from each of the seven runs of a prediction: the value in the middle, and the least and the most. It is met only\n\
         if all are in the range. {NOT_STATIONARY} marks those of which a run was not stationary before the limit of its length. Of two regimes, both\n\
         are shown.\n"
    )?;
    let met = results.iter().filter(|result| result.is_met()).count();
    writeln!(out, "{met} of {} figures met.\n", results.len())?;
    for result in results.iter().filter(|result| result.needs_a_reason()) {
        let figure = &result.figure;
        let why = match figure.why.as_str() {
            "" => "The reason is unknown.",
            why => why,
        };
        writeln!(out, "- {}, {}: {why}", figure.machine, figure.what)?;
    }
    writeln!(
        out,
        "\n| machine | figure | range | simulated | | role | source |\n|---|---|--:|--:|---|---|---|"
    )?;
    for result in results {
        writeln!(out, "{}", line(result))?;
    }
    Ok(())
}

/// A result's line of the table.
pub(in crate::exam) fn line(result: &FigureResult) -> String {
    let figure = &result.figure;
    let verdict = if result.is_met() { "met" } else { "**missed**" };
    let (least, most) = figure.range;
    let range = if most.is_infinite() {
        format!("at least {}", digits(least))
    } else {
        format!("{} to {}", digits(least), digits(most))
    };
    let between = |[low, high]: &[f64; 2]| format!("{} to {}", digits(*low), digits(*high));
    let simulated = match result.simulated.regimes.as_slice() {
        [] => format!("{} [{}]", digits(result.middle), between(&result.simulated.ns)),
        regimes => regimes.iter().map(between).collect::<Vec<_>>().join(" or "),
    };
    let mark = if result.stationary { "" } else { NOT_STATIONARY };
    format!(
        "| {} | {} | {range} | {simulated}{mark} {} | {verdict} | {} | {} |",
        figure.machine,
        figure.what,
        figure.quantity.unit(),
        figure.role.name(),
        figure.source
    )
}

/// Three significant digits.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
