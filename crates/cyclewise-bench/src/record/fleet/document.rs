//! Tells what a text is, and reads what a fleet is made of.

use super::skim::Skim;
use super::{Checkup, Fault, Member, Names, ProblemKind, member};
use crate::record::{self, clean, doctor, load, verification};

/// A text that was read.
pub enum Document {
    Member(Box<Member>),
    /// A doctor's report, or a verification.
    Checkup(Checkup),
    /// A document of this program that is no part of a fleet: its schema.
    Other(String),
}

impl Document {
    /// Reads a text; `file` is its name below the folder.
    ///
    /// # Errors
    /// What is wrong with the text: it is torn, of a newer version, contradicts itself, or belongs to something else.
    pub fn parse(file: &str, text: &str, names: &Names) -> Result<Self, Fault> {
        // Records are most of what is read: their schema comes first, so the text is not read twice.
        if !text.starts_with(RECORD) {
            match schema(text)? {
                Some(schema) if schema == record::SCHEMA => {}
                Some(schema) if schema == doctor::SCHEMA => {
                    return checkup(doctor::from_str(file, text).map(|report| report.checkup(file)));
                }
                Some(schema) if schema == verification::SCHEMA => {
                    return checkup(verification::from_str(file, text).map(|found| found.checkup(file)));
                }
                Some(schema) if OTHERS.contains(&schema.as_str()) => return Ok(Self::Other(schema)),
                Some(schema) => return Err(unknown(&schema)),
                None => {
                    return Err(Fault(
                        ProblemKind::Foreign,
                        "has no \"schema\", so it is not of cyclewise".into(),
                    ));
                }
            }
        }
        let record: Skim = clean::parse_in_lines(text).map_err(|e| fault(&e))?;
        if record.schema != record::SCHEMA {
            return Err(unknown(&record.schema));
        }
        let member = member::from_skim(file, record, names)?;
        Ok(Self::Member(Box::new(member)))
    }
}

/// How a record begins that this program wrote.
const RECORD: &str = r#"{"schema":"cyclewise.record/1""#;

/// Schemas of this program's other documents.
const OTHERS: [&str; 4] = [
    record::PLAN_SCHEMA,
    record::SIMULATION_SCHEMA,
    record::compare::SCHEMA,
    record::fleet_report::SCHEMA,
];

fn schema(text: &str) -> Result<Option<String>, Fault> {
    load::head_schema(text).map_err(|e| {
        if text.trim_start().starts_with('{') || text.trim().is_empty() {
            fault(&e)
        } else {
            Fault(ProblemKind::Foreign, "is not JSON".to_owned())
        }
    })
}

fn unknown(schema: &str) -> Fault {
    let known = [record::SCHEMA, doctor::SCHEMA, verification::SCHEMA];
    if known.iter().any(|known| load::is_newer(schema, known)) {
        return Fault(
            ProblemKind::Version,
            format!("has schema {schema}; use a newer cyclewise"),
        );
    }
    Fault(ProblemKind::Foreign, format!("has schema {schema:?}"))
}

fn fault(e: &serde_json::Error) -> Fault {
    if e.is_eof() {
        Fault(ProblemKind::Torn, format!("ends too early: {e}"))
    } else if e.is_data() {
        Fault(ProblemKind::Mangled, format!("does not follow its schema: {e}"))
    } else {
        Fault(ProblemKind::Mangled, format!("is not JSON: {e}"))
    }
}

fn checkup(read: crate::error::Result<Checkup>) -> Result<Document, Fault> {
    let read = read.map(Document::Checkup);
    read.map_err(|e| Fault(ProblemKind::Mangled, e.message))
}
