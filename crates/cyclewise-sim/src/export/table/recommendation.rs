//! The recommendation, with its margins.

use super::simulation::{heading, labelled};
use crate::export::band;
use crate::recommend::{Choice, Doubt, Recommendation, Worst};
use cyclewise_report::export::table::grid::{BOLD, Column, DIM, Look, in_blocks, style, wrapped};
use cyclewise_report::number::{estimate, fixed, interval, significant};
use std::fmt::Write;

/// How many equivalent candidates a line names.
const ALIKE: usize = 3;

/// One table per kind of primitive.
pub(crate) fn recommendation(r: &Recommendation, look: Look) -> String {
    let mut out = heading(&r.machine, look);
    let mut kinds: Vec<&str> = r.choices.iter().map(|c| c.kind).collect();
    kinds.dedup();
    for kind in kinds {
        let _ = writeln!(out, "\n{BOLD}{kind}{BOLD:#}");
        let of_kind: Vec<&Choice> = r.choices.iter().filter(|c| c.kind == kind).collect();
        let _ = writeln!(out, "{}", choices(&of_kind, look));
        out.push_str(&untold(&of_kind, look));
        out.push_str(&starving(&of_kind, look));
    }
    if !r.missing.is_empty() {
        let missing = format!("ended early, so not simulated: {}", r.missing.join(", "));
        let _ = writeln!(out, "\n{}", wrapped(&missing, look, 0, 2));
    }
    let words = format!(
        "simulated, seeds {} to {}, {} cycles of critical work, {} of parallel work; margin: rate divided by the next best rate; \
         alike: the difference is below 5 %; cannot tell: it is not significant over the seeds, or not larger than the model's error; of the \
         candidates within 5 % of the best, the simplest is recommended",
        r.seeds[0], r.seeds[1], r.critical_cycles, r.parallel_cycles
    );
    let _ = writeln!(out, "\n{DIM}{}{DIM:#}", wrapped(&words, look, 0, 2));
    let errors = band::sentence(&r.machine, r.choices.iter().map(|c| c.take.workload));
    out + &labelled("rates may be off by:", &errors, look)
}

fn choices(of_kind: &[&Choice], look: Look) -> String {
    let rows: Vec<[String; 12]> = of_kind.iter().map(|c| row(c)).collect();
    let titles = [
        "threads",
        "take",
        "is",
        "",
        "Mop/s",
        "off by",
        "Jain",
        "margin",
        "seeds, 95 %",
        "with the model's error",
        "worst",
        "equivalent",
    ];
    let column = |(i, title): (usize, &str)| {
        let cells = rows.iter().map(|row| row[i].clone());
        match i {
            1..=3 | 10 | 11 => Column::text(title, cells),
            _ => Column::new(title, 0, cells),
        }
    };
    let columns: Vec<Column> = titles.into_iter().enumerate().map(column).collect();
    in_blocks(1, &columns, look)
}

fn row(choice: &Choice) -> [String; 12] {
    let [is, than, margin, ci95, of_model] = choice.next.as_ref().map_or_else(Default::default, |next| {
        let colour = style(next.verdict);
        let (is, word) = match next.doubt {
            None => (next.verdict.in_words(), "than"),
            Some(Doubt::Small) => ("alike", "with"),
            Some(_) => ("cannot tell", "from"),
        };
        [
            format!("{colour}{is}{colour:#}"),
            format!("{word} {}", next.candidate.name()),
            estimate(next.ratio, next.ratio_ci95),
            interval(next.ratio, next.ratio_ci95),
            next.model_interval
                .map_or_else(|| band::UNKNOWN.to_owned(), |ci| interval(next.ratio, ci)),
        ]
    });
    let worst = |worst: &Worst| format!("{} ({})", fixed(worst.ratio, 1), worst.candidate.name());
    [
        choice.threads.to_string(),
        choice.take.name(),
        is,
        than,
        significant(choice.ops_per_s / 1e6, 3),
        band::factor(choice.band.as_ref()),
        fixed(choice.jain, 3),
        margin,
        ci95,
        of_model,
        choice.worst.as_ref().map_or_else(String::new, worst),
        alike(choice),
    ]
}

/// The thread counts at which the model cannot tell, and what would.
fn untold(choices: &[&Choice], look: Look) -> String {
    let untold: Vec<(&str, String)> = choices
        .iter()
        .filter_map(|c| Some((c.measure?, c.threads.to_string())))
        .collect();
    let Some((command, _)) = untold.first() else {
        return String::new();
    };
    let threads: Vec<&str> = untold.iter().map(|(_, threads)| threads.as_str()).collect();
    let label = format!(
        "cannot tell with {} threads; measure it on the machine:",
        threads.join(", ")
    );
    let fit = "cyclewise run core-to-core --json R.json; cyclewise simulate fit --from R.json";
    labelled(&label, command, look) + &labelled("or fit the machine to more rows:", fit, look)
}

/// The candidates excluded for starving a thread, with their thread counts.
fn starving(choices: &[&Choice], look: Look) -> String {
    let mut by_name: Vec<(String, Vec<String>)> = Vec::new();
    for choice in choices {
        for candidate in &choice.starving {
            let (name, threads) = (candidate.name(), choice.threads.to_string());
            match by_name.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(threads),
                None => by_name.push((name, vec![threads])),
            }
        }
    }
    let named = by_name
        .iter()
        .map(|(name, threads)| format!("{name} ({})", threads.join(", ")));
    match named.collect::<Vec<_>>().join("; ") {
        none if none.is_empty() => none,
        all => labelled(
            "excluded, a thread starved for a whole run (thread counts):",
            &all,
            look,
        ),
    }
}

/// The other candidates that do as well.
fn alike(choice: &Choice) -> String {
    let others: Vec<String> = choice
        .alike
        .iter()
        .filter(|c| **c != choice.take)
        .map(|c| c.name())
        .collect();
    match others.len() {
        n if n > ALIKE => format!("{} and {} more", others[..ALIKE].join(", "), n - ALIKE),
        _ => others.join(", "),
    }
}
