//! A doctor's report, read back: the JSON schema `cyclewise.doctor/1`, which `doctor --json` writes.

use super::load::check_schema;
use super::{Identity, Tool, clean};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.doctor/1";

/// The machine that a report is about, by the names that a record's `machine` has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineHead {
    /// `x86_64` or `aarch64`.
    pub arch: String,
    /// The CPU's brand string.
    pub cpu_model: String,
    /// Family, model and stepping on x86; MIDR on aarch64; empty if unknown.
    pub cpu_id: String,
    /// Kernel release, as `uname -r`.
    pub kernel: String,
    /// Hypervisor's CPUID signature; `None` on bare metal.
    pub hypervisor: Option<String>,
    /// Which machine of a fleet it is.
    #[serde(skip_serializing_if = "Identity::is_empty")]
    pub identity: Identity,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Doctor {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// When the machine was examined, RFC 3339.
    pub created: String,
    /// The program that wrote it.
    pub tool: Tool,
    pub machine: MachineHead,
    /// The lines, in the report's order.
    pub lines: Vec<Line>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Line {
    /// The name for scripts, in kebab-case.
    pub name: String,
    /// What a doctor says, [`Status::is_of_doctor`].
    pub status: Status,
    pub value: String,
}

cyclewise_stats::words! {
    /// What a line says of a feature, or of a promise; in the order in which they are shown.
    #[derive(PartialOrd, Ord)]
    Status {
        /// The feature is good for measurements.
        Ok = "ok",
        /// Present, with a limitation.
        Limited = "limited",
        /// Not present.
        Absent = "absent",
        /// Cannot be determined.
        Unknown = "unknown",
        /// The promise holds.
        Holds = "holds",
        /// It broke.
        Broken = "broken",
        /// Neither was seen.
        NotShown = "not shown",
    }
}

impl Status {
    /// Whether a doctor says it of a feature.
    pub fn is_of_doctor(&self) -> bool {
        matches!(self, Self::Ok | Self::Limited | Self::Absent | Self::Unknown)
    }
}

/// Parses a report; `name` is its name in errors.
///
/// # Errors
/// Exit 2: the text is truncated, not JSON, not a doctor's report, of a newer version, or contradicts itself.
pub fn from_str(name: &str, text: &str) -> Result<Doctor> {
    parse(name, text).map_err(Error::in_one_line)
}

fn parse(name: &str, text: &str) -> Result<Doctor> {
    check_schema(name, text, SCHEMA, "cyclewise doctor --json")?;
    let doctor: Doctor = clean::parse_in_lines(text).map_err(|e| {
        Error::usage(format!(
            "{name} declares {SCHEMA} but does not follow it: {e}; write it again with `cyclewise doctor --json`"
        ))
    })?;
    let modified = |what: String| {
        Err(Error::usage(format!(
            "{name}: {what}; the file was modified after it was written"
        )))
    };
    let mut names = BTreeSet::new();
    for line in &doctor.lines {
        if !line.status.is_of_doctor() {
            let status = line.status.as_str();
            return modified(format!("line {:?} has the unknown status {status:?}", line.name));
        }
        if !names.insert(&line.name) {
            return modified(format!("two lines are named {:?}", line.name));
        }
    }
    Ok(doctor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADED: &str = r#"{"schema":"cyclewise.doctor/1","created":"2026-11-23T18:00:00Z","tool":{"version":"0.1.0","commit":null},
        "machine":{"arch":"x86_64","cpu_model":"AMD EPYC","cpu_id":"","kernel":"6.18.0","hypervisor":null,"identity":{"node":"n17"}},
        "lines":[{"name":"rseq","status":"absent","value":"no rseq","evidence":"x","consequence":null,"later":1}]}"#;

    #[test]
    fn a_report_is_read() {
        let doctor = from_str("d.json", HEADED).unwrap();
        assert_eq!(
            (doctor.machine.kernel.as_str(), doctor.tool.version.as_str()),
            ("6.18.0", "0.1.0")
        );
    }

    #[test]
    fn what_is_no_report_is_one_line() {
        for (text, says) in [
            (&HEADED[..60], "truncated"),
            ("{}", "no \"schema\""),
            (r#"{"schema":"cyclewise.record/1"}"#, "not cyclewise.doctor/1"),
            (r#"{"schema":"cyclewise.doctor/2"}"#, "newer cyclewise"),
            (r#"{"schema":"cyclewise.doctor/1"}"#, "does not follow it"),
            (&HEADED.replace("absent", "ab\\nsent"), "unknown status"),
            (
                &HEADED.replace("\"lines\":[", r#""lines":[{"name":"rseq","status":"ok","value":""},"#),
                "two lines",
            ),
        ] {
            let error = from_str("d.json", text).unwrap_err();
            assert_eq!(error.status, crate::error::Status::Usage);
            let message = error.message;
            assert!(message.starts_with("d.json") && message.contains(says), "{message}");
            assert!(!message.contains(char::is_control), "{message:?}");
        }
    }
}
