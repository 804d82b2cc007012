//! What a guest's instructions do, for the record: every case and every row, run once.

use crate::error::Result;
use crate::machine::guest;
use crate::machine::guest::of_provenance;
use crate::record::guest::{Guest, GuestCase, GuestRow, Outcome};
use cyclewise_guest::case::Verdict;
use cyclewise_guest::known;
use cyclewise_guest::machine::Machine;
use cyclewise_guest::payload::{Exits, Mode, Payload, Ring};
use cyclewise_guest::provenance::{Provenance, Virtualization};
use cyclewise_guest::semantics::{Family, Features, check, try_once};

/// Runs the cases and the rows of a family.
pub(super) fn run(
    machine: &mut dyn Machine,
    features: &Features,
    provenance: &Provenance,
    family: Family,
) -> Result<Guest> {
    let kind = provenance.kind;
    let mut cases = Vec::new();
    for case in family.cases() {
        let verdict = check(machine, features, case).map_err(guest::error)?;
        let (result, why) = outcome(kind, case.payload.name, verdict);
        cases.push(GuestCase {
            name: case.payload.name.to_string(),
            claim: case.claim.to_string(),
            result,
            why,
        });
    }
    let mut rows = Vec::new();
    for payload in family.payloads() {
        let verdict = try_once(machine, features, payload).map_err(guest::error)?;
        rows.push(row(payload, kind, outcome(kind, payload.name, verdict)));
    }
    Ok(Guest {
        rows,
        cases,
        ..of_provenance(provenance)
    })
}

fn row(payload: &Payload, kind: Virtualization, (result, why): (Outcome, Option<String>)) -> GuestRow {
    GuestRow {
        name: payload.name.to_string(),
        provenance: kind.as_str().to_string().into(),
        bits: match payload.mode {
            Mode::Long => 64,
            Mode::Protected => 32,
        },
        ring: match payload.ring {
            Ring::Kernel => 0,
            Ring::User => 3,
        },
        code_bytes: payload.code_bytes(),
        exits: match payload.exits {
            Exits::None => "none".to_string(),
            Exits::Each(why) => format!("each copy: {why}"),
            Exits::Maybe(when) => when.to_string(),
        },
        result,
        why,
    }
}

/// The verdict, in the record's words.
fn outcome(kind: Virtualization, name: &str, verdict: Verdict) -> (Outcome, Option<String>) {
    match (verdict, known::why(kind, name)) {
        (Verdict::Holds, _) => (Outcome::Holds, None),
        (Verdict::NotRun(why), _) => (Outcome::NotRun, Some(why)),
        (Verdict::Differs(_), Some(why)) => (Outcome::Known, Some(why.to_string())),
        (Verdict::Differs(why), None) => (Outcome::Differs, Some(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_excused_by_a_known_emulator_alone() {
        let differs = || Verdict::Differs("result 0".to_string());
        assert_eq!(
            outcome(Virtualization::Pvm, "popf-in-ring-3", differs()).0,
            Outcome::Known
        );
        assert_eq!(
            outcome(Virtualization::Svm, "popf-in-ring-3", differs()).0,
            Outcome::Differs
        );
        assert_eq!(outcome(Virtualization::Pvm, "cli-sti", differs()).0, Outcome::Differs);
        assert_eq!(
            outcome(Virtualization::Pvm, "popf-in-ring-3", Verdict::Holds),
            (Outcome::Holds, None)
        );
    }
}
