//! The life of a link unit, in its descriptor.
//!
//! # States
//! [`NONE`] → [`LIVE`], by the unit's constructor → [`ADOPTED`], by the coordinator → `NONE`, by the unit's destructor. The dynamic
//! linker lists an object before it has relocated it, unmaps it without calling destructors where that fails, and lists it until
//! after its destructors. So only a live unit is adopted.
//!
//! # Memory ordering
//! `state` is sequentially consistent. What the coordinator writes before it changes the state to `ADOPTED` is visible to the
//! destructor that finds it.
//!
//! # Safety
//! 1. `forget`, `cookie`, `adopt` and `operations` are null, or functions and data of their types in the coordinator, which is never
//!    unloaded.
#![expect(unsafe_code, reason = "functions and data of other link units, by their address")]

use super::table::Operations;
use crate::patch::unit::Unit;
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{Acquire, Release, SeqCst};

/// No constructor has run yet, or the destructor has.
const NONE: u64 = 0;
/// Between constructor and destructor: may be adopted.
const LIVE: u64 = 1;
/// The coordinator patches its sites. The destructor calls `forget`.
const ADOPTED: u64 = 2;

/// What the destructor of an adopted unit calls.
pub(in crate::patch) type Forget = unsafe extern "C" fn(*const Unit);
/// What a constructor asks to adopt its unit. 1: its sites are elided now; 0: LOCK stays in them for now; -1: it is refused.
pub(in crate::patch) type Adopt = unsafe extern "C" fn(*const Unit) -> c_int;

impl Unit {
    /// In the unit's constructor: it may be adopted from now on.
    #[allow(dead_code, reason = "only on x86-64 the dynamic linker calls")]
    pub(in crate::patch) fn begin(&self) {
        // Fails where another constructor of the unit has done it.
        let _ = self.state.compare_exchange(NONE, LIVE, SeqCst, SeqCst);
    }

    /// In the unit's destructor: it is not adopted from now on. Gives what the destructor has to call if it is adopted.
    #[allow(dead_code, reason = "only on x86-64 the dynamic linker calls")]
    pub(in crate::patch) fn end(&self) -> Option<Forget> {
        match self.state.compare_exchange(LIVE, NONE, SeqCst, SeqCst) {
            Err(ADOPTED) => {
                let function = self.forget.load(Acquire);
                // SAFETY: null, which is `None`, or a function of this type (Invariant 1).
                unsafe { core::mem::transmute::<*mut c_void, Option<Forget>>(function) }
            }
            _ => None,
        }
    }

    /// Whether it is live and not adopted.
    pub(in crate::patch) fn is_live(&self) -> bool {
        self.state.load(SeqCst) == LIVE
    }

    /// Adopts it, unless its destructor has run. `forget` is what that calls from now on.
    pub(in crate::patch) fn adopt_for(&self, coordinator: &'static Self, forget: Forget) -> bool {
        // Release, twice: a destructor that finds `ADOPTED` finds these.
        self.forget.store(forget as *mut c_void, Release);
        self.cookie.store((&raw const *coordinator).cast_mut().cast(), Release);
        let adopted = self.state.compare_exchange(LIVE, ADOPTED, SeqCst, SeqCst);
        adopted.is_ok()
    }

    /// In its destructor: it is nobody's any more.
    pub(in crate::patch) fn leave(&self) {
        self.forget.store(core::ptr::null_mut(), Release);
        self.cookie.store(core::ptr::null_mut(), Release);
        self.state.store(NONE, SeqCst);
    }

    /// The descriptor of the coordinator that has adopted it.
    pub(in crate::patch) fn adopted_by(&self) -> Option<&'static Self> {
        let at = self.cookie.load(Acquire).cast_const().cast::<Self>();
        // SAFETY: null, or a coordinator's (Invariant 1).
        unsafe { at.as_ref() }
    }

    /// Makes it the coordinator's.
    pub(in crate::patch) fn coordinate(&self, adopt: Adopt, operations: &'static Operations) {
        // Release, twice: pairs with the Acquires in `adopt` and `operations`.
        self.operations
            .store((&raw const *operations).cast_mut().cast(), Release);
        self.adopt.store(adopt as *mut c_void, Release);
    }

    /// What adopts units, if it coordinates.
    pub(in crate::patch) fn adopt(&self) -> Option<Adopt> {
        let function = self.adopt.load(Acquire);
        // SAFETY: null, which is `None`, or a function of this type (Invariant 1).
        unsafe { core::mem::transmute::<*mut c_void, Option<Adopt>>(function) }
    }

    /// What it does for other copies of this crate, if it coordinates.
    pub(in crate::patch) fn operations(&self) -> Option<&'static Operations> {
        let at = self.operations.load(Acquire).cast_const().cast::<Operations>();
        // SAFETY: null, or a static of a coordinator (Invariant 1).
        unsafe { at.as_ref() }
    }
}
