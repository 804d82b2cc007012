//! What instructions cost: from a record, or measured now as `run in-context --quick` does.

use crate::command::cli::{Common, DecidingTest, RunArgs};
use crate::command::progress::tell;
use crate::command::run_once;
use crate::error::{Error, Result};
use crate::record::{self, Machine, Record};
use crate::{experiment, machine, record::locks::costs};
use cyclewise_locks::forecast;
use std::path::Path;

/// The experiment whose matrix the costs are.
const EXPERIMENT: &str = "in-context";

/// Costs, and where they are from.
pub(super) struct Costs {
    pub(super) costs: forecast::Costs,
    /// Where they are from; `None` if there are none.
    pub(super) source: Option<String>,
    /// Why there are none.
    pub(super) note: Option<String>,
}

impl Costs {
    /// Those of a record.
    ///
    /// # Errors
    /// Exit 2: it cannot be read, or lacks the experiment.
    pub(super) fn of_record(path: &Path) -> Result<Self> {
        let record = record::load(path)?;
        let costs = costs(&record).ok_or_else(|| {
            Error::usage(format!(
                "--costs {}: the record lacks {EXPERIMENT}; make one by `cyclewise run {EXPERIMENT} --json {}`",
                path.display(),
                path.display()
            ))
        })?;
        Ok(Self {
            source: Some(format!(
                "{} of {}, measured {}",
                path.display(),
                record.machine.cpu_model,
                record.created
            )),
            note: another(&record.machine, &machine::fingerprint()),
            costs,
        })
    }

    /// None, because of this.
    pub(super) fn not_needed(why: &str) -> Self {
        Self {
            costs: forecast::Costs::default(),
            source: None,
            note: Some(format!("costs of instructions were not measured: {why}")),
        }
    }

    /// Measures them. Where that fails there are none, and the note has the reason.
    pub(super) fn measure() -> Self {
        tell("measures what instructions cost on this machine, about ten seconds; --costs RECORD.json leaves that out");
        let measured = measured().and_then(|record| {
            let found = costs(&record).ok_or_else(|| Error::check(format!("{EXPERIMENT} gave no figures")))?;
            Ok((found, record))
        });
        match measured {
            Ok((costs, record)) => Self {
                costs,
                source: Some(format!(
                    "{EXPERIMENT}, measured after the run on {}",
                    record.machine.cpu_model
                )),
                note: None,
            },
            Err(why) => Self::not_needed(&why.to_string()),
        }
    }
}

/// What to say of costs of a CPU that is not that of `this` machine. A hypervisor may give many CPUs one name, so the name is not enough.
fn another(of: &Machine, this: &Machine) -> Option<String> {
    let known = |machine: &Machine| (machine.cpu_model.clone(), machine.cpu_id.clone());
    let shown = |machine: &Machine| format!("{} ({})", machine.cpu_model, machine.cpu_id);
    (known(of) != known(this)).then(|| {
        format!(
            "the costs are those of {}, and the program's time is that of {}: shares of time are no forecast for either",
            shown(of),
            shown(this)
        )
    })
}

fn measured() -> Result<Record> {
    let chosen = experiment::select(&[EXPERIMENT.to_owned()])?;
    run_once::measure(&quick(), &chosen)
}

/// The options of `run in-context --quick`.
fn quick() -> RunArgs {
    RunArgs {
        experiments: vec![EXPERIMENT.to_owned()],
        quick: true,
        full: false,
        runs: 1,
        run_of: None,
        cpu: None,
        pipe: false,
        groups: None,
        loops: None,
        threads: Vec::new(),
        common: Common {
            seed: 1,
            test: DecidingTest::Median,
            json: None,
            csv: None,
            csv_comparisons: None,
            bmf: None,
            html: None,
            anonymous: None,
            wide: false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_the_experiment_is_refused_and_one_with_it_says_where_it_is_from() {
        let records = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../records"));
        let with = Costs::of_record(&records.join("2026-11-23-epyc-turin-kvm.json.gz")).unwrap();
        assert!(with.source.unwrap().contains("2026-11-23") && !with.costs.operations.is_empty());
        let without = Costs::of_record(&records.join("2026-11-21-epyc-genoa-kvm-percpu.json"))
            .err()
            .unwrap();
        assert!(without.message.contains("lacks in-context"), "{without}");
    }

    #[test]
    fn costs_of_another_cpu_are_told() {
        let machine = |id: &str| Machine {
            cpu_model: "AMD EPYC".to_owned(),
            cpu_id: id.to_owned(),
            ..Machine::default()
        };
        assert_eq!(another(&machine("family 25"), &machine("family 25")), None);
        let said = another(&machine("family 26"), &machine("family 25")).unwrap();
        assert!(said.contains("those of AMD EPYC (family 26)"), "{said}");
    }

    #[test]
    fn the_options_are_those_of_a_quick_run() {
        use crate::command::cli::{Cli, Command};
        use clap::Parser;
        let Ok(Command::Run(parsed)) =
            Cli::try_parse_from(["cyclewise", "run", EXPERIMENT, "--quick"]).map(|c| c.command)
        else {
            panic!("the command line has changed");
        };
        let ours = quick();
        assert_eq!(
            (ours.experiments, ours.quick, ours.runs),
            (parsed.experiments, parsed.quick, parsed.runs)
        );
        assert_eq!(
            (ours.common.seed, ours.common.test),
            (parsed.common.seed, parsed.common.test)
        );
    }
}
