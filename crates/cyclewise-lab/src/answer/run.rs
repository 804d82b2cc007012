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
    let one = probes().count() - told_apart().count();
    let rest = match one {
        0 => String::new(),
        1 => "; 1 other experiment saw one state".to_owned(),
        n => format!("; {n} other experiments saw one state"),
    };
    Some(format!(
        "The neighbour was quiet in {} of the rounds and busy in {}; figures are of quiet rounds where there were enough{rest}.",
        percent(share(State::Quiet)),
        percent(share(State::Busy))
    ))
}

/// What was asked for and is missing, with the reasons; `None` if nothing is.
pub(super) fn missing(record: &Record) -> Option<String> {
    if record.missing.is_empty() {
        return None;
    }
    let absent = record
        .missing
        .iter()
        .filter(|m| m.variant.is_none() && record.experiments.iter().all(|e| e.name != m.experiment));
    let asked = record.experiments.len() + absent.count();
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
        "{} of {asked} experiments measured; missing: {}.",
        record.experiments.len(),
        list.join(", ")
    ))
}
