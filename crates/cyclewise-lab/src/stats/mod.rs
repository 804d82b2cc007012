//! Every formula behind a verdict: moments, tests, intervals, the noise floor, and how many runs are enough.
//!
//! Pure functions of finite numbers. If a figure is undefined (too few samples, a value that is not finite, a sum
//! that overflows) the result is `None`; nothing here panics, and every result is finite, because JSON holds nothing
//! else.
//!
//! A verdict needs four tests to agree (see `verdict`): `welch` after `holm`, `mann_whitney`, the bootstrap
//! interval of the ratio, and the noise floor of an A/A control.
//!
//! # References
//! Each file names the paper, book or page its formulas come from. The distributions themselves are `statrs`'s.

mod bootstrap;
mod floor;
mod holm;
mod moments;
mod rank;
mod share;
mod student;
mod ttest;
mod verdict;

#[cfg(test)]
mod tests;

pub(crate) use bootstrap::{ratio_ci, rounds_ratio_ci};
pub(crate) use floor::{noise_floor, split_floor};
pub(crate) use holm::holm;
pub(crate) use moments::half_width;
pub use moments::{Summary, describe};
pub(crate) use rank::mann_whitney;
pub(crate) use share::share_interval;
pub(crate) use ttest::welch;
pub(crate) use verdict::verdict;
