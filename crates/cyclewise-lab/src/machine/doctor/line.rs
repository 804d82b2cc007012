//! The doctor's report as data: lines that scripts select by name.

use serde::Serialize;

/// The schema of the JSON.
pub const SCHEMA: &str = "cyclewise.doctor/1";

/// All lines, in the order people read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// What was found.
    pub lines: Vec<Line>,
}

impl Report {
    /// A report of `lines`.
    pub fn new(lines: Vec<Line>) -> Self {
        Self { schema: SCHEMA, lines }
    }

    /// The line called `name`.
    pub fn line(&self, name: &str) -> Option<&Line> {
        self.lines.iter().find(|l| l.name == name)
    }
}

/// How a machine stands on one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As a measurement wants it.
    Ok,
    /// There, with a reservation that the consequence names.
    Limited,
    /// Not there.
    Absent,
    /// It cannot be told.
    Unknown,
}

impl Status {
    /// The word the JSON uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Limited => "limited",
            Status::Absent => "absent",
            Status::Unknown => "unknown",
        }
    }
}

/// One point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The name scripts use, in kebab-case.
    pub name: &'static str,
    /// How the machine stands.
    pub status: Status,
    /// What it has.
    pub value: String,
    /// The file, register or call that said so, with the raw value.
    pub evidence: String,
    /// What cyclewise does instead, or what the user can do.
    pub consequence: Option<String>,
}

impl Line {
    /// A line without a consequence.
    pub fn new(name: &'static str, status: Status, value: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self {
            name,
            status,
            value: value.into(),
            evidence: evidence.into(),
            consequence: None,
        }
    }

    /// The line with a consequence.
    pub fn so(mut self, consequence: impl Into<String>) -> Self {
        self.consequence = Some(consequence.into());
        self
    }

    /// The line with a consequence, unless all is well.
    pub fn unless_ok(self, consequence: impl Into<String>) -> Self {
        if self.status == Status::Ok {
            self
        } else {
            self.so(consequence)
        }
    }
}
