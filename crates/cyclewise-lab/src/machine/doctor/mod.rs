//! The doctor: reports what this machine offers for measurements, with evidence for each line.
//!
//! # Invariants
//! 1. Every line has evidence: the file, register or call, with its raw value or the reason why it has none.
//! 2. Names of lines are unique, and a released name keeps its meaning: scripts select by it.
//! 3. No missing file, call or CPU feature causes a panic.

mod cpu;
mod identity;
mod inputs;
mod kernel;
mod line;
mod locks;
mod memory;
mod percpu;
mod pmu;
mod power;
mod shape;
mod time;
mod virt;

pub(crate) use inputs::Inputs;
pub(crate) use line::{Answer, Line, Report, Status};

use super::fingerprint::{cpu_id, cpu_model, hypervisor};
use super::{Key, Secrets};
use crate::record::doctor::MachineHead;

/// Examines this machine; with a `key`, without its name. Takes a quarter of a second, mostly to observe steal time.
pub(crate) fn examine(key: Option<&Key>) -> Report {
    let mut inputs = Inputs::gather();
    let Some(key) = key else {
        return examine_with(&inputs);
    };
    let secrets = Secrets::of_machine(&inputs.identity);
    key.hide(&mut inputs.identity);
    let mut report = examine_with(&inputs);
    for line in &mut report.lines {
        let Answer {
            value,
            evidence,
            consequence,
            ..
        } = &mut line.answer;
        for text in [value, evidence].into_iter().chain(consequence) {
            *text = secrets.hidden(key, text);
        }
    }
    report
}

/// What tells this machine from others.
pub(crate) fn this_machine() -> MachineHead {
    head(&Inputs::gather())
}

/// Makes the report from gathered data.
pub(crate) fn examine_with(inputs: &Inputs) -> Report {
    let sections = [
        cpu::lines(inputs),
        time::lines(inputs),
        percpu::lines(inputs),
        pmu::lines(inputs),
        locks::lines(inputs),
        virt::lines(inputs),
        shape::lines(inputs),
        power::lines(inputs),
        memory::lines(inputs),
        kernel::lines(inputs),
        identity::lines(inputs),
    ];
    let lines = sections.into_iter().flatten();
    Report::new(
        head(inputs),
        lines.map(|(name, answer)| Line { name, answer }).collect(),
    )
}

/// The machine, by the names that a record's has.
fn head(i: &Inputs) -> MachineHead {
    MachineHead {
        arch: i.arch.clone(),
        cpu_model: cpu_model(i.cpuid.as_ref(), &i.cpuinfo, &i.fs),
        cpu_id: cpu_id(&i.fs, i.cpuid.as_ref(), &i.cpuinfo),
        kernel: i.fs.text("/proc/sys/kernel/osrelease").unwrap_or_default(),
        hypervisor: hypervisor(&i.fs, i.cpuid.as_ref(), &i.cpuinfo),
        identity: i.identity.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[track_caller]
    fn holds_its_invariants(report: &Report) {
        let mut names = BTreeSet::new();
        for line in &report.lines {
            assert!(!line.answer.evidence.trim().is_empty(), "{} has no evidence", line.name);
            assert!(!line.answer.value.trim().is_empty(), "{} has no value", line.name);
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(line.name.chars().all(kebab), "{} is not kebab-case", line.name);
            assert!(names.insert(line.name), "{} is not unique", line.name);
        }
        assert!(names.len() >= 30, "{names:?}");
    }

    #[test]
    fn this_machine() {
        let report = examine(None);
        holds_its_invariants(&report);
        let text = serde_json::to_string(&report).unwrap();
        let read = crate::record::doctor::from_str("this", &text).unwrap();
        assert_eq!(
            (read.schema.as_str(), read.lines[0].name.as_str()),
            ("cyclewise.doctor/1", "cpu")
        );
        assert_eq!((read.machine, read.created), (report.machine, report.created));
    }

    #[test]
    fn a_machine_without_features() {
        for arch in ["x86_64", "aarch64"] {
            let report = examine_with(&Inputs::nothing(arch));
            holds_its_invariants(&report);
            let fine: Vec<_> = report
                .lines
                .iter()
                .filter(|l| l.answer.status == Status::Ok)
                .map(|l| l.name)
                .collect();
            // The instruction set alone implies these.
            let by_isa: &[&str] = if arch == "x86_64" { &["lock-prefix"] } else { &[] };
            assert_eq!(fine, by_isa, "{arch}");
        }
    }

    /// The CPU answers, and every file is masked, as in some containers.
    #[test]
    fn a_machine_whose_files_are_masked_is_not_called_lacking() {
        let masked = Inputs {
            cpuid: Some(crate::machine::fake::kvm_guest()),
            kvm: Ok(12),
            affinity: Some(vec![0, 1]),
            ..Inputs::nothing("x86_64")
        };
        let report = examine_with(&masked);
        holds_its_invariants(&report);
        let line = |name: &str| &report.lines.iter().find(|l| l.name == name).unwrap().answer;
        for name in ["governor", "cpuidle", "kernel-hz", "mitigations", "load", "aslr"] {
            assert_eq!(
                (line(name).status, line(name).value.as_str()),
                (Status::Unknown, "cannot be read"),
                "{name}"
            );
        }
        assert_says!(
            line("tsc-invariant").value,
            "invariant according to the CPU; what the kernel says cannot"
        );
        assert!(line("kvm").value.contains("cannot be read") && line("cpus").value == "2 allowed");
        for l in &report.lines {
            for false_statement in [
                "no TCG model name or MIDR",
                "/proc/cpuinfo: no flags",
                "no proc_mem.force_override",
            ] {
                assert!(!l.answer.evidence.contains(false_statement), "{l:?}");
            }
        }
    }

    #[test]
    fn both_architectures_have_the_same_names() {
        let names = |arch| -> Vec<_> {
            examine_with(&Inputs::nothing(arch))
                .lines
                .iter()
                .map(|l| l.name)
                .collect()
        };
        assert_eq!(names("x86_64"), names("aarch64"));
    }
}
