//! Sentences about the run itself: the neighbour, and what is missing.

use super::fitting;
use crate::number::percent;
use crate::record::{Missing, Record, State};
use std::collections::BTreeSet;

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
    let (apart, all) = (told_apart().count(), probes().count());
    let [quiet, busy, mixed] = [State::Quiet, State::Busy, State::Mixed].map(|state| percent(share(state)));
    Some(fitting([
        format!(
            "In {apart} of {all} experiments the probe told states apart: quiet in {quiet} of their rounds, busy in {busy}, \
             mixed in {mixed}; figures are of quiet rounds where these were enough."
        ),
        format!(
            "In {apart} of {all} experiments rounds were {quiet} quiet, {busy} busy, {mixed} mixed; quiet ones count where enough."
        ),
    ]))
}

/// The most entries of what is missing, and the most characters of a reason.
const MOST_MISSING: usize = 3;
const MOST_REASON: usize = 60;

/// What was asked for and is missing, with the reasons; `None` if nothing is.
pub(super) fn missing(record: &Record) -> Option<String> {
    if record.missing.is_empty() {
        return None;
    }
    // Each of several runs may have its own entry of one experiment.
    let whole = record.missing.iter().filter(|m| m.variant.is_none());
    let whole: BTreeSet<&str> = whole.map(|m| m.experiment.as_str()).collect();
    let names: BTreeSet<&str> = record.experiments.iter().map(|e| e.name.as_str()).collect();
    let said = |m: &Missing| {
        let name = match &m.variant {
            Some(variant) => format!("{}/{variant}", m.experiment),
            None => m.experiment.clone(),
        };
        format!("{name} ({})", shortened(&m.why))
    };
    let mut list: Vec<String> = record.missing.iter().take(MOST_MISSING).map(said).collect();
    if record.missing.len() > MOST_MISSING {
        list.push(format!("and {} more", record.missing.len() - MOST_MISSING));
    }
    Some(format!(
        "{} of {} experiments measured; missing: {}.",
        names.difference(&whole).count(),
        names.union(&whole).count(),
        list.join(", ")
    ))
}

/// The beginning of a reason.
fn shortened(why: &str) -> String {
    if why.chars().count() <= MOST_REASON {
        return why.to_owned();
    }
    let start: String = why.chars().take(MOST_REASON).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::record_of;
    use crate::record::{Experiment, Probe};

    fn lost(experiment: &str, variant: Option<&str>, why: &str) -> Missing {
        Missing {
            experiment: experiment.to_owned(),
            variant: variant.map(str::to_owned),
            why: why.to_owned(),
            possible: true,
        }
    }

    fn measured(name: &str) -> Experiment {
        Experiment {
            name: name.to_owned(),
            ..Experiment::default()
        }
    }

    #[test]
    fn an_experiment_that_two_runs_lack_is_missing_once() {
        let r = Record {
            experiments: vec![measured("clock")],
            missing: vec![
                lost("clock", None, "in run 1: x"),
                lost("clock", None, "in run 2: y"),
                lost("popf", None, "z"),
            ],
            ..Record::default()
        };
        let said = missing(&r).unwrap();
        assert!(said.starts_with("0 of 2 experiments measured"), "{said}");
        // The twin: a variant that is missing leaves its experiment measured.
        let r = Record {
            missing: vec![lost("clock", Some("now"), "x")],
            ..r
        };
        assert!(missing(&r).unwrap().starts_with("1 of 1 "));
    }

    #[test]
    fn of_much_that_is_missing_the_first_are_named() {
        let r = Record {
            missing: (0..30)
                .map(|i| lost(&format!("e{i}"), None, &"why ".repeat(90)))
                .collect(),
            ..Record::default()
        };
        let said = missing(&r).unwrap();
        assert!(said.ends_with("…), and 27 more."), "{said}");
        assert!(said.chars().count() < 300, "{said}");
    }

    #[test]
    fn every_state_of_the_rounds_is_told() {
        let mut e = measured("clock");
        e.probe = Some(Probe {
            rounds: vec![1.0; 4],
            states: "qqbm".to_owned(),
            levels: Vec::new(),
        });
        let r = record_of(vec![e]);
        let said = neighbour(&r).unwrap();
        assert_says!(said, "1 of 1", "50\u{a0}% quiet", "25\u{a0}% busy", "25\u{a0}% mixed");
    }
}
