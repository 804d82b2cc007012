//! What a coordinator does for the copies of this crate in other link units, which have no hooks in force.
//!
//! # Invariants
//! 1. The table is only added to, at its end: `size` says how long it is.
//!
//! # Safety
//! The functions take the address of a place for their result.
#![expect(unsafe_code, reason = "functions of another link unit")]

use super::answer::Answer;
use super::coordinator::coordinator;
use super::lifetime::own;
use super::unit::Unit;
use crate::error::Refusal;
use crate::patch::mode::{self, Mode};
use crate::patch::single;

/// The table of a coordinator.
#[repr(C)]
pub(super) struct Operations {
    size: usize,
    reelide: unsafe extern "C" fn(*mut Answer),
    lock: unsafe extern "C" fn(*mut Answer),
    state: unsafe extern "C" fn(*mut Shared),
}

/// What all copies of the crate in a process have in common.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::patch) struct Shared {
    /// 0, 1, 2: as [`Mode`].
    mode: u32,
    /// Other link units, their sites, and how many of those are elided.
    units: usize,
    sites: usize,
    elided: usize,
}

/// This copy's.
pub(super) static OPERATIONS: Operations = Operations {
    size: size_of::<Operations>(),
    reelide: answer_reelide,
    lock: answer_lock,
    state: answer_state,
};

unsafe extern "C" fn answer_reelide(answer: *mut Answer) {
    // SAFETY: the caller's place.
    unsafe { answer.write(single::reelide_here().into()) };
}

unsafe extern "C" fn answer_lock(answer: *mut Answer) {
    // SAFETY: the caller's place.
    unsafe { answer.write(single::lock_here().into()) };
}

unsafe extern "C" fn answer_state(shared: *mut Shared) {
    // SAFETY: the caller's place.
    unsafe { shared.write(Shared::here()) };
}

impl Shared {
    /// This copy's.
    pub(in crate::patch) fn here() -> Self {
        let (units, sites, elided) = super::registry::count();
        let mode = match mode::here() {
            Mode::Locked => 0,
            Mode::Single => 1,
            Mode::Confined => 2,
        };
        Self {
            mode,
            units,
            sites,
            elided,
        }
    }

    pub(in crate::patch) fn mode(&self) -> Mode {
        match self.mode {
            1 => Mode::Single,
            2 => Mode::Confined,
            _ => Mode::Locked,
        }
    }

    /// Other link units, their sites, and how many of those are elided.
    pub(in crate::patch) fn units(&self) -> [usize; 3] {
        [self.units, self.sites, self.elided]
    }
}

/// The operations of the process's coordinator, where that is another copy.
fn of_another() -> Option<&'static Operations> {
    let found = coordinator()?.operations()?;
    let is_long_enough = found.size >= size_of::<Operations>();
    (is_long_enough && !core::ptr::eq(found, &raw const OPERATIONS)).then_some(found)
}

/// [`reelide`](crate::patch::reelide) by the coordinator; `None` where no other copy is one.
pub(in crate::patch) fn reelide_elsewhere() -> Option<Result<(), Refusal>> {
    Some(asked(of_another()?.reelide))
}

/// [`lock`](crate::patch::lock()) by the coordinator; `None` where no other copy is one.
pub(in crate::patch) fn lock_elsewhere() -> Option<Result<(), Refusal>> {
    Some(asked(of_another()?.lock))
}

/// What the coordinator that has adopted this link unit says; `None` where none has. Takes no lock.
pub(in crate::patch) fn state_elsewhere() -> Option<Shared> {
    let operations = own()?.adopted_by().and_then(Unit::operations)?;
    let mut shared = Shared::default();
    // SAFETY: a place for the result.
    unsafe { (operations.state)(&raw mut shared) };
    Some(shared)
}

fn asked(operation: unsafe extern "C" fn(*mut Answer)) -> Result<(), Refusal> {
    let mut answer = Answer::DONE;
    // SAFETY: a place for the result.
    unsafe { operation(&raw mut answer) };
    answer.into()
}
