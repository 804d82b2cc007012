//! The rows of a group that can be sampled, and how.

use super::row::{self, Calibrated, Row, Way};
use super::{Place, Suite};
use crate::error::{Error, Result};
use crate::runner::turns::Turns;

/// A row that is measured, and what is known of it beside its samples.
pub(super) struct Known {
    pub(super) name: String,
    pub(super) member: String,
    pub(super) parameter: Option<usize>,
    pub(super) allocated: Option<[f64; 2]>,
}

/// A row that can be sampled.
pub(super) type Ready<'b> = (Known, Calibrated<'b>);

/// The rows that can be sampled, as all processes of the run sample them; of two programs, those that both have.
pub(super) fn ready<'b>(
    suite: &Suite,
    place: &Place,
    turns: Option<&Turns>,
    group: &str,
    rows: Vec<Row<'b>>,
) -> Result<Vec<Ready<'b>>> {
    let calibrate = || calibrated(suite, place, group, rows);
    let mut ready = match turns {
        Some(turns) => turns.in_turn(0, calibrate)?,
        None => calibrate(),
    };
    let mut ways: Vec<Way> = ready.iter().map(|(_, row)| row.way).collect();
    row::align(&mut ways);
    // All processes of a run measure alike, whatever the first calls of each took.
    for ((known, row), way) in ready.iter_mut().zip(ways) {
        (row.way, row.long) = suite.shared.first(&format!("{group}/{}", known.name), (way, row.long));
    }
    match turns {
        Some(turns) => agree(turns, group, ready),
        None => Ok(ready),
    }
}

/// The rows whose first calls return; the others are told, and entered as missing.
fn calibrated<'b>(suite: &Suite, place: &Place, group: &str, rows: Vec<Row<'b>>) -> Vec<Ready<'b>> {
    let mut ready = Vec::new();
    for row in rows {
        let full_name = format!("{group}/{}", row.name);
        match row::calibrate(row.work, &full_name, &suite.bench, place.tsc_hz) {
            Ok(calibrated) => {
                let known = Known {
                    name: row.name,
                    member: row.member,
                    parameter: row.parameter,
                    allocated: calibrated.allocated,
                };
                ready.push((known, calibrated));
            }
            Err(why) => {
                suite.shared.miss(group, Some(&row.name), &why);
                suite.fail(Error::check(format!("{full_name}: {why}")));
            }
        }
    }
    ready
}

/// Leaves the rows that both programs have ready, in the order of the first, which decides how they are sampled.
fn agree<'b>(turns: &Turns, group: &str, ready: Vec<Ready<'b>>) -> Result<Vec<Ready<'b>>> {
    let own = ready
        .iter()
        .map(|(known, row)| (known.name.clone(), (row.way, row.long)));
    let own: Vec<(String, (Way, bool))> = own.collect();
    let (of, other) = turns.exchange(&(group.to_string(), own.clone()))?;
    if of != group {
        return Err(Error::check(format!(
            "the other program has the group {of} in its place"
        )));
    }
    let decided = if turns.is_first() { &own } else { &other };
    let both = |name: &str| own.iter().chain(&other).filter(|(row, _)| row == name).count() == 2;
    let mut kept = Vec::new();
    for (known, mut row) in ready {
        let first = decided.iter().find(|(name, _)| *name == known.name && both(name));
        let alike = |way: Way| (way == Way::Crowd) == (row.way == Way::Crowd);
        if let Some((_, (way, long))) = first.filter(|(_, (way, _))| alike(*way)) {
            (row.way, row.long) = (*way, *long);
            kept.push((known, row));
        }
    }
    Ok(kept)
}
