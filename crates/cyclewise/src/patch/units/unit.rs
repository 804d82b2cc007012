//! The descriptor of a link unit, as C has it: `struct cw_unit` of `cyclewise/atomic.h`.
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
//! 1. `forget` and `adopt` are null or functions of their type in a link unit that is never unloaded.
#![expect(unsafe_code, reason = "functions of other link units, by their address")]

use crate::arch::text_lock::Words;
use crate::error::Refusal;
use core::ffi::c_void;
use core::sync::atomic::Ordering::{Acquire, SeqCst};
use core::sync::atomic::{AtomicPtr, AtomicU64};

/// The version of the layout below.
pub(super) const ABI: u32 = 1;

/// No constructor has run yet, or the destructor has.
pub(super) const NONE: u64 = 0;
/// Between constructor and destructor: may be adopted.
pub(super) const LIVE: u64 = 1;
/// The coordinator patches its sites. The destructor calls `forget`.
pub(super) const ADOPTED: u64 = 2;

/// What the destructor of an adopted unit calls.
pub(super) type Forget = unsafe extern "C" fn(*const Unit);

/// The descriptor of a link unit: an executable or a shared object. Each has one, in data that is writable.
///
/// It is C's: `cyclewise/atomic.h` and this crate define it, and nobody else makes one.
#[doc(alias = "cw_unit")]
#[repr(C)]
#[derive(Debug)]
pub struct Unit {
    size: u32,
    abi: u32,
    /// The bounds of its table of LOCK sites.
    pub(super) lock: [AtomicPtr<i32>; 2],
    /// The bounds of its table of keys' tests.
    key: [AtomicPtr<()>; 2],
    /// What its destructor calls once it is adopted.
    forget: AtomicPtr<c_void>,
    /// The coordinator's.
    pub(super) cookie: AtomicPtr<c_void>,
    /// What adopts units; null in units that do not coordinate.
    pub(super) adopt: AtomicPtr<c_void>,
    pub(super) state: AtomicU64,
    /// The unit's text lock; null in units without.
    text_lock: AtomicPtr<Words>,
    reserved: [AtomicU64; 2],
}

const _: () = assert!(size_of::<Unit>() == if cfg!(target_pointer_width = "64") { 96 } else { 64 });

impl Unit {
    /// Checks that it has this version's layout.
    ///
    /// # Errors
    /// [`Refusal::BadUnit`].
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.size as usize == size_of::<Self>() && self.abi == ABI {
            Ok(())
        } else {
            Err(self.bad())
        }
    }

    /// The refusal of this descriptor.
    pub(super) fn bad(&self) -> Refusal {
        Refusal::BadUnit {
            at: (&raw const *self).addr(),
        }
    }

    /// The bounds of its table of keys' tests.
    pub(super) fn keys(&self) -> [*const (); 2] {
        // Acquire, here and below: the words are the dynamic linker's, from before any code of the unit.
        self.key.each_ref().map(|word| word.load(Acquire).cast_const())
    }

    /// Its text lock; null without one.
    pub(super) fn text_lock(&self) -> *const Words {
        self.text_lock.load(Acquire)
    }

    /// In the unit's constructor: it may be adopted from now on.
    pub(super) fn begin(&self) {
        // SeqCst: see the module. Fails where another constructor of the unit has done it.
        let _ = self.state.compare_exchange(NONE, LIVE, SeqCst, SeqCst);
    }

    /// In the unit's destructor: it is not adopted from now on. Gives what the destructor has to call if it is adopted.
    pub(super) fn end(&self) -> Option<Forget> {
        // SeqCst: see the module.
        match self.state.compare_exchange(LIVE, NONE, SeqCst, SeqCst) {
            Err(ADOPTED) => self.forget(),
            _ => None,
        }
    }

    fn forget(&self) -> Option<Forget> {
        let function = self.forget.load(Acquire);
        // SAFETY: null, which is `None`, or a function of this type (Invariant 1).
        unsafe { core::mem::transmute::<*mut c_void, Option<Forget>>(function) }
    }
}
