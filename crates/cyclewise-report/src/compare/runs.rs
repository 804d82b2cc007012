//! Joins the records of several runs to one.
//!
//! Samples, probes and tests of an experiment are those of the run that has most of its rows, the first of several: rounds of
//! different processes are no pairs. Rows that only other runs have come from the first of those, and a note names them. Every
//! run's medians and ratios are kept, and from them come the figures between runs. `agree` holds a verdict against all runs.

use super::agree;
use crate::record::{Experiment, Identity, Missing, Reason, Record, Verdict, Warning};

/// The record of these named runs; its experiments stand in `order`. `None` if there are no runs.
pub fn join_runs(records: Vec<(String, Record)>, order: &[&str]) -> Option<Record> {
    let missing = missing_of_runs(&records);
    // The runs of each experiment.
    let mut of_runs: Vec<Vec<(String, Experiment)>> = Vec::new();
    let mut joined: Option<Record> = None;
    for (name, mut record) in records {
        for e in std::mem::take(&mut record.experiments) {
            let entry = (name.clone(), e);
            match of_runs.iter_mut().find(|runs| runs[0].1.name == entry.1.name) {
                Some(runs) => runs.push(entry),
                None => of_runs.push(vec![entry]),
            }
        }
        match &mut joined {
            None => joined = Some(record),
            Some(joined) => append(joined, record),
        }
    }
    let mut joined = joined?;
    joined.missing = missing;
    joined.experiments = of_runs.into_iter().filter_map(join_experiment).collect();
    let place = |e: &Experiment| order.iter().position(|name| *name == e.name);
    joined.experiments.sort_by_key(place);
    if joined.runs.len() > 1 {
        for e in &mut joined.experiments {
            agree::figures(e, &joined.runs);
        }
    }
    Some(joined)
}

/// Adds what a further run says of the machine and of itself.
fn append(joined: &mut Record, mut record: Record) {
    joined.created = record.created;
    // Runs of one command last about as long.
    let weights = [joined.runs.len().max(1), record.runs.len().max(1)].map(|runs| runs as f64);
    let shares = joined.machine.steal_share.zip(record.machine.steal_share);
    joined.machine.steal_share = shares.map(|(a, b)| (a * weights[0] + b * weights[1]) / (weights[0] + weights[1]));
    joined.runs.append(&mut record.runs);
    joined.machine.steal_ticks += record.machine.steal_ticks;
    let changed = changed(&joined.machine.identity, &record.machine.identity);
    if !changed.is_empty() {
        record.machine.warnings.push(Warning::Other(format!(
            "{} changed between the runs; the record has what the first run found",
            changed.join(" and ")
        )));
    }
    for warning in record.machine.warnings {
        if !joined.machine.warnings.contains(&warning) {
            joined.machine.warnings.push(warning);
        }
    }
}

/// What of the machine is not the same in two runs: they are processes of one machine, whose microcode may be updated, and which
/// may be moved to another host.
fn changed(a: &Identity, b: &Identity) -> Vec<&'static str> {
    let parts = [
        ("the node", a.node == b.node),
        ("the boot", a.boot_id == b.boot_id),
        ("the microcode", a.microcode == b.microcode),
        ("the firmware", a.dmi == b.dmi),
        ("the control group's limits", a.cgroup == b.cgroup),
    ];
    parts.iter().filter(|(_, same)| !same).map(|(what, _)| *what).collect()
}

/// One experiment of the named runs that have it: that of the run with most rows, and what only others have.
fn join_experiment(mut runs: Vec<(String, Experiment)>) -> Option<Experiment> {
    let rows = |e: &Experiment| (e.matrix().is_some(), e.variants.len(), e.comparisons.len());
    // `max_by_key` gives the last of several.
    let most = (0..runs.len()).rev().max_by_key(|i| rows(&runs[*i].1))?;
    let (_, mut whole) = runs.remove(most);
    let all = runs.len() + 1;
    let depends = whole.comparisons.iter_mut().filter(|c| c.verdict == Verdict::Depends);
    for c in depends.filter(|_| all > 1) {
        let others = runs.iter().flat_map(|(_, e)| &e.comparisons);
        let like = others.filter(|o| o.a == c.a && o.b == c.b && o.verdict == Verdict::Depends);
        let seen = format!("seen in {} of {all} runs", like.count() + 1);
        c.reason = Some(match c.reason.take() {
            Some(why) => why.and(&seen),
            None => Reason::Other(seen),
        });
    }
    for (name, e) in runs {
        let mut added = Vec::new();
        for v in e.variants {
            if whole.variants.iter().all(|known| known.name != v.name) {
                added.push(v.name.clone());
                whole.variants.push(v);
            }
        }
        for c in e.comparisons {
            if whole
                .comparisons
                .iter()
                .all(|known| (&known.a, &known.b) != (&c.a, &c.b))
            {
                whole.comparisons.push(c);
            }
        }
        if !added.is_empty() {
            whole
                .notes
                .push(format!("the samples of {} are of {name}", added.join(", ")));
        }
    }
    Some(whole)
}

/// What is missing of the runs: once if every run lacks it, with the run's name elsewhere.
fn missing_of_runs(records: &[(String, Record)]) -> Vec<Missing> {
    let same = |a: &Missing, b: &Missing| a.experiment == b.experiment && a.variant == b.variant;
    let mut all: Vec<Missing> = Vec::new();
    for (name, record) in records {
        for missing in &record.missing {
            let everywhere = records.iter().all(|(_, r)| r.missing.iter().any(|m| same(m, missing)));
            if !everywhere {
                all.push(Missing {
                    why: format!("in {name}: {}", missing.why),
                    ..missing.clone()
                });
            } else if !all.iter().any(|m| same(m, missing)) {
                all.push(missing.clone());
            }
        }
    }
    all
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::record::{Comparison, Control, Run, Unit, Variant};

    /// A run whose variant `a` has this median and against `b` this ratio, with the verdict that the ratio gives.
    pub(in super::super) fn run(median: f64, ratio: f64) -> Record {
        let variant = |name: &str, median: f64| Variant {
            name: name.to_string(),
            median,
            ..Variant::default()
        };
        let mut record = Record {
            experiments: vec![Experiment {
                name: "e".to_string(),
                unit: Unit::TicksPerOp,
                variants: vec![variant("a", median), variant("b", median / ratio)],
                comparisons: vec![Comparison {
                    a: "a".to_string(),
                    b: "b".to_string(),
                    ratio,
                    verdict: if ratio < 1.0 { Verdict::Faster } else { Verdict::Slower },
                    ..Comparison::default()
                }],
                ..Experiment::default()
            }],
            ..Record::default()
        };
        record.runs = vec![Run::of(&record)];
        record
    }

    pub(in super::super) fn joined(runs: Vec<Record>) -> Record {
        let named = runs.into_iter().enumerate().map(|(i, r)| (format!("run {}", i + 1), r));
        join_runs(named.collect(), &["d", "e"]).unwrap()
    }

    #[test]
    fn a_record_of_several_runs_has_the_figures_between_them() {
        let record = joined(vec![run(10.0, 0.9), run(10.2, 0.91), run(9.8, 0.92)]);
        assert_eq!(record.runs.len(), 3);
        let e = &record.experiments[0];
        let between = e.variants[0].between.as_ref().unwrap();
        let [low, high] = between.ci95.map(Option::unwrap);
        assert!(
            between.runs == 3 && (between.value - 10.0).abs() < 0.01 && low < 9.8 && high > 10.2,
            "{between:?}"
        );
        let c = &e.comparisons[0];
        assert_eq!((c.verdict, c.between.as_ref().unwrap().runs), (Verdict::Faster, 3));
        assert!(
            c.tests[0].passed && c.tests[0].seen == "ratio 0.900 to 0.920 in 3 runs",
            "{:?}",
            c.tests
        );
    }

    #[test]
    fn runs_keep_the_machines_identity_and_say_what_changed() {
        let of = |microcode: &str| {
            let mut record = run(10.0, 0.9);
            record.machine.identity.node = Some("n1".to_string());
            record.machine.identity.microcode = Some(microcode.to_string());
            record
        };
        let same = joined(vec![of("0x1"), of("0x1")]);
        assert_eq!(
            (same.machine.identity, same.machine.warnings),
            (of("0x1").machine.identity, vec![])
        );
        let updated = joined(vec![of("0x1"), of("0x2"), of("0x2")]);
        assert_eq!(updated.machine.identity.microcode.as_deref(), Some("0x1"));
        let said = "the microcode changed between the runs; the record has what the first run found";
        assert_eq!(updated.machine.warnings, [Warning::from(said)]);
    }

    #[test]
    fn a_claim_on_which_runs_disagree_does_not_stand() {
        let record = joined(vec![run(10.0, 0.9), run(10.0, 1.05)]);
        let c = &record.experiments[0].comparisons[0];
        assert_eq!(c.verdict, Verdict::Undecided);
        assert!(c.reason.as_ref().unwrap().contains("0.900 to 1.050 in 2 runs") && !c.tests[0].passed);
    }

    /// Runs with these ratios, of which each says this verdict, under a noise floor of 2 %.
    fn with_verdict(ratios: &[f64], verdict: Verdict) -> Comparison {
        let runs = ratios.iter().map(|ratio| {
            let mut record = run(10.0, *ratio);
            record.experiments[0].comparisons[0].verdict = verdict;
            record.experiments[0].control = Some(Control {
                floor: 0.02,
                ..Control::default()
            });
            record
        });
        joined(runs.collect()).experiments[0].comparisons[0].clone()
    }

    #[test]
    fn the_same_has_to_be_the_same_in_every_run() {
        assert_eq!(with_verdict(&[1.001, 1.015], Verdict::Same).verdict, Verdict::Same);
        let c = with_verdict(&[1.001, 1.3], Verdict::Same);
        assert_eq!(c.verdict, Verdict::Undecided);
        assert!(
            c.tests[0].passed && c.reason.unwrap().contains("1.001 to 1.300 in 2 runs, margin 2.0 %"),
            "{:?}",
            c.tests
        );
    }

    #[test]
    fn a_claim_needs_an_interval_between_the_runs_or_two_clear_runs() {
        let verdict = |ratios: &[f64]| with_verdict(ratios, Verdict::Slower).verdict;
        assert_eq!(verdict(&[1.05, 1.06, 1.07]), Verdict::Slower);
        assert_eq!(
            verdict(&[1.001, 1.06, 1.5]),
            Verdict::Undecided,
            "on one side, but scattered"
        );
        assert_eq!(verdict(&[1.05, 1.5]), Verdict::Slower, "both beyond the floor");
        assert_eq!(verdict(&[1.01, 1.5]), Verdict::Undecided, "one within the floor");
        let c = with_verdict(&[1.05, 1.5], Verdict::Slower);
        assert!(c.tests[0].seen.contains("includes 1"), "{:?}", c.tests);
    }

    #[test]
    fn what_depends_on_the_neighbour_says_in_how_many_runs() {
        let mut first = run(10.0, 0.9);
        first.experiments[0].comparisons[0].verdict = Verdict::Depends;
        let record = joined(vec![first.clone(), run(10.0, 0.9), first]);
        let c = &record.experiments[0].comparisons[0];
        assert_eq!(
            (c.verdict, c.reason.as_deref()),
            (Verdict::Depends, Some("seen in 2 of 3 runs"))
        );
    }

    #[test]
    fn a_row_that_a_run_lost_comes_from_another() {
        let whole = run(10.0, 0.9);
        let mut lost = run(20.0, 0.9);
        lost.experiments[0].variants.truncate(1);
        lost.experiments[0].comparisons.clear();
        lost.runs = vec![Run::of(&lost)];
        // The first of the runs with most rows.
        let record = joined(vec![lost.clone(), whole.clone(), run(30.0, 0.9)]);
        let e = &record.experiments[0];
        assert_eq!(
            (e.variants.len(), e.comparisons.len(), e.variants[0].median),
            (2, 1, 10.0)
        );
        // Each run lost another row.
        let mut other = whole.clone();
        other.experiments[0].variants.remove(0);
        other.experiments[0].comparisons.clear();
        let record = joined(vec![lost, other]);
        let e = &record.experiments[0];
        assert_eq!((e.variants[0].median, e.variants[1].name.as_str()), (20.0, "b"));
        assert_eq!(e.notes, ["the samples of b are of run 2"]);
    }

    #[test]
    fn one_run_that_is_left_has_no_figures_between_runs() {
        let record = joined(vec![run(10.0, 0.9)]);
        let e = &record.experiments[0];
        assert!(e.variants[0].between.is_none() && e.comparisons[0].tests.is_empty() && record.runs.len() == 1);
        assert_eq!(join_runs(vec![], &[]), None);
    }

    #[test]
    fn what_one_run_lacks_names_the_run_and_comes_from_another() {
        let missing = |why: &str| Missing {
            experiment: "d".to_string(),
            why: why.to_string(),
            ..Missing::default()
        };
        let (mut first, mut second) = (run(10.0, 0.9), run(10.0, 0.9));
        first.missing = vec![missing("it failed")];
        second.experiments.push(Experiment {
            name: "d".to_string(),
            ..Experiment::default()
        });
        let record = joined(vec![first.clone(), second.clone()]);
        assert_eq!(record.missing[0].why, "in run 1: it failed");
        let names: Vec<&str> = record.experiments.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["d", "e"], "in the order asked for");
        second.missing = vec![missing("it failed too")];
        assert_eq!(
            joined(vec![first, second]).missing,
            [missing("it failed")],
            "once if all lack it"
        );
    }
}
