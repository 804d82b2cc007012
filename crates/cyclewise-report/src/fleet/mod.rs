//! Many machines: groups them by what they are, and finds those that are not like their group.
//!
//! `columns` gives the figures of records to their machines; `group` finds machines that are alike; `row` describes each column in each
//! group; `outliers` names the machines that are not like theirs, with their `evidence`, also where their rows say it only `together`; `differences`
//! compares the groups;
//! `features` joins doctors' reports, `promises` verifications; `analyse` makes a report of all.

mod analyse;
mod columns;
mod differences;
mod distance;
mod evidence;
mod features;
pub mod figures;
mod group;
mod headline;
#[cfg(any(test, feature = "testing"))]
pub mod made_up;
mod outliers;
mod promises;
mod row;
mod together;
mod words;

pub use analyse::{Settings, analyse, measured};
pub use headline::HEADLINES;
