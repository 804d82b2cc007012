//! A guest of ring 0 on the page: the evidence of who ran it, its rows, and the claims that were checked.

use super::table::{Table, number, words};
use crate::record::Experiment;
use crate::record::guest::Outcome;

/// The tables of the guest of `e`; none if it has none.
pub(super) fn tables(e: &Experiment) -> Vec<Table> {
    let Some(guest) = e.guest() else { return Vec::new() };
    let mut witnesses = Table::new(format!("Who ran the guest: {}", guest.run_by()));
    witnesses.words("Witness");
    witnesses.words("Found");
    witnesses.words("Says");
    for w in &guest.witnesses {
        witnesses
            .rows
            .push(vec![words(&w.name), words(&w.found), words(w.says.as_str())]);
    }
    let mut rows = Table::new("Rows of the guest, each run once");
    rows.words("Row");
    rows.numbers("Code", "bytes");
    rows.words("Mode");
    rows.words("Run by");
    rows.words("Runs");
    rows.words("Exits");
    for r in &guest.rows {
        rows.rows.push(vec![
            words(&r.name),
            number(r.code_bytes.to_string()),
            words(format!("{} bits, ring {}", r.bits, r.ring)),
            words(guest.run_by()),
            words(ran(r.result)).with_detail(r.why.clone().unwrap_or_default()),
            words(&r.exits),
        ]);
    }
    let mut cases = Table::new("What the instructions do");
    cases.words("Case");
    cases.words("Result");
    cases.words("Claim");
    for c in &guest.cases {
        cases.rows.push(vec![
            words(&c.name),
            words(c.result.as_str()).with_detail(c.why.clone().unwrap_or_default()),
            words(&c.claim),
        ]);
    }
    vec![witnesses, rows, cases]
}

/// Whether a row ran: it claims nothing that could hold.
fn ran(result: Outcome) -> &'static str {
    match result {
        Outcome::Holds => "yes",
        other => other.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::guest::GuestCase;
    use crate::record::made_up::experiment_with;
    use crate::record::{Body, Guest};

    #[test]
    fn a_claim_has_its_result_and_its_reason() {
        let e = experiment_with(
            "",
            Body::Guest(Guest {
                provenance: crate::record::guest::Provenance::Pvm,
                cases: vec![GuestCase {
                    name: "cli-sti".into(),
                    result: Outcome::Differs,
                    why: Some("result 0 is 1".into()),
                    ..GuestCase::default()
                }],
                ..Guest::default()
            }),
        );
        let [witnesses, _, cases] = &tables(&e)[..] else {
            panic!("three tables")
        };
        assert_says!(witnesses.caption, "emulated (PVM)");
        assert_eq!(
            (cases.rows[0][1].text.as_str(), cases.rows[0][1].detail.as_str()),
            ("DIFFERS", "result 0 is 1")
        );
        assert_eq!(tables(&Experiment::default()).len(), 0);
    }
}
