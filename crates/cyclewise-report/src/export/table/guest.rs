//! A guest of ring 0: who ran it, by which evidence, its rows and the claims that were checked.

use super::aligned::Table;
use super::grid::{Look, green, red, wrapped};
use crate::record::Experiment;
use crate::record::guest::{Guest, Outcome, Says};
use std::fmt::Write;

/// The guest of `e`; `None` if it has none.
pub(super) fn guest(e: &Experiment, look: Look) -> Option<String> {
    let guest = e.guest()?;
    let mut out = String::new();
    for line in witnesses(guest, look) {
        let _ = writeln!(out, "{}", wrapped(&line, look, 0, 2));
    }
    // With costs, the rows stand in their own table.
    if look.wide || !guest.hardware {
        let _ = writeln!(out, "{}", rows(guest).fit(look.most(look.columns)));
    }
    let listed = shown(guest, look.wide).count();
    if listed > 0 {
        let _ = writeln!(out, "{}", cases(guest, look.wide).fit(look.most(look.columns)));
    }
    if listed < guest.cases.len() {
        let left = guest.cases.len() - listed;
        let _ = writeln!(out, "cases that hold: {left}; --wide lists them");
    }
    Some(out)
}

/// The verdict, and what it rests on: all of it in the wide form, elsewhere what speaks.
fn witnesses(guest: &Guest, look: Look) -> Vec<String> {
    let mut lines = vec![format!("the guest is {}", guest.run_by())];
    let spoken = guest.witnesses.iter().filter(|w| look.wide || w.says != Says::Nothing);
    lines.extend(spoken.map(|w| format!("{}: {} ({})", w.name, w.found, w.says)));
    lines
}

fn rows(guest: &Guest) -> Table {
    let rows = guest.rows.iter().map(|r| {
        vec![
            r.name.clone(),
            r.code_bytes.to_string(),
            format!("{} bits, ring {}", r.bits, r.ring),
            format!("{}, {}", guest.run_by(), ran(r.result)),
            r.why.clone().unwrap_or_else(|| r.exits.clone()),
        ]
    });
    Table::new(&["row", "bytes", "mode", "run by", "exits, or why not"], rows, 5)
}

/// Whether a row ran: no cost stands beside it.
fn ran(result: Outcome) -> &'static str {
    match result {
        Outcome::Holds => "runs",
        other => other.as_str(),
    }
}

/// The cases that someone has to know of, or all.
fn shown(guest: &Guest, all: bool) -> impl Iterator<Item = &crate::record::guest::GuestCase> {
    guest
        .cases
        .iter()
        .filter(move |c| all || c.result != Outcome::Holds || guest.rows.is_empty() || !guest.hardware)
}

fn cases(guest: &Guest, all: bool) -> Table {
    let rows = shown(guest, all).map(|c| {
        let style = match c.result {
            Outcome::Holds => green(),
            Outcome::Differs => red(),
            Outcome::Known | Outcome::NotRun => anstyle::Style::new(),
        };
        let word = c.result.as_str();
        let why = c.why.as_ref().map_or(String::new(), |why| format!(" ({why})"));
        vec![
            c.name.clone(),
            format!("{style}{word}{style:#}"),
            format!("{}{why}", c.claim),
        ]
    });
    Table::new(&["case", "result", "claim"], rows, 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Body;
    use crate::record::guest::{GuestCase, GuestRow, Witness};
    use crate::record::made_up::experiment_with;

    fn experiment(provenance: &str, hardware: bool) -> Experiment {
        let case = |name: &str, result, why: Option<&str>| GuestCase {
            name: name.into(),
            claim: format!("What {name} claims"),
            result,
            why: why.map(str::to_string),
        };
        let row = |name: &str, result, why: Option<&str>| GuestRow {
            name: name.into(),
            provenance: provenance.to_owned().into(),
            bits: 64,
            ring: 0,
            code_bytes: 3,
            exits: "none".into(),
            result,
            why: why.map(str::to_string),
        };
        let witness = |name: &str, found: &str, says: &str| Witness {
            name: name.into(),
            found: found.into(),
            says: says.to_owned().into(),
        };
        experiment_with(
            "popf-ring0",
            Body::Guest(Guest {
                provenance: provenance.to_owned().into(),
                hardware,
                witnesses: vec![
                    witness("modules", "kvm_pvm", if hardware { "hardware" } else { "emulated" }),
                    witness("guest CS", "0x8, privilege 0", "nothing"),
                ],
                rows: vec![
                    row("popf-clear", Outcome::Holds, None),
                    row("int-iret", Outcome::NotRun, Some("the emulator does not know INT")),
                ],
                cases: vec![
                    case("cli-sti", Outcome::Holds, None),
                    case("popf-in-ring-3", Outcome::Known, Some("ring 3 sees the host's IF")),
                    case("save-cli-popf", Outcome::Differs, Some("result 0 is 1")),
                ],
            }),
        )
    }

    fn plain(e: &Experiment, wide: bool) -> String {
        anstream::adapter::strip_str(&guest(e, Look::new(Some(120), wide)).unwrap()).to_string()
    }

    #[test]
    fn an_emulated_guest_as_people_read_it() {
        insta::assert_snapshot!(plain(&experiment("pvm", false), false));
    }

    #[test]
    fn a_guest_of_hardware_has_its_rows_in_the_table_of_costs() {
        let narrow = plain(&experiment("svm", true), false);
        assert!(narrow.starts_with("the guest is hardware (SVM)"), "{narrow}");
        assert_says!(narrow, "cases that hold: 1;");
        assert_lacks!(narrow, "popf-clear");
        let wide = plain(&experiment("svm", true), true);
        assert_says!(wide, "popf-clear", "cli-sti", "privilege 0");
        assert_eq!(guest(&Experiment::default(), Look::new(None, false)), None);
    }
}
