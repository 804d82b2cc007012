//! The modes.

/// Why sites may be elided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They are not: LOCK is in force everywhere.
    Locked,
    /// No other thread of the process can run.
    Single,
    /// All threads of the process are confined to one CPU.
    Confined,
}
