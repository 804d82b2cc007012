//! The doctor's report: lines that scripts select by name.

use crate::record::Tool;
use crate::record::doctor::{MachineHead, SCHEMA};
use serde::Serialize;

/// The report, with its lines in the order of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Report {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// When the machine was examined, RFC 3339.
    pub created: String,
    /// The program that examined it.
    pub tool: Tool,
    pub machine: MachineHead,
    pub lines: Vec<Line>,
}

impl Report {
    /// A report of `lines` about `machine`, made now.
    pub(crate) fn new(machine: MachineHead, lines: Vec<Line>) -> Self {
        Self {
            schema: SCHEMA,
            created: humantime::format_rfc3339_micros(std::time::SystemTime::now()).to_string(),
            tool: Tool::this(),
            machine,
            lines,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// Good for measurements.
    Ok,
    /// Present, with a limitation that the consequence explains.
    Limited,
    /// Not present.
    Absent,
    /// Cannot be determined.
    Unknown,
}

impl Status {
    /// The status's name in the JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Limited => "limited",
            Status::Absent => "absent",
            Status::Unknown => "unknown",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Line {
    /// The name for scripts, in kebab-case.
    pub name: &'static str,
    #[serde(flatten)]
    pub answer: Answer,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Answer {
    pub status: Status,
    pub value: String,
    /// The file, register or call that shows it, with the raw value.
    pub evidence: String,
    /// What cyclewise does instead, or what the user can do.
    pub consequence: Option<String>,
}

impl Answer {
    /// An answer without a consequence.
    pub(crate) fn new(status: Status, value: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self {
            status,
            value: value.into(),
            evidence: evidence.into(),
            consequence: None,
        }
    }

    pub(crate) fn so(mut self, consequence: impl Into<String>) -> Self {
        self.consequence = Some(consequence.into());
        self
    }

    /// Adds a consequence unless the status is ok.
    pub(crate) fn unless_ok(self, consequence: impl Into<String>) -> Self {
        match self.status {
            Status::Ok => self,
            _ => self.so(consequence),
        }
    }
}

/// [`Status::Ok`].
pub(crate) fn ok(value: impl Into<String>, evidence: impl Into<String>) -> Answer {
    Answer::new(Status::Ok, value, evidence)
}

/// [`Status::Limited`].
pub(crate) fn limited(value: impl Into<String>, evidence: impl Into<String>) -> Answer {
    Answer::new(Status::Limited, value, evidence)
}

/// [`Status::Absent`].
pub(crate) fn absent(value: impl Into<String>, evidence: impl Into<String>) -> Answer {
    Answer::new(Status::Absent, value, evidence)
}

/// [`Status::Unknown`].
pub(crate) fn unknown(value: impl Into<String>, evidence: impl Into<String>) -> Answer {
    Answer::new(Status::Unknown, value, evidence)
}
