//! Which mode is in force, and how many sites are elided.

use super::coordinator;
use super::mode::Mode;
use super::sites::{Prefix, TextReader, sites};

/// What [`state`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The mode in force.
    pub mode: Mode,
    /// Sites in this link unit.
    pub sites: usize,
    /// Sites in this link unit that are elided.
    pub elided: usize,
    /// Other link units whose sites are elided and restored with the program's.
    pub units: usize,
    /// Sites in those.
    pub unit_sites: usize,
    /// Those of them that are elided, by the coordinator's account.
    pub unit_elided: usize,
    /// Link units with a descriptor that were there when the coordinator last looked: at each elision, and when one registers. Its own is
    /// among them. 0 before, and where nobody coordinates.
    pub units_seen: usize,
    /// Those of them in which LOCK stays: of another version, not what they say, with code that was moved, shared or cannot be read, with
    /// a breakpoint, or too many. An object whose note was stripped, or moved out of its segment by a tool such as patchelf, is seen only
    /// where it registers: C's does, if the coordinator is a libcyclewise that exports `cw_unit_register`. Otherwise it keeps LOCK and is
    /// not counted.
    pub units_refused: usize,
}

/// The mode in force, a count of this link unit's sites, and how many there are in other units. Reads every site of this
/// one. Another thread may change all of it at any time.
///
/// In a link unit that the program has adopted, or that another copy of this crate shares which elides, mode and units are the program's. Units count the caller's own then, and not the
/// program's own.
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
    let (mode, [units, unit_sites, unit_elided], [units_seen, units_refused]) = coordinator::shared();
    let mut counted = State {
        mode,
        sites: 0,
        elided: 0,
        units,
        unit_sites,
        unit_elided,
        units_seen,
        units_refused,
    };
    let mut reader = TextReader::new();
    for site in sites() {
        counted.sites += 1;
        counted.elided += usize::from(site.prefix_by(&mut reader) == Prefix::Elided);
    }
    counted
}
