//! The recommendation, with its margins.

use crate::export::band;
use crate::recommend::{Choice, Doubt, Recommendation, Worst};
use cyclewise_report::export::table::grid::{BOLD, DIM, left, style, table};
use cyclewise_report::number::{estimate, fixed, interval, significant};
use std::fmt::Write;

/// How many equivalent candidates a line names.
const ALIKE: usize = 3;

/// One table per kind of primitive.
pub(crate) fn recommendation(r: &Recommendation) -> String {
    let mut out = format!(
        "{BOLD}{}{BOLD:#}, {} CPUs  {DIM}{}{DIM:#}\n",
        r.machine.name,
        r.machine.cpus(),
        r.machine.about
    );
    if !r.machine.fitted.is_empty() {
        let _ = writeln!(out, "{DIM}fitted, not measured:{DIM:#} {}", r.machine.fitted.join(", "));
    }
    let mut kinds: Vec<&str> = r.choices.iter().map(|c| c.kind).collect();
    kinds.dedup();
    for kind in kinds {
        let _ = writeln!(out, "\n{BOLD}{kind}{BOLD:#}");
        let rows = r.choices.iter().filter(|c| c.kind == kind).map(row);
        let header = [
            "take",
            "is",
            "",
            "threads",
            "Mop/s",
            "off by",
            "Jain",
            "margin",
            "seeds, 95 %",
            "with the model's error",
            "worst",
            "equivalent",
        ];
        let mut grid = table(&header, rows, 3);
        for column in [0, 1, 2, 11] {
            left(&mut grid, column);
        }
        let _ = writeln!(out, "{grid}");
        out.push_str(&untold(r.choices.iter().filter(|c| c.kind == kind)));
        out.push_str(&starving(r.choices.iter().filter(|c| c.kind == kind)));
    }
    let _ = writeln!(
        out,
        "\n{DIM}simulated, seeds {} to {}, {} cycles of critical work, {} of parallel work; margin: rate divided by the next best rate; \
         alike: the difference is below 5 %; cannot tell: it is not significant over the seeds, or not larger than the model's error; of the \
         candidates within 5 % of the best, the simplest is recommended{DIM:#}",
        r.seeds[0], r.seeds[1], r.critical_cycles, r.parallel_cycles
    );
    let _ = writeln!(
        out,
        "{DIM}rates may be off by:{DIM:#} {}",
        band::sentence(&r.machine, r.choices.iter().map(|c| c.take.workload))
    );
    out
}

fn row(choice: &Choice) -> Vec<String> {
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
    vec![
        choice.take.name(),
        is,
        than,
        choice.threads.to_string(),
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
fn untold<'a>(choices: impl Iterator<Item = &'a Choice>) -> String {
    let untold: Vec<(&str, String)> = choices
        .filter_map(|c| Some((c.measure?, c.threads.to_string())))
        .collect();
    let Some((command, _)) = untold.first() else {
        return String::new();
    };
    let threads: Vec<&str> = untold.iter().map(|(_, threads)| threads.as_str()).collect();
    format!(
        "{DIM}cannot tell with {} threads; measure it on the machine:{DIM:#} {command}{DIM}, or fit the machine to more rows:{DIM:#} \
         cyclewise run core-to-core --json R.json; cyclewise simulate fit --from R.json\n",
        threads.join(", ")
    )
}

/// The candidates excluded for starving a thread, with their thread counts.
fn starving<'a>(choices: impl Iterator<Item = &'a Choice>) -> String {
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
        all => format!("{DIM}excluded, a thread starved for a whole run (thread counts):{DIM:#} {all}\n"),
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
