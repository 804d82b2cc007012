//! The last section of EXAMINATION.md: figures of mails and papers.

use crate::exam::estimate::{Estimate, SEEDS};
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
         Each figure is the mean of the seeds 1 to {SEEDS}, with its 95 % interval, of runs that warm up until throughput is stationary\n\
         (`src/engine/stationary.rs`); {NOT_STATIONARY} marks those of which one was not before the limit of its length. It is met only if the whole\n\
         interval is in the range. Figures that depend on how the threads begin (`--start`) have two regimes, and both are shown.\n"
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
    let all: Vec<String> = result.estimates.iter().map(|one| estimate(one, result)).collect();
    format!(
        "| {} | {} | {range} | {} {} | {verdict} | {} | {} |",
        figure.machine,
        figure.what,
        all.join("; "),
        figure.quantity.unit(),
        figure.role.name(),
        figure.source
    )
}

fn estimate(estimate: &Estimate, of: &FigureResult) -> String {
    let start = match of.has_two_regimes() {
        true => format!("{}: ", estimate.start.name()),
        false => String::new(),
    };
    let (low, high) = estimate.interval;
    let mark = if estimate.stationary { "" } else { NOT_STATIONARY };
    let [mean, low, high] = [estimate.mean, low, high].map(digits);
    format!("{start}{mean} [{low}, {high}]{mark}")
}

/// Three significant digits.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
