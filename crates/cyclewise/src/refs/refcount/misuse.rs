//! Where misuse is reported: counted always, and handed to a function of the program's, or the end of the process.
//!
//! The hook is the process's, as the kernel's log is the machine's. All of it may be used by any thread and in signal
//! handlers: the state is a few atomics.
//!
//! # Safety
//! 1. `HOOK` is null or was made of a `fn(&Misuse)`, in `on_misuse` alone.
#![expect(unsafe_code, reason = "a function pointer kept in an atomic pointer")]

use crate::atomic::{AtomicPtr, AtomicUsize};
use core::fmt;
use core::panic::Location;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What was wrong; the kernel's `enum refcount_saturation_type`.
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
    /// `dec`, which tells nobody to free, of a count that was one or less, or saturated.
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
    /// What was wrong.
    pub event: Event,
    /// The address of the count, to tell one from another. It may be gone.
    pub address: usize,
    /// The call of the operation.
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

/// What happens on misuse, after the count has been saturated. It is counted in any case.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Nothing more: as in a kernel that has warned once.
    Count,
    /// This function is called, on the thread and in the signal handler that misused the count. It may panic, which
    /// then leaves the operation. Misuse in the function calls it again.
    Call(fn(&Misuse)),
    /// The process aborts, as the kernel panics with `panic_on_warn`.
    Abort,
}

/// How often each event came, by its place in [`Event::ALL`].
static COUNTS: [AtomicUsize; 5] = [const { AtomicUsize::new(0) }; 5];

/// The function to call; null for none.
static HOOK: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Sets what happens on misuse from now on, in the whole process. At first it is [`Action::Count`].
///
/// # Memory ordering
/// What happens before this call happens before the function's calls that it causes.
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

/// How often `event` has come in this process. Wraps past `usize::MAX`.
///
/// # Memory ordering
/// None: relaxed.
#[must_use]
pub fn misuses(event: Event) -> usize {
    // Relaxed: a count that orders nothing.
    COUNTS[event as usize].load(Relaxed)
}

fn abort(_: &Misuse) {
    crate::sys::process::abort()
}

/// Counts a misuse and does what the program asked for.
pub(in crate::refs) fn report(event: Event, address: usize, caller: &'static Location<'static>) {
    // Relaxed: as in `misuses`.
    COUNTS[event as usize].inc(Relaxed);
    // Acquire: pairs with the Release in `on_misuse`.
    let hook = HOOK.load(Acquire);
    if !hook.is_null() {
        // SAFETY: it was made of a function of this type (Invariant 1).
        let hook = unsafe { core::mem::transmute::<*mut (), fn(&Misuse)>(hook) };
        hook(&Misuse { event, address, caller });
    }
}
