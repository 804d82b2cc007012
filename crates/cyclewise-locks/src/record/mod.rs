//! What a program pays for atomics: the JSON schema `cyclewise.locks/1`, which `locks --json` writes and `report` reads.
//!
//! Within version 1, fields are only added; readers ignore unknown fields.

mod costs;
mod groups;
#[cfg(test)]
pub(crate) mod made_up;
mod part;
mod texts;

pub use costs::costs;
pub use groups::{CallTree, Group, Place, by, by_line, call_trees, executed, place};
pub use part::Part;
pub use texts::with_texts;

use crate::error::{Error, Result};
use crate::forecast::Forecast;
use crate::profile::Profile;
use cyclewise_bench::record::load::check_schema;
use cyclewise_bench::record::{Machine, Tool, clean};
use serde::{Deserialize, Serialize};

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.locks/1";

/// One program's locked instructions, and what it would gain without them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Locks {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// When the report was made, RFC 3339.
    pub created: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// The machine that the program was counted on.
    pub machine: Machine,
    /// The command line after `cyclewise`.
    pub command: Vec<String>,
    /// The counted program and its arguments.
    pub program: Vec<String>,
    /// How the counted run ended.
    pub exit: Exit,
    /// User time of the counted run, seconds, of the program and the children that it waited for.
    pub counted_user_s: f64,
    /// How many times the user time of a run that is not counted that is; `None` where the latter is not known.
    #[serde(default)]
    pub slowdown: Option<f64>,
    /// Where the locked instructions are. It names the way of counting, and what was not counted.
    pub profile: Profile,
    /// What the program would gain; `None` where no costs are known.
    #[serde(default)]
    pub forecast: Option<Forecast>,
    /// Where the costs of instructions are from: a record's name, or when they were measured.
    #[serde(default)]
    pub costs: Option<String>,
    /// What is not as it was asked for, a line each: why there is no time or no forecast.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Its exit status, if it ended by itself.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Whether Ctrl-C, or a signal to the same end, ended the run, so that the counts are those until then.
    #[serde(default)]
    pub interrupted: bool,
}

impl Exit {
    /// The exit status as a shell gives it: 128 and the signal's number for a program that a signal ended.
    pub fn status(self) -> u8 {
        let status = self.code.or(self.signal.map(|signal| 128 + signal));
        status.and_then(|status| u8::try_from(status).ok()).unwrap_or(u8::MAX)
    }
}

/// Parses a document; `name` is its name in errors.
///
/// # Errors
/// Exit 2: the text is truncated, not JSON, not such a document, of a newer version, or contradicts itself.
pub fn from_str(name: &str, text: &str) -> Result<Locks> {
    parse(name, text).map_err(Error::in_one_line)
}

fn parse(name: &str, text: &str) -> Result<Locks> {
    check_schema(name, text, SCHEMA, "cyclewise locks --json")?;
    let locks: Locks = clean::parse(text).map_err(|e| {
        Error::usage(format!(
            "{name} declares {SCHEMA} but does not follow it: {e}; write it again with `cyclewise locks --json`"
        ))
    })?;
    let sites = locks.profile.sites.len();
    let remedies = locks.forecast.iter().flat_map(|f| &f.remedies);
    if let Some(site) = remedies.flat_map(|r| &r.sites).find(|site| **site >= sites) {
        return Err(Error::usage(format!(
            "{name}: a remedy names site {site}, and there are {sites}; the file was modified after it was written"
        )));
    }
    Ok(locks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        from_str("l.json", text).unwrap_err().message
    }

    #[test]
    fn a_document_is_read_as_it_was_written() {
        for locks in [made_up::rust(), made_up::cplusplus(), made_up::aarch64()] {
            let text = serde_json::to_string(&locks).unwrap();
            assert_eq!(from_str("l.json", &text).unwrap(), locks);
        }
    }

    #[test]
    fn newer_foreign_and_torn_documents_say_so() {
        let text = serde_json::to_string(&made_up::rust()).unwrap();
        assert!(error(&text.replace("locks/1", "locks/2")).contains("newer cyclewise"));
        assert!(error(&text.replace("cyclewise.locks", "cyclewise.record")).contains("not cyclewise.locks/1"));
        assert!(error(&text[..text.len() / 2]).contains("truncated"));
        assert!(error(r#"{"schema":"cyclewise.locks/1"}"#).contains("does not follow it"));
    }

    #[test]
    fn a_remedy_of_a_site_that_is_not_there_is_refused() {
        let mut locks = made_up::rust();
        locks.forecast.as_mut().unwrap().remedies[0].sites.push(999);
        let text = serde_json::to_string(&locks).unwrap();
        assert!(error(&text).contains("site 999"), "{}", error(&text));
    }

    #[test]
    fn control_characters_become_spaces() {
        let mut locks = made_up::rust();
        locks.profile.sites[0].frames[0].function = "f\u{1b}[31m".to_owned();
        let text = serde_json::to_string(&locks).unwrap();
        let read = from_str("l.json", &text).unwrap();
        assert_eq!(read.profile.sites[0].frames[0].function, "f [31m");
    }

    #[test]
    fn the_status_is_a_shells() {
        let exit = |code, signal| Exit {
            code,
            signal,
            interrupted: false,
        };
        assert_eq!(exit(Some(0), None).status(), 0);
        assert_eq!(exit(Some(77), None).status(), 77);
        assert_eq!(exit(None, Some(9)).status(), 137);
        assert_eq!(
            exit(None, None).status(),
            255,
            "a status that is not known is no success"
        );
    }
}
