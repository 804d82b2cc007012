//! What a run did not measure: its entries in the record, its last line, and its exit status.

use crate::error::{Error, Result};
use crate::record::guest::Outcome;
use crate::record::{Experiment, Missing, Record};
use crate::sys::interrupt;

/// An experiment that a signal ended after `rounds`, which are in the record.
pub(super) fn cut_short(name: &str, rounds: usize) -> Missing {
    let by = interrupt::name();
    match rounds {
        0 => possible(name, &format!("cut short by {by} before its first result")),
        _ => possible(
            name,
            &format!("cut short by {by} after {rounds} rounds, which are kept"),
        ),
    }
}

/// What a guest of ring 0 does not tell: costs, where an emulator ran it; and claims that do not hold.
pub(super) fn of_guest(experiment: &Experiment) -> Vec<Missing> {
    let Some(guest) = experiment.guest() else {
        return Vec::new();
    };
    let differs = guest.cases.iter().map(|c| (&c.name, c.result, &c.why));
    let rows = guest.rows.iter().map(|r| (&r.name, r.result, &r.why));
    let mut missing: Vec<Missing> = differs
        .chain(rows)
        .filter(|(_, result, _)| *result == Outcome::Differs)
        .map(|(name, _, why)| Missing {
            variant: Some(name.clone()),
            ..possible(&experiment.name, why.as_deref().unwrap_or("differs"))
        })
        .collect();
    if !guest.hardware {
        missing.push(Missing {
            possible: false,
            ..possible(
                &experiment.name,
                &format!(
                    "no costs, since the guest is {}: {}; run it where KVM has VMX or SVM",
                    guest.run_by(),
                    guest.evidence()
                ),
            )
        });
    }
    missing
}

fn possible(name: &str, why: &str) -> Missing {
    Missing {
        experiment: name.to_string(),
        variant: None,
        why: why.to_string(),
        possible: true,
    }
}

/// `14 of 17 experiments measured; missing: NAME (why), NAME, NAME (why), …`, of a record for which `asked` experiments were asked.
pub(super) fn summary(record: &Record, asked: usize) -> String {
    let whole = |name: &str| {
        !record
            .missing
            .iter()
            .any(|m| m.variant.is_none() && m.experiment == name)
    };
    let measured = record.experiments.iter().filter(|e| whole(&e.name)).count();
    let mut line = format!("{measured} of {asked} experiments measured");
    if !record.missing.is_empty() {
        line.push_str("; missing: ");
        line.push_str(&by_reason(&record.missing).join(", "));
    }
    line
}

/// What is missing, each reason once: `NAME, NAME (why)`.
fn by_reason(missing: &[Missing]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for m in missing {
        let name = match &m.variant {
            Some(variant) => format!("{}/{variant}", m.experiment),
            None => m.experiment.clone(),
        };
        match reasons.iter_mut().find(|(why, _)| *why == m.why) {
            Some((_, names)) => names.push(name),
            None => reasons.push((&m.why, vec![name])),
        }
    }
    let one = |(why, names): (&str, Vec<String>)| format!("{} ({why})", names.join(", "));
    reasons.into_iter().map(one).collect()
}

/// How the run ends: with an error of status 3 where something is missing that was `named` on the command line, or that
/// this machine could have measured. Elsewhere returns the summary.
///
/// # Errors
/// Status 3: something is missing that was named, or that this machine could have measured.
pub(super) fn end(record: &Record, asked: usize, named: bool) -> Result<String> {
    let summary = summary(record, asked);
    let nothing = record.experiments.is_empty();
    if nothing
        || record
            .missing
            .iter()
            .any(|m| m.possible || (named && m.variant.is_none()))
    {
        return Err(Error::unsupported(summary));
    }
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;
    use crate::record::guest::{GuestCase, Provenance};
    use crate::record::{Body, Guest};

    fn record(measured: &[&str], missing: Vec<Missing>) -> Record {
        let experiment = |name: &&str| Experiment {
            name: name.to_string(),
            ..Experiment::default()
        };
        Record {
            experiments: measured.iter().map(experiment).collect(),
            missing,
            ..Record::default()
        }
    }

    #[test]
    fn an_emulated_guest_has_no_costs_and_a_false_claim_is_a_failure() {
        let mut e = Experiment {
            name: "popf-ring0".into(),
            body: Body::Guest(Guest {
                provenance: Provenance::Pvm,
                cases: vec![GuestCase {
                    name: "cli-sti".into(),
                    result: Outcome::Differs,
                    why: Some("result 0 is 1".into()),
                    ..GuestCase::default()
                }],
                ..Guest::default()
            }),
            ..Experiment::default()
        };
        let missing = of_guest(&e);
        assert_eq!(missing[0].variant.as_deref(), Some("cli-sti"));
        assert!(missing[0].possible && !missing[1].possible);
        assert!(missing[1].why.contains("emulated (PVM)"), "{missing:?}");
        // The twin: on hardware, with the claim held, nothing is missing.
        let Body::Guest(guest) = &mut e.body else {
            unreachable!()
        };
        (guest.hardware, guest.cases[0].result) = (true, Outcome::Holds);
        assert_eq!(of_guest(&e), []);
    }

    fn lacking(name: &str) -> Missing {
        Missing {
            possible: false,
            ..possible(name, "needs two CPUs")
        }
    }

    fn row(possible: bool) -> Missing {
        Missing {
            variant: Some("row".to_string()),
            possible,
            ..lacking("a")
        }
    }

    #[test]
    fn the_line_counts_whole_experiments_and_says_why_the_others_are_missing() {
        let all = record(&["a", "b"], vec![]);
        assert_eq!(end(&all, 2, true).unwrap(), "2 of 2 experiments measured");
        let some = record(
            &["a", "b"],
            vec![
                cut_short("b", 9),
                row(false),
                possible("c", "not begun before Ctrl-C"),
                lacking("d"),
            ],
        );
        assert_eq!(
            summary(&some, 4),
            "1 of 4 experiments measured; missing: b (cut short by Ctrl-C after 9 rounds, which are kept), \
             a/row, d (needs two CPUs), c (not begun before Ctrl-C)"
        );
    }

    #[test]
    fn what_a_machine_cannot_do_fails_a_run_only_where_it_was_named() {
        let lacks = || record(&["a"], vec![lacking("b")]);
        assert!(end(&lacks(), 2, false).is_ok());
        assert_eq!(end(&lacks(), 2, true).unwrap_err().status, Status::Unsupported);
        // Rows are not named on the command line.
        assert!(end(&record(&["a"], vec![row(false)]), 1, true).is_ok());
    }

    #[test]
    fn what_failed_always_fails_the_run() {
        for missing in [possible("b", "lost a count"), cut_short("a", 3), row(true)] {
            let error = end(&record(&["a"], vec![missing.clone()]), 2, false);
            assert_eq!(error.map_err(|e| e.status), Err(Status::Unsupported), "{missing:?}");
        }
        assert!(
            end(&record(&[], vec![lacking("a")]), 1, false).is_err(),
            "nothing was measured"
        );
    }
}
