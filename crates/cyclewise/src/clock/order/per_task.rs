//! An order of which the last time is kept per thread.

use super::{Order, sealed};
use crate::clock::Source;

/// The bare counter: times of one thread never go back, on whichever CPUs it runs; those of two threads may be off by
/// what the CPU reorders, tens of nanoseconds.
///
/// The guarantee does not depend on the CPU: the last time is kept per thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PerTask;

impl sealed::Sealed for PerTask {}

impl Order for PerTask {
    #[inline(always)]
    fn ticks<S: Source>(source: &S) -> u64 {
        source.bare()
    }

    #[inline(always)]
    fn apply_floor<S: Source>(source: &S, ns: u64) -> u64 {
        source.raise_floor(ns)
    }
}
