//! What a fleet keeps of a doctor's report, and of a verification.

use crate::record::doctor::{Doctor, Status};
use crate::record::verification::{self, Verification};
use serde::{Deserialize, Serialize};

/// A doctor's report of one node, or a verification on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkup {
    /// The file below the folder.
    pub file: String,
    /// The node's name; the file's name if the report does not say it.
    pub node: String,
    /// When the node was examined, RFC 3339.
    pub created: String,
    /// What was verified; empty in a doctor's report.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub verified: String,
    /// Name, status and value of each line. Of a promise the value is what was seen.
    pub lines: Vec<(String, Status, String)>,
}

impl Checkup {
    /// Whether it is a verification, and no doctor's report.
    pub fn is_verification(&self) -> bool {
        !self.verified.is_empty()
    }
}

impl Verification {
    /// What a fleet keeps of the verification in `file`.
    pub fn checkup(&self, file: &str) -> Checkup {
        let line = |c: &verification::Check| {
            let status = match c.holds {
                Some(true) => Status::Holds,
                Some(false) => Status::Broken,
                None => Status::NotShown,
            };
            let value = format!("{} (the promise: {})", c.seen, c.promise);
            (c.name.clone(), status, value)
        };
        Checkup {
            file: file.to_owned(),
            node: self.machine.identity.node.as_deref().unwrap_or(file).to_owned(),
            created: self.created.clone(),
            verified: self.what.clone(),
            lines: self.checks.iter().map(line).collect(),
        }
    }
}

impl Doctor {
    /// What a fleet keeps of the report in `file`.
    pub fn checkup(&self, file: &str) -> Checkup {
        Checkup {
            file: file.to_owned(),
            node: self.machine.identity.node.as_deref().unwrap_or(file).to_owned(),
            created: self.created.clone(),
            verified: String::new(),
            lines: self
                .lines
                .iter()
                .map(|l| (l.name.clone(), l.status.clone(), l.value.clone()))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::doctor;

    #[test]
    fn a_checkup_is_made_of_a_report_and_cannot_control_a_terminal() {
        let text = r#"{"schema":"cyclewise.doctor/1","created":"2026-11-23T18:00:00Z","tool":{"version":"0.1.0","commit":null},
            "machine":{"identity":{"node":"n17"}},"lines":[{"name":"rseq","status":"absent","value":"\u001b[2Jv"}]}"#;
        let report = doctor::from_str("d.json", text).unwrap();
        let checkup = Checkup {
            file: "a/d.json".to_owned(),
            node: "n17".to_owned(),
            created: "2026-11-23T18:00:00Z".to_owned(),
            verified: String::new(),
            lines: vec![("rseq".to_owned(), Status::Absent, " [2Jv".to_owned())],
        };
        assert_eq!(report.checkup("a/d.json"), checkup);
        let unnamed = doctor::from_str("d.json", &text.replace(r#""node":"n17""#, "")).unwrap();
        assert_eq!(unnamed.checkup("d.json").node, "d.json");
    }

    #[test]
    fn a_checkup_of_a_verification_says_what_was_seen_of_each_promise() {
        let text = r#"{"schema":"cyclewise.verify/1","what":"refs","machine":{"identity":{"node":"n17"}},"checks":[
            {"name":"a","promise":"p","seen":"s","tries":1,"events":0,"holds":true},
            {"name":"b","promise":"p","seen":"\u001b[2J","holds":false},{"name":"c","promise":"p","seen":"s","holds":null}]}"#;
        let found = verification::from_str("v.json", text).unwrap().checkup("v.json");
        assert_eq!((&*found.node, &*found.verified), ("n17", "refs"));
        let statuses = found.lines.iter().map(|line| line.1.as_str());
        assert!(statuses.eq(["holds", "broken", "not shown"]));
        assert_eq!(found.lines[1].2, " [2J (the promise: p)");
        assert!(verification::from_str("v.json", &text.replace("verify/1", "verify/2")).is_err());
    }
}
