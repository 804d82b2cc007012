//! Every formula behind a verdict: moments, tests, intervals, the noise floor, and how many runs are enough.
//!
//! Pure functions of finite numbers. If a figure is undefined (too few samples, a value that is not finite, a sum
//! that overflows) the result is `None`; nothing here panics, and every result is finite, because JSON holds nothing
//! else.
//!
//! A verdict rests on paired rounds (`decision`): the median difference and its interval (`median`, `paired`), which knows
//! how the rounds depend on each other (`dependence`), in the state of the neighbour that a probe shows (`states`), and only
//! where the row's cost is constant (`linearity`). Under `--test welch` four tests have to agree (`verdict`): `welch` after
//! `holm`, `mann_whitney`, the bootstrap interval of the ratio, and the noise floor of an A/A control.
//!
//! # References
//! Each file names the paper, book or page its formulas come from. The distributions themselves are `statrs`'s.

#![forbid(unsafe_code)]

#[macro_use]
mod words;

mod at_lengths;
mod between;
mod bootstrap;
#[cfg(feature = "commands")]
mod components;
mod decision;
mod dependence;
#[cfg(feature = "commands")]
mod discovery;
mod floor;
mod holm;
#[cfg(feature = "commands")]
pub mod levels;
mod linearity;
mod median;
#[cfg(feature = "commands")]
mod minor;
#[cfg(feature = "commands")]
mod moderated;
mod modes;
mod moments;
mod paired;
mod power_law;
mod rank;
mod ratio;
mod reason;
#[cfg(feature = "commands")]
mod robust;
#[cfg(feature = "commands")]
mod run_spread;
#[cfg(feature = "commands")]
mod share;
#[cfg(feature = "commands")]
mod simplex;
mod states;
mod student;
#[cfg(feature = "commands")]
mod tails;
#[cfg(feature = "commands")]
mod together;
mod ttest;
mod verdict;
#[cfg(feature = "commands")]
mod yuen;

#[cfg(any(test, feature = "testing"))]
pub mod random;
#[cfg(test)]
mod tests;

pub use at_lengths::{PairAt, decide_at_lengths, lengths_in_words};
pub use between::{BLOCKED, BetweenRuns, RunRatio, between_runs, block_range, ratio_between_runs};
pub use bootstrap::rounds_ratio_ci;
#[cfg(feature = "commands")]
pub use components::{Component, Components, Machines, components};
pub use decision::{Decision, ENOUGH, LARGEST_MARGIN, SAME_MARGIN, Test, decide, is_negligible, reaches_negligible};
#[cfg(feature = "commands")]
pub use discovery::discovery_rates;
pub use floor::{noise_floor, split_floor};
pub use holm::holm;
pub use linearity::{Linearity, linearity};
pub use median::{FEWEST_IN_MEDIAN, Median, middle, order_interval};
#[cfg(feature = "commands")]
pub use minor::minor_mode;
#[cfg(feature = "commands")]
pub use moderated::Prior;
pub use modes::{LEAST_SHARE, Mode, cuts, modes};
pub use moments::{Summary, describe, half_width};
pub use paired::{Paired, PairedFloor, paired, paired_floor, split_paired_floor};
pub use power_law::{FEWEST_SIZES, PowerLaw, power_law};
pub use rank::{least_rank_p, mann_whitney};
pub use ratio::{difference, excludes_one, within};
pub use reason::Reason;
#[cfg(feature = "commands")]
pub use robust::Robust;
#[cfg(feature = "commands")]
pub use run_spread::RunSpread;
#[cfg(feature = "commands")]
pub use share::share_interval;
pub use states::{State, median, probe_cut, state_of};
#[cfg(feature = "commands")]
pub use tails::{FAR, NEAR, Tail, normal_score};
#[cfg(feature = "commands")]
pub use together::{beyond_usual, correlation, together};
pub use ttest::welch;
pub use verdict::{ALPHA, Verdict, verdict};
#[cfg(feature = "commands")]
pub use yuen::{Apart, FEWEST as FEWEST_COMPARED, Trimmed};

/// An interval whose bounds may be unknown, which is `null` in the JSON.
pub type Interval = [Option<f64>; 2];
