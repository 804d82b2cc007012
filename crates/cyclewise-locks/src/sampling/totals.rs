//! What the events of a run counted, summed.

use cyclewise_bench::sys::perf_sampling::Total;

/// Sums over all CPUs, threads and children.
///
/// `enabled_ns` of each is the time on its CPUs by the task clock. The kernel's own figure does not do: an event of one CPU is sometimes
/// enabled while its thread runs on another one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Totals {
    /// Retired instructions.
    pub(super) instructions: Total,
    /// For each event, locked instructions by the event that counts them all; none if nothing does.
    pub(super) locked: Vec<Option<Total>>,
    /// Time on CPUs.
    pub(super) on_cpu_ns: u64,
    /// Counts that could not be read.
    pub(super) unread: u32,
}
