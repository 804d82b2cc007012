//! What a guest of ring 0 said: who ran its instructions, and what they did.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// Who ran its instructions.
    pub provenance: Provenance,
    /// Whether that was a CPU, so that ticks are costs. Elsewhere the experiment has no variants.
    pub hardware: bool,
    pub witnesses: Vec<Witness>,
    pub rows: Vec<GuestRow>,
    pub cases: Vec<GuestCase>,
}

words! {
    /// Who ran a guest's instructions.
    Provenance {
        /// An Intel CPU, by VMX.
        Vmx = "vmx",
        /// An AMD CPU, by SVM.
        Svm = "svm",
        /// A CPU in guest mode.
        Nested = "nested",
        /// An emulator in the hypervisor PVM.
        Pvm = "pvm",
        /// Another emulator.
        Emulated = "emulated",
        /// Nobody can tell.
        Unknown = "unknown",
    }
}

words! {
    /// What a piece of evidence says about who ran a guest.
    Says {
        /// A CPU.
        Hardware = "hardware",
        /// A CPU in guest mode.
        Nested = "nested",
        /// No CPU.
        Emulated = "emulated",
        /// Neither.
        Nothing = "nothing",
    }
}

/// One piece of evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    pub name: String,
    pub found: String,
    pub says: Says,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestRow {
    /// The name, which its variant has too where there is one.
    pub name: String,
    pub provenance: Provenance,
    /// Bits of the mode: 64 or 32.
    pub bits: u32,
    /// The privilege that it ran with: 0 or 3.
    pub ring: u32,
    /// Bytes of its code.
    pub code_bytes: u32,
    /// Which exits the host's hypervisor takes for it, by the published settings of VMCS and VMCB.
    pub exits: String,
    /// Whether it ran to its end.
    pub result: Outcome,
    /// Why not, or which known limit of the emulator it met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A claim about what instructions do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestCase {
    pub name: String,
    pub claim: String,
    pub result: Outcome,
    /// Why not, or which known limit of the emulator it met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Holds,
    /// It does not, and nothing known explains that.
    Differs,
    /// It does not, as is known of this emulator.
    Known,
    /// The CPU or the hypervisor did not run it.
    #[default]
    NotRun,
}

impl Outcome {
    /// The word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Differs => "DIFFERS",
            Self::Known => "known to differ",
            Self::NotRun => "not run",
        }
    }
}

impl Guest {
    /// Who ran it, in words.
    pub fn run_by(&self) -> &'static str {
        match &self.provenance {
            Provenance::Vmx => "hardware (VMX)",
            Provenance::Svm => "hardware (SVM)",
            Provenance::Nested => "hardware, nested",
            Provenance::Pvm => "emulated (PVM)",
            Provenance::Emulated => "emulated",
            Provenance::Unknown | Provenance::Other(_) => "unknown",
        }
    }

    /// The witnesses that speak against hardware, in one clause; empty where none does.
    pub fn evidence(&self) -> String {
        let against = self.witnesses.iter().filter(|w| w.says == Says::Emulated);
        let said: Vec<String> = against.map(|w| format!("{}: {}", w.name, w.found)).collect();
        said.join("; ")
    }

    /// How many rows and cases ended so.
    pub fn count(&self, outcome: Outcome) -> usize {
        let rows = self.rows.iter().map(|r| r.result);
        rows.chain(self.cases.iter().map(|c| c.result))
            .filter(|o| *o == outcome)
            .count()
    }

    /// What was checked, in one line.
    pub fn summary(&self) -> String {
        let words = [
            (Outcome::Holds, "hold"),
            (Outcome::Differs, "DIFFER"),
            (Outcome::Known, "are known to differ"),
            (Outcome::NotRun, "were not run"),
        ];
        let counts = words.map(|(outcome, word)| (self.count(outcome), word));
        let said: Vec<String> = counts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, word)| format!("{n} {word}"))
            .collect();
        let all = self.rows.len() + self.cases.len();
        let costs = if self.hardware {
            ""
        } else {
            "; no costs, which are none of a CPU's"
        };
        format!("{}; of {all} rows and cases {}{costs}", self.run_by(), said.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guest(provenance: Provenance, hardware: bool) -> Guest {
        let case = |result| GuestCase {
            result,
            ..GuestCase::default()
        };
        Guest {
            provenance,
            hardware,
            witnesses: vec![Witness {
                name: "modules".into(),
                found: "kvm_pvm".into(),
                says: if hardware { Says::Hardware } else { Says::Emulated },
            }],
            cases: vec![case(Outcome::Holds), case(Outcome::Holds), case(Outcome::Differs)],
            ..Guest::default()
        }
    }

    #[test]
    fn the_line_says_who_ran_it_and_what_was_found() {
        assert_eq!(
            guest(Provenance::Pvm, false).summary(),
            "emulated (PVM); of 3 rows and cases 2 hold, 1 DIFFER; no costs, which are none of a CPU's"
        );
        assert_lacks!(guest(Provenance::Svm, true).summary(), "no costs");
        assert_eq!(guest(Provenance::Pvm, false).evidence(), "modules: kvm_pvm");
        assert_eq!(guest(Provenance::Svm, true).evidence(), "");
    }

    #[test]
    fn it_reads_as_it_was_written() {
        let text = serde_json::to_string(&guest(Provenance::Pvm, false)).unwrap();
        assert_says!(text, r#""result":"holds""#);
        assert_eq!(
            serde_json::from_str::<Guest>(&text).unwrap(),
            guest(Provenance::Pvm, false)
        );
        assert_eq!(serde_json::to_string(&Outcome::NotRun).unwrap(), r#""not-run""#);
    }
}
