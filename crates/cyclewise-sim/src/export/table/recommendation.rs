//! The recommendation, with what is told and what is not.

use super::simulation::{heading, range};
use crate::recommend::{Candidate, Choice, Other, Recommendation, Verdict};
use cyclewise_report::export::table::grid::{BOLD, Column, DIM, Look, in_blocks, wrapped};
use cyclewise_report::number::significant;
use std::fmt::Write;

/// One table per kind of primitive.
pub(crate) fn recommendation(r: &Recommendation, look: Look) -> String {
    let mut out = heading(&r.machine, look);
    let mut kinds: Vec<&str> = r.choices.iter().map(|c| c.kind).collect();
    kinds.dedup();
    for kind in kinds {
        let _ = writeln!(out, "\n{BOLD}{kind}{BOLD:#}");
        let of_kind: Vec<&Choice> = r.choices.iter().filter(|c| c.kind == kind).collect();
        let _ = writeln!(out, "{}", choices(&of_kind, !r.machine.topology_only, look));
        let untold = of_kind.iter().filter(|choice| choice.measure.is_some());
        let threads: Vec<String> = untold.map(|choice| choice.threads.to_string()).collect();
        if let Some(command) = of_kind.iter().find_map(|choice| choice.measure) {
            let on = threads.join(", ");
            let words = format!(
                "cannot tell on {on} threads: `{command}` on such a machine would tell, and `cyclewise run core-to-core` would describe it, in two \
                 minutes"
            );
            let _ = writeln!(out, "{}", wrapped(&words, look, 0, 2));
        }
        let excluded = of_kind.iter().flat_map(|choice| &choice.starving);
        let mut excluded: Vec<String> = excluded.map(Candidate::name).collect();
        excluded.sort();
        excluded.dedup();
        if !excluded.is_empty() {
            let words = format!("not considered where they starve a thread: {}", excluded.join(", "));
            let _ = writeln!(out, "{}", wrapped(&words, look, 0, 2));
        }
    }
    if !r.missing.is_empty() {
        let missing = format!("ended early, so not simulated: {}", r.missing.join(", "));
        let _ = writeln!(out, "\n{}", wrapped(&missing, look, 0, 2));
    }
    let words = format!(
        "simulated, seven runs each, seed {}, {} cycles of critical work, {} of parallel work; in brackets: how many times as long the other \
         takes; faster than: in every run, and by more than the error of nine in ten such ratios on held-out machines; like: within 5 % in every \
         run; recommended is the first candidate that no other is known to beat",
        r.seed, r.critical_cycles, r.parallel_cycles
    );
    let _ = writeln!(out, "\n{DIM}{}{DIM:#}", wrapped(&words, look, 0, 2));
    out
}

fn choices(of_kind: &[&Choice], has_times: bool, look: Look) -> String {
    let with = |choice: &Choice, verdict: Verdict| {
        let others = choice.others.iter().filter(|other| other.verdict == verdict);
        others.map(|other| named(other, verdict)).collect::<Vec<_>>().join(", ")
    };
    let text = |title: &str, cell: &dyn Fn(&Choice) -> String| Column::text(title, of_kind.iter().map(|c| cell(c)));
    let times = has_times.then(|| text("ns/op", &|c| range(&c.range, 1.0)));
    let columns: Vec<Column> = [
        Some(Column::new("threads", 0, of_kind.iter().map(|c| c.threads.to_string()))),
        Some(text("take", &|c| c.take.name())),
        times,
        Some(text("faster than", &|c| with(c, Verdict::Faster))),
        Some(text("cannot tell from", &|c| with(c, Verdict::CannotTell))),
        Some(text("like", &|c| with(c, Verdict::Alike))),
    ]
    .into_iter()
    .flatten()
    .collect();
    in_blocks(1, &columns, look)
}

/// A candidate, with how much longer it takes unless it is alike.
fn named(other: &Other, verdict: Verdict) -> String {
    let [least, most] = other.ratio.map(|ratio| significant(ratio, 2));
    match verdict {
        Verdict::Alike => other.candidate.name(),
        _ => format!("{} ({least}–{most})", other.candidate.name()),
    }
}
