//! Misuse of a reference count and its report: every misuse is counted, and the program can add a function or abort.
//!
//! The hook is per process. Any thread and any signal handler may use everything here: the state is a few atomics.
//!
//! # Safety
//! 1. `HOOK` is null or a `fn(&Misuse)`; only `on_misuse` stores it.
#![expect(unsafe_code, reason = "a function pointer kept in an atomic pointer")]

use crate::atomic::{AtomicPtr, AtomicUsize};
use core::fmt;
use core::panic::Location;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A kind of misuse: the kernel's `enum refcount_saturation_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// `inc_not_zero` or a form of it passed the maximum, or found the count saturated.
    #[doc(alias = "REFCOUNT_ADD_NOT_ZERO_OVF")]
    AddNotZeroOverflow,
    /// `inc` or `add` passed the maximum, or found the count saturated.
    #[doc(alias = "REFCOUNT_ADD_OVF")]
    AddOverflow,
    /// `inc` or `add` of a count that was zero.
    #[doc(alias = "REFCOUNT_ADD_UAF")]
    AddUseAfterFree,
    /// More references were given up than there were, or the count is saturated.
    #[doc(alias = "REFCOUNT_SUB_UAF")]
    SubUseAfterFree,
    /// `dec`, after which nobody frees, of a count that was one or less, or saturated.
    #[doc(alias = "REFCOUNT_DEC_LEAK")]
    DecLeak,
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 5] = [
        Self::AddNotZeroOverflow,
        Self::AddOverflow,
        Self::AddUseAfterFree,
        Self::SubUseAfterFree,
        Self::DecLeak,
    ];
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddNotZeroOverflow | Self::AddOverflow => "saturated; what it counts leaks",
            Self::AddUseAfterFree => "incremented from zero; use after free",
            Self::SubUseAfterFree => "underflowed; use after free",
            Self::DecLeak => "decrement hit zero and nobody was told; what it counts leaks",
        })
    }
}

/// One misuse of one count.
#[derive(Clone, Copy, Debug)]
pub struct Misuse {
    /// The kind of misuse.
    pub event: Event,
    /// The address of the count, as an identity. The count may be gone.
    pub address: usize,
    /// The caller of the operation.
    pub caller: &'static Location<'static>,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "reference count at {:#x} {} (called at {})",
            self.address, self.event, self.caller
        )
    }
}

/// The action on misuse, after the count has been saturated. Misuse is counted in any case.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Nothing else, like a kernel that has already warned.
    Count,
    /// Calls this function, on the thread or in the signal handler that misused the count. A panic of it leaves the
    /// operation. Misuse inside the function calls it again.
    Call(fn(&Misuse)),
    /// Aborts the process, as the kernel panics with `panic_on_warn`.
    Abort,
}

/// The number of times of each event, in the order of [`Event::ALL`].
static COUNTS: [AtomicUsize; 5] = [const { AtomicUsize::new(0) }; 5];

/// The function to call; null for none.
static HOOK: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Sets the action on misuse for the whole process. The initial one is [`Action::Count`].
///
/// # Memory ordering
/// This call happens before the calls of the function that it causes.
///
/// # Examples
/// ```
/// use cyclewise::refs::refcount::{self, Action, Event, Refcount};
///
/// refcount::on_misuse(Action::Call(|misuse| eprintln!("{misuse}")));
/// let count = Refcount::new(0);
/// count.inc();
/// assert!(count.is_saturated());
/// assert_eq!(refcount::misuses(Event::AddUseAfterFree), 1);
/// ```
pub fn on_misuse(action: Action) {
    let hook = match action {
        Action::Count => ptr::null_mut(),
        Action::Call(hook) => hook as *mut (),
        Action::Abort => (abort as fn(&Misuse)) as *mut (),
    };
    // Release: pairs with the Acquire in `report`.
    HOOK.store(hook, Release);
}

/// The number of times that `event` has occurred in this process. Wraps past `usize::MAX`.
///
/// # Memory ordering
/// None: relaxed.
///
/// # Examples
/// ```
/// use cyclewise::refs::refcount::{Event, Refcount, misuses};
///
/// let before = misuses(Event::AddUseAfterFree);
/// Refcount::new(0).inc();
/// assert_eq!(misuses(Event::AddUseAfterFree), before + 1);
/// ```
#[must_use]
pub fn misuses(event: Event) -> usize {
    // Relaxed: a count that orders nothing.
    COUNTS[event as usize].load(Relaxed)
}

/// Counts a misuse of a count that is not of this crate, as a C program's is, without running the action.
///
/// # Memory ordering
/// None: relaxed.
///
/// # Examples
/// ```
/// use cyclewise::refs::refcount::{self, Event};
///
/// refcount::count_misuse(Event::AddOverflow);
/// assert_eq!(refcount::misuses(Event::AddOverflow), 1);
/// ```
pub fn count_misuse(event: Event) {
    // Relaxed: as in `misuses`.
    COUNTS[event as usize].inc(Relaxed);
}

fn abort(_: &Misuse) {
    crate::sys::process::abort()
}

/// Counts a misuse and runs the action.
pub(in crate::refs) fn report(event: Event, address: usize, caller: &'static Location<'static>) {
    count_misuse(event);
    // Acquire: pairs with the Release in `on_misuse`.
    let hook = HOOK.load(Acquire);
    if !hook.is_null() {
        // SAFETY: `HOOK` holds a function of this type (Invariant 1).
        let hook = unsafe { core::mem::transmute::<*mut (), fn(&Misuse)>(hook) };
        hook(&Misuse { event, address, caller });
    }
}
