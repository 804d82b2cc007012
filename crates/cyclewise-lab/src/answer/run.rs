//! Sentences about the run itself: the neighbour, and what is missing.

use crate::number::percent;
use crate::record::{Missing, Record, State};

/// How much of the time the neighbour was quiet; `None` if no experiment had a probe.
pub(super) fn neighbour(record: &Record) -> Option<String> {
    let probes = || record.experiments.iter().filter_map(|e| e.probe.as_ref());
    let told_apart = || probes().filter(|p| !p.states.is_empty());
    probes().next()?;
    let rounds: usize = told_apart().map(|p| p.states.chars().count()).sum();
    if rounds == 0 {
        return Some("The probe saw one state of the neighbour, so no rounds are told apart.".to_owned());
    }
    let share = |state: State| {
        let letters = told_apart().flat_map(|p| p.states.chars());
        letters.filter(|c| *c == state.letter()).count() as f64 / rounds as f64
    };
    let apart = told_apart().count();
    Some(format!(
        "{apart} of {} experiments had quiet and busy rounds, {} quiet and {} busy; their figures are of quiet rounds.",
        probes().count(),
        percent(share(State::Quiet)),
        percent(share(State::Busy))
    ))
}

/// What was asked for and is missing, with the reasons; `None` if nothing is.
pub(super) fn missing(record: &Record) -> Option<String> {
    if record.missing.is_empty() {
        return None;
    }
    let whole: Vec<&Missing> = record.missing.iter().filter(|m| m.variant.is_none()).collect();
    let is_cut_short = |m: &&&Missing| record.experiments.iter().any(|e| e.name == m.experiment);
    let cut_short = whole.iter().filter(is_cut_short).count();
    let measured = record.experiments.len() - cut_short;
    let name = |m: &Missing| match &m.variant {
        Some(variant) => format!("{}/{variant}", m.experiment),
        None => m.experiment.clone(),
    };
    let list: Vec<String> = record
        .missing
        .iter()
        .map(|m| format!("{} ({})", name(m), m.why))
        .collect();
    Some(format!(
        "{measured} of {} experiments measured; missing: {}.",
        measured + whole.len(),
        list.join(", ")
    ))
}
