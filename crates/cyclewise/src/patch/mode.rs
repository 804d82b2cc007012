//! Which mode is in force, and how many sites are elided.

use super::sites::{Prefix, sites};

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

/// What [`state`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The mode in force.
    pub mode: Mode,
    /// Sites in this link unit.
    pub sites: usize,
    /// Sites that are elided.
    pub elided: usize,
}

/// The mode in force and a count of this link unit's sites. Reads every site. Another thread may change both at any
/// time.
///
/// # Examples
/// ```
/// use cyclewise::patch::{Mode, state};
///
/// let state = state();
/// assert_eq!(state.mode, Mode::Locked);
/// println!("{} of {} sites are elided", state.elided, state.sites);
/// ```
#[must_use]
pub fn state() -> State {
    let mut counted = State {
        mode: mode(),
        sites: 0,
        elided: 0,
    };
    for site in sites() {
        counted.sites += 1;
        counted.elided += usize::from(site.prefix() == Prefix::Elided);
    }
    counted
}

#[cfg(all(feature = "std", target_env = "gnu"))]
fn mode() -> Mode {
    use super::mode_lock::{self, CONFINED, SINGLE};
    match mode_lock::mode() {
        SINGLE => Mode::Single,
        CONFINED => Mode::Confined,
        _ => Mode::Locked,
    }
}

#[cfg(not(all(feature = "std", target_env = "gnu")))]
fn mode() -> Mode {
    Mode::Locked
}
