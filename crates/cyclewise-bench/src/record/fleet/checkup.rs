//! What a fleet keeps of a doctor's report.

use crate::record::doctor::Doctor;
use serde::{Deserialize, Serialize};

/// A doctor's report of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkup {
    /// The file below the folder.
    pub file: String,
    /// The node's name; the file's name if the report does not say it.
    pub node: String,
    /// When the node was examined, RFC 3339.
    pub created: String,
    /// Name, status and value of each line.
    pub lines: Vec<(String, String, String)>,
}

impl Doctor {
    /// What a fleet keeps of the report in `file`; control characters become spaces.
    pub fn checkup(&self, file: &str) -> Checkup {
        let clean = |text: &str| text.replace(crate::error::is_control, " ");
        Checkup {
            file: file.to_owned(),
            node: clean(self.machine.identity.node.as_deref().unwrap_or(file)),
            created: clean(&self.created),
            lines: self
                .lines
                .iter()
                .map(|l| (clean(&l.name), clean(&l.status), clean(&l.value)))
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
            lines: vec![["rseq", "absent", " [2Jv"].map(str::to_owned).into()],
        };
        assert_eq!(report.checkup("a/d.json"), checkup);
        let unnamed = doctor::from_str("d.json", &text.replace(r#""node":"n17""#, "")).unwrap();
        assert_eq!(unnamed.checkup("d.json").node, "d.json");
    }
}
