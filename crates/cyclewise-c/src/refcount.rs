//! What the saturating counts of <cyclewise/refcount.h> report, and the hook that a program sets.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. `HOOK` is null or a function of type [`Hook`]; only `cw_refcount_set_hook` stores it.
#![expect(
    unsafe_code,
    reason = "functions under names of their own, and one kept in an atomic pointer"
)]

use crate::sys::callback;
use core::ffi::{c_int, c_void};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};
use cyclewise::refs::refcount::{self, Action, Event, Misuse};

/// A misuse of a reference count, or of a lockref.
#[repr(C)]
pub struct cw_refcount_misuse {
    /// An enum cw_refcount_saturation_type of <cyclewise/refcount.h>.
    pub event: c_int,
    /// The count, as an identity: it may be gone.
    pub count: *const c_void,
    /// The code that misused it, or null where that is not known.
    pub caller: *const c_void,
}

/// As "C-unwind", so that an exception is seen.
type Hook = unsafe extern "C-unwind" fn(*const cw_refcount_misuse);

static HOOK: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Sets what is called when a count is misused, for the whole process; null for nothing. The count is saturated before,
/// and its object leaks. The hook is called on the thread, or in the signal handler, that misused the count. It may end the process.
///
/// The hook stays set: an object that contains it is not closed by dlclose, unless it has set another and no thread is in it any more.
/// This call happens before the calls of the hook that it causes.
///
/// # Safety
/// The hook takes what it is given, on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_refcount_set_hook(hook: Option<unsafe extern "C-unwind" fn(*const cw_refcount_misuse)>) {
    let address = hook.map_or(ptr::null_mut(), |hook| hook as *mut c_void);
    // Release: pairs with the Acquire in `call`.
    HOOK.store(address, Release);
    refcount::on_misuse(if hook.is_some() {
        Action::Call(of_library)
    } else {
        Action::Count
    });
}

/// How often a misuse of this kind has occurred in this process: an enum cw_refcount_saturation_type. 0 for another number.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_refcount_misuses(event: c_int) -> usize {
    numbered(event).map_or(0, refcount::misuses)
}

/// Counts a misuse of a count in a C program, and calls the hook. <cyclewise/refcount.h> calls it, and declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cw_refcount_warn_saturated(count: *const c_void, event: c_int, caller: *const c_void) {
    if let Some(kind) = numbered(event) {
        refcount::count_misuse(kind);
        call(&cw_refcount_misuse { event, count, caller });
    }
}

fn numbered(event: c_int) -> Option<Event> {
    Event::ALL.get(usize::try_from(event).ok()?).copied()
}

/// A misuse of a count that the library has counted: a lockref's.
fn of_library(misuse: &Misuse) {
    call(&cw_refcount_misuse {
        event: misuse.event as c_int,
        count: ptr::without_provenance(misuse.address),
        caller: ptr::null(),
    });
}

fn call(misuse: &cw_refcount_misuse) {
    // Acquire: pairs with the Release in `cw_refcount_set_hook`.
    let hook = HOOK.load(Acquire);
    if !hook.is_null() {
        // SAFETY: a function of this type (Safety 2).
        let hook = unsafe { transmute::<*mut c_void, Hook>(hook) };
        // SAFETY: by the contract of `cw_refcount_set_hook`.
        callback::call(|| unsafe { hook(misuse) });
    }
}
