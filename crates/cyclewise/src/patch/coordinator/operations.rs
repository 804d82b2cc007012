//! What a coordinator does for the copies of this crate in other link units, which have no hooks in force.
//!
//! # Safety
//! The functions take the address of a place for their result.
#![expect(unsafe_code, reason = "functions of another link unit")]

use super::adopting::{self, coordinator};
use crate::error::Refusal;
use crate::patch::mode::Mode;
use crate::patch::mode_lock;
use crate::patch::unit::hosted::answer::Answer;
use crate::patch::unit::hosted::table::{Operations, Shared};
use crate::patch::unit::hosted::{adoption, registry};
use crate::patch::unit::own;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};

/// This copy's table, once it coordinates.
static OWN: AtomicPtr<Operations> = AtomicPtr::new(core::ptr::null_mut());

fn is_own(operations: &Operations) -> bool {
    // Acquire: pairs with the Release in `coordinate`.
    core::ptr::eq(operations, OWN.load(Acquire))
}

/// Lets other units find this copy, whose hooks are in force, unless it may be unloaded.
pub(in crate::patch) fn coordinate(operations: &'static Operations) {
    // Release: pairs with the Acquire in `is_own`.
    OWN.store(core::ptr::from_ref(operations).cast_mut(), Release);
    adopting::coordinate(operations);
}

/// [`Shared::here`], for others.
///
/// # Safety
/// A place for the result.
pub(in crate::patch) unsafe extern "C" fn answer_state(shared: *mut Shared) {
    // SAFETY: the caller's place.
    unsafe { shared.write(Shared::here()) };
}

/// [`seen_here`], for others.
///
/// # Safety
/// A place for the result.
pub(in crate::patch) unsafe extern "C" fn answer_seen(counts: *mut [usize; 2]) {
    // SAFETY: the caller's place.
    unsafe { counts.write(seen_here()) };
}

/// How many link units this copy has seen, and in how many of them LOCK stays.
pub(in crate::patch) fn seen_here() -> [usize; 2] {
    let [seen, refused] = adoption::seen();
    [seen, refused + registry::given_up()]
}

impl Shared {
    /// This copy's.
    pub(in crate::patch) fn here() -> Self {
        let (units, sites, elided) = registry::count();
        let mode = match mode_lock::here() {
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
    (is_long_enough && !is_own(found)).then_some(found)
}

/// [`reelide`](crate::patch::reelide) by the coordinator; `None` where no other copy is one.
pub(in crate::patch) fn reelide_elsewhere() -> Option<Result<(), Refusal>> {
    Some(asked(of_another()?.reelide))
}

/// [`lock`](crate::patch::lock()) by the coordinator; `None` where no other copy is one.
pub(in crate::patch) fn lock_elsewhere() -> Option<Result<(), Refusal>> {
    Some(asked(of_another()?.lock))
}

/// What the coordinator that has adopted this link unit says, or that is another copy in it; `None` where none is. Takes no lock.
pub(in crate::patch) fn state_elsewhere() -> Option<(Shared, [usize; 2])> {
    let own = own()?;
    let operations = own.adopted_by().unwrap_or(own).operations()?;
    if operations.size < size_of::<Operations>() || is_own(operations) {
        return None;
    }
    let (mut shared, mut seen) = (Shared::default(), [0; 2]);
    // SAFETY: a place for the result.
    unsafe { (operations.state)(&raw mut shared) };
    // SAFETY: a place for the result.
    unsafe { (operations.seen)(&raw mut seen) };
    Some((shared, seen))
}

fn asked(operation: unsafe extern "C" fn(*mut Answer)) -> Result<(), Refusal> {
    let mut answer = Answer::DONE;
    // SAFETY: a place for the result.
    unsafe { operation(&raw mut answer) };
    answer.into()
}

/// The mode in force, the units and their sites, and how many were seen and refused.
pub(in crate::patch) fn shared() -> (Mode, [usize; 3], [usize; 2]) {
    let (shared, seen) = state_elsewhere().unwrap_or_else(|| (Shared::here(), seen_here()));
    (shared.mode(), shared.units(), seen)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::patch::unit::Unit;
    use crate::sys::for_tests::fork;
    use core::time::Duration;

    unsafe extern "C" fn confined(shared: *mut Shared) {
        let [units, sites, elided] = [2, 30, 30];
        let mode = 2;
        // SAFETY: the caller's place.
        unsafe {
            shared.write(Shared {
                mode,
                units,
                sites,
                elided,
            })
        };
    }

    unsafe extern "C" fn asks_nothing(_: *mut Answer) {}

    /// The table of a coordinator that is another copy in this link unit: its sites are this copy's, too.
    static ANOTHERS: Operations = Operations {
        size: size_of::<Operations>(),
        reelide: asks_nothing,
        lock: asks_nothing,
        state: confined,
        seen: answer_seen,
    };

    extern "C" fn adopts_nothing(_: *const Unit) -> core::ffi::c_int {
        0
    }

    #[test]
    fn a_second_copy_in_a_link_unit_says_what_the_first_does() {
        let look = || {
            own().unwrap().coordinate(adopts_nothing, &ANOTHERS);
            let state = crate::patch::state();
            assert_eq!((state.mode, state.units, state.unit_sites), (Mode::Confined, 2, 30));
        };
        // SAFETY: the child allocates only where it panics.
        assert_eq!(unsafe { fork::child(look, Duration::from_secs(600)) }, 0);
    }

    /// A copy that coordinates asks itself.
    #[test]
    fn twin_a_copy_that_does_not_ask_says_its_own() {
        let look = || {
            OWN.store((&raw const ANOTHERS).cast_mut(), Release);
            own().unwrap().coordinate(adopts_nothing, &ANOTHERS);
            assert_eq!(crate::patch::state().mode, Mode::Locked);
        };
        // SAFETY: the child allocates only where it panics.
        assert_eq!(unsafe { fork::child(look, Duration::from_secs(600)) }, 0);
    }
}
