//! Examines the simulator on published machines that it did not learn from, and says how far a prediction may be off.
//!
//! Published rows of contended operations are in `data/`, with their sources. `split.rs` has the rule that divides them, by CPU model, into
//! a half to learn from and a half to be examined on. `anchor.rs` says where a machine's transfer times come from. [`learn`] chooses the laws
//! of each family of machines on the first half, and holds each of its machines out once. [`run`] predicts the rows of the second half; its report is
//! `crates/cyclewise-sim/EXAMINATION.md`. [`band()`] gives the band of held-out errors to whoever predicts something else.
//!
//! # Limits
//! A band is from few machines, and only as good as they are like the one that is asked about. It is of elapsed time for an operation, and
//! says nothing of tails, fairness or retries.

mod anchor;
mod band;
mod build;
pub mod data;
mod described;
mod group;
pub mod laws;
pub mod learn;
mod markdown;
mod pairs;
mod prediction;
mod report;
mod search;
pub mod split;
#[cfg(test)]
mod tests;

pub use anchor::Transfers;
pub(crate) use anchor::{DISAGREE, scaled_to};
pub use band::{Band, HeldOutRow, MOST_SPREAD, SHARE};
#[cfg(test)]
pub(crate) use build::{ALU_CYCLES, JITTER};
pub(crate) use build::{Costs, Parts, built, counted};
pub(crate) use described::{Described, described, families, isa_of};
pub use group::{Group, Pattern, Reach, WorkloadKind};
pub use pairs::{Pair, Program};
pub use prediction::{band, predict, ratio_off};
pub use report::{ExamRow, Examination, KindResult, Refusal, run};
pub(crate) use search::Scores;
