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

mod between;
mod bootstrap;
mod components;
mod decision;
mod dependence;
mod discovery;
mod floor;
mod holm;
mod linearity;
mod median;
mod minor;
mod moderated;
mod modes;
mod moments;
mod paired;
mod rank;
mod robust;
mod run_spread;
mod share;
mod simplex;
mod states;
mod student;
mod tails;
mod ttest;
mod verdict;
mod yuen;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::random::Source;

pub(crate) use between::{RunRatio, between_runs, block_range, ratio_between_runs};
pub(crate) use bootstrap::rounds_ratio_ci;
pub(crate) use components::{Machines, components};
pub(crate) use decision::{Decision, ENOUGH, LARGEST_MARGIN, SAME_MARGIN, decide, is_negligible};
pub(crate) use discovery::discovery_rates;
pub(crate) use floor::{noise_floor, split_floor};
pub(crate) use holm::holm;
pub(crate) use linearity::linearity;
pub(crate) use median::middle;
pub(crate) use median::{Median, order_interval};
pub(crate) use minor::minor_cut;
pub(crate) use moderated::Prior;
pub(crate) use modes::modes;
pub(crate) use modes::{LEAST_SHARE, cuts};
#[cfg(test)]
pub(crate) use moments::half_width;
pub use moments::{Summary, describe};
pub(crate) use paired::{PairedFloor, paired, paired_floor, split_paired_floor};
pub(crate) use rank::mann_whitney;
pub(crate) use robust::Robust;
pub(crate) use run_spread::RunSpread;
pub(crate) use share::share_interval;
pub(crate) use states::{median, probe_cut, state_of};
pub(crate) use tails::{FAR, NEAR, Tail, normal_score};
pub(crate) use ttest::welch;
pub(crate) use verdict::{ALPHA, verdict};
pub(crate) use yuen::{Apart, FEWEST as FEWEST_COMPARED, Trimmed};
