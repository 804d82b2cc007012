//! What instructions cost: from a record, or measured now by `cyclewise run in-context --quick`.

use crate::error::{Error, Result};
use crate::forecast;
use crate::record::costs;
use cyclewise_bench::machine;
use cyclewise_bench::record::{self, Machine, Record};
use cyclewise_bench::sys::{interrupt, process};
use cyclewise_report::files::output::tell;
use cyclewise_report::files::programs;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The experiment whose matrix the costs are.
const EXPERIMENT: &str = "in-context";

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

/// The time between two looks at whether a signal has asked this process to end.
const LOOK: Duration = Duration::from_millis(20);

/// A record of the experiment, by the lab.
fn measured() -> Result<Record> {
    let lab = programs::find("cyclewise", "cyclewise-lab")?;
    let failed = |e: &std::io::Error| Error::system(&lab.display().to_string(), e, "give --costs RECORD.json");
    let mut document = tempfile::tempfile().map_err(|e| failed(&e))?;
    let stdout = document.try_clone().map_err(|e| failed(&e))?;
    let mut command = Command::new(&lab);
    command.args(["run", EXPERIMENT, "--quick", "--json", "-"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(stdout)
        .spawn()
        .map_err(|e| failed(&e))?;
    let mut is_told = false;
    while child.try_wait().map_err(|e| failed(&e))?.is_none() {
        if interrupt::asked() && !is_told {
            process::send(&child, libc::SIGINT);
            is_told = true;
        }
        std::thread::sleep(LOOK);
    }
    let mut text = String::new();
    let read = document.rewind().and_then(|()| document.read_to_string(&mut text));
    read.map_err(|e| failed(&e))?;
    record::from_str(&format!("`cyclewise run {EXPERIMENT}`"), &text)
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
}
