//! What else is known of a machine that is not like its group, in a few words each.

use super::columns::Fleet;
use super::distance::distance;
use super::row::Row;
use super::words;
use crate::number;
use crate::record::Warning;

/// A share of stolen time below this is not worth a word.
const LEAST_STEAL: f64 = 0.005;

/// Other rows are evidence from this p on: of 200 rows one in fifty machines has one by chance.
const OTHER_P: f64 = 1e-4;

/// The most other rows that are named.
const MOST_ROWS: usize = 3;

/// The longest warning that is quoted, in characters.
const LONGEST: usize = 80;

/// What is known of `machine` besides its value `i` of `row`.
pub(super) fn of_row(machine: usize, row: &Row, i: usize, rows: &[Row], fleet: &Fleet) -> Vec<String> {
    let mut evidence = Vec::new();
    let runs = &row.runs[row.starts[i]..row.starts[i + 1]];
    if row.fits[row.fit_of[i]]
        .run_spread
        .is_some_and(|spread| spread.is_unsteady(runs))
    {
        evidence.push("its runs disagree".to_owned());
    }
    evidence.extend(of_machine(machine, fleet));
    evidence.extend(other_rows(machine, row, rows));
    evidence
}

/// What is known of `machine` besides its values.
pub(super) fn of_machine(machine: usize, fleet: &Fleet) -> Vec<String> {
    let mut evidence = Vec::new();
    if let Some(steal) = fleet.machines[machine].steal.filter(|steal| *steal >= LEAST_STEAL) {
        evidence.push(format!("steal {}", number::percent(steal)));
    }
    evidence.extend(limits(machine, fleet));
    if fleet.known[machine].restarts > 0 {
        evidence.push(format!(
            "requeued {}",
            number::counted(fleet.known[machine].restarts as usize, "time")
        ));
    }
    evidence.extend(warnings(machine, fleet));
    evidence
}

/// The limits of its control group, where those of most of its group are others.
fn limits(machine: usize, fleet: &Fleet) -> Option<String> {
    let own = fleet.known[machine].cgroup.as_ref()?;
    if most(machine, fleet, |other| fleet.known[other].cgroup.as_ref() == Some(own)) {
        return None;
    }
    Some(format!("its control group allows {own}"))
}

/// Warnings of its records that most of its group do not have.
fn warnings(machine: usize, fleet: &Fleet) -> Vec<String> {
    let own = fleet.known[machine].warnings.iter();
    let has = |other: usize, warning: &str| fleet.known[other].warnings.iter().any(|(known, _)| known == warning);
    // Its share is known, and said.
    let is_said = |warning: &Warning| fleet.machines[machine].steal.is_some() && matches!(warning, Warning::Stolen(_));
    let own = own.filter(|(_, warning)| !is_said(warning));
    let rare = own.filter(|(warning, _)| !most(machine, fleet, |other| has(other, warning)));
    rare.map(|(_, warning)| {
        let short: String = warning.chars().take(LONGEST).collect();
        let dots = if short.len() < warning.len() { "…" } else { "" };
        format!("warning “{short}{dots}”")
    })
    .collect()
}

/// Whether more than half of the machines of its group are so.
fn most(machine: usize, fleet: &Fleet, is: impl Fn(usize) -> bool) -> bool {
    let group = fleet.machines[machine].group;
    let members = &fleet.members[group];
    2 * members.iter().filter(|other| is(**other)).count() > members.len()
}

/// Other rows in which it is far from its group, the farthest first.
fn other_rows(machine: usize, own: &Row, rows: &[Row]) -> Option<String> {
    let mut far: Vec<(f64, String)> = Vec::new();
    for row in rows.iter().filter(|row| !std::ptr::eq(*row, own)) {
        let Ok(i) = row
            .spread
            .values
            .binary_search_by_key(&(machine as u32), |value| value.machine)
        else {
            continue;
        };
        let (group, log) = (&row.fits[row.fit_of[i]], row.spread.values[i].value.ln());
        // Rows that are no headline have not kept their runs: the machine counts as usual.
        let Some((sigmas, df)) = distance(group, log, &vec![log; row.spread.values[i].runs as usize], None) else {
            continue;
        };
        if crate::stats::Tail::NORMAL.p(sigmas, df) < OTHER_P {
            let ratio = (log - group.mode(log).median).exp();
            let name = words::row(&row.spread.experiment, &row.spread.variant);
            let sense = words::sense(row.spread.unit, ratio);
            far.push((sigmas.abs(), format!("{name} {} times{sense}", words::times(ratio))));
        }
    }
    far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let more = far.len().saturating_sub(MOST_ROWS);
    let named: Vec<String> = far.into_iter().take(MOST_ROWS).map(|(_, text)| text).collect();
    let more = if more > 0 {
        format!(" and {more} more rows")
    } else {
        String::new()
    };
    (!named.is_empty()).then(|| format!("also {}{more}", named.join(", ")))
}
