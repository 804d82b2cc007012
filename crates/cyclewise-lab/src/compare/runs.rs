//! Joins the records of several runs to one.
//!
//! Samples, probes and tests are those of the first run that has the experiment: rounds of different processes are no pairs.
//! Every run's medians and ratios are kept, and from them come the figures between runs. A claim that one of two variants is
//! faster stands only if the ratio of every run lies on its side.

use crate::record::{Comparison, Experiment, Missing, Record, Run, Test, Verdict};
use crate::stats;

/// The name of the test of [`agree`] among a comparison's tests.
const TEST: &str = "every run agrees";

/// The record of these named runs; its experiments stand in `order`. `None` if there are no runs.
pub(crate) fn join_runs(records: Vec<(String, Record)>, order: &[&str]) -> Option<Record> {
    let missing = missing_of_runs(&records);
    let mut records = records.into_iter().map(|(_, record)| record);
    let mut joined = records.next()?;
    for mut record in records {
        joined.created = record.created;
        joined.runs.append(&mut record.runs);
        joined.machine.steal_ticks += record.machine.steal_ticks;
        for warning in record.machine.warnings {
            if !joined.machine.warnings.contains(&warning) {
                joined.machine.warnings.push(warning);
            }
        }
        for experiment in record.experiments {
            if joined.experiments.iter().all(|e| e.name != experiment.name) {
                joined.experiments.push(experiment);
            }
        }
    }
    joined.missing = missing;
    let place = |e: &Experiment| order.iter().position(|name| *name == e.name);
    joined.experiments.sort_by_key(place);
    if joined.runs.len() > 1 {
        for e in &mut joined.experiments {
            figures(e, &joined.runs);
        }
    }
    Some(joined)
}

/// Adds the figures between runs to an experiment, and takes back claims on which the runs do not agree.
fn figures(e: &mut Experiment, runs: &[Run]) {
    for v in &mut e.variants {
        let medians: Vec<f64> = runs.iter().filter_map(|r| r.median(&e.name, &v.name)).collect();
        v.between = stats::between_runs(&medians);
    }
    for c in &mut e.comparisons {
        let ratios: Vec<f64> = runs.iter().filter_map(|r| r.ratio(&e.name, &c.a, &c.b)).collect();
        c.between = stats::between_runs(&ratios);
        agree(c, &ratios, e.unit.more_is_faster());
    }
}

/// Holds a claim against the ratios of all runs.
fn agree(c: &mut Comparison, ratios: &[f64], more_is_faster: bool) {
    if !c.verdict.is_claim() {
        return;
    }
    let above = (c.verdict == Verdict::Faster) == more_is_faster;
    let passed = ratios.iter().all(|r| if above { *r > 1.0 } else { *r < 1.0 });
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let seen = format!("ratio {least:.3} to {most:.3} in {} runs", ratios.len());
    if !passed {
        c.reason = Some(format!(
            "the first run says {}, but the runs do not agree: {seen}",
            c.verdict.as_str()
        ));
        c.verdict = Verdict::Undecided;
    }
    c.tests.push(Test {
        name: TEST.to_string(),
        seen,
        passed,
    });
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
mod tests {
    use super::*;
    use crate::record::{Unit, Variant};

    /// A run whose variant `a` has this median and against `b` this ratio, with the verdict that the ratio gives.
    fn run(median: f64, ratio: f64) -> Record {
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

    fn joined(runs: Vec<Record>) -> Record {
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
    fn a_claim_on_which_runs_disagree_does_not_stand() {
        let record = joined(vec![run(10.0, 0.9), run(10.0, 1.05)]);
        let c = &record.experiments[0].comparisons[0];
        assert_eq!(c.verdict, Verdict::Undecided);
        assert!(c.reason.as_ref().unwrap().contains("0.900 to 1.050 in 2 runs") && !c.tests[0].passed);
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
