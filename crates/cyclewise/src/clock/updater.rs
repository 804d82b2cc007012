//! What the updates of a clock keep between two of them.

use super::discipline::Discipline;

/// The state of the updates, under the clock's lock.
pub(super) struct Updater {
    pub(super) discipline: Discipline,
    /// When the next examination is due.
    pub(super) examine_ns: Option<u64>,
    /// Whether an examination has found the counter trustworthy.
    pub(super) is_trusted: bool,
    pub(super) disruptions: Option<u64>,
    /// Faults of the counter, without suspends and disruptions.
    pub(super) faults: u32,
}

impl Updater {
    pub(super) const fn new() -> Self {
        Self {
            discipline: Discipline::new(),
            examine_ns: None,
            is_trusted: false,
            disruptions: None,
            faults: 0,
        }
    }
}
