//! The descriptor of a link unit, as C has it: `struct cw_unit` of `cyclewise/atomic.h`.
//!
//! # Safety
//! Who defines a descriptor vouches that it is what it says.
#![expect(unsafe_code, reason = "this unit's descriptor, by its address")]

#[cfg_attr(not(all(feature = "std", target_env = "gnu")), path = "unhosted.rs")]
pub(super) mod hosted;

pub(super) use hosted::examine;

use crate::arch;
use crate::arch::text_lock::Words;
use crate::error::Refusal;
use crate::patch::canary::Canary;
use core::ffi::c_void;
use core::sync::atomic::Ordering::Acquire;
use core::sync::atomic::{AtomicPtr, AtomicU64};

/// The version of the layout below.
const ABI: u32 = 1;

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
    pub(super) forget: AtomicPtr<c_void>,
    /// The coordinator's: its descriptor.
    pub(super) cookie: AtomicPtr<c_void>,
    /// What adopts units; null in units that do not coordinate.
    pub(super) adopt: AtomicPtr<c_void>,
    /// See `states`.
    pub(super) state: AtomicU64,
    /// The unit's text lock; null in units without.
    text_lock: AtomicPtr<Words>,
    /// What a coordinator does for other copies of this crate; null in units that do not coordinate.
    pub(super) operations: AtomicPtr<c_void>,
    /// Tells whether what is written to its sites is what runs; null in units of older headers.
    canary: AtomicPtr<Canary>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Unit>() == 96);

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

    pub(super) fn bad(&self) -> Refusal {
        Refusal::BadUnit {
            at: (&raw const *self).addr(),
        }
    }

    /// The bounds of its table of keys' tests.
    #[allow(dead_code, reason = "only x86-64 has text to write")]
    pub(super) fn keys(&self) -> [*const (); 2] {
        // Acquire, here and below: the words are the dynamic linker's, from before any code of the unit.
        self.key.each_ref().map(|word| word.load(Acquire).cast_const())
    }

    /// Its canary; null without one.
    pub(in crate::patch) fn canary(&self) -> *const Canary {
        self.canary.load(Acquire)
    }

    /// Its text lock; null without one.
    pub(super) fn text_lock(&self) -> *const Words {
        self.text_lock.load(Acquire)
    }
}

/// This link unit's descriptor; `None` where link units have no sites.
pub(in crate::patch) fn own() -> Option<&'static Unit> {
    let at = arch::unit::own().cast_const().cast::<Unit>();
    // SAFETY: null, or laid out for `Unit` by the assembler, in writable data that stays mapped while this code runs.
    unsafe { at.as_ref() }
}
