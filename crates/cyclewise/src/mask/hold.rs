//! Holding: the guard's beginning and end, and the kernel's save-and-restore form.

use super::delivery::ProcessEnv;
use super::this_thread::{Hold, thread_mask};
use core::marker::PhantomData;

/// Holds signals off: until the guard is dropped, no handler registered with [`Signals`](super::Signals) runs on this
/// thread. Nests. Neither the kernel nor the C library is involved.
///
/// Ordering: accesses under the hold stay inside it, as seen by handlers on this thread. None towards other threads.
///
/// Cost: a load, a branch, a store.
#[inline(always)]
#[doc(alias = "local_irq_disable")]
pub fn hold() -> Hold {
    thread_mask().hold(&ProcessEnv);
    Hold(PhantomData)
}

impl Drop for Hold {
    /// Releases the hold. If it was the last, the handlers of recorded signals run before this returns, oldest first.
    #[inline(always)]
    fn drop(&mut self) {
        thread_mask().release(&ProcessEnv);
    }
}

/// The calling thread's state before [`save`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "what is saved has to be restored, or the thread stays held"]
pub struct Flags {
    open: bool,
    thread: PhantomData<*const ()>,
}

impl Flags {
    /// Whether it was already held.
    #[must_use]
    #[doc(alias = "irqs_disabled_flags")]
    pub fn are_held(&self) -> bool {
        !self.open
    }
}

/// Holds signals off and returns the previous state: the kernel's `local_irq_save`.
///
/// [`Masked`](super::Masked) does not accept it: it takes a [`Hold`]. Cost: a load, a branch, a store.
///
/// # Examples
/// ```
/// use cyclewise::mask;
///
/// let flags = mask::save();
/// assert!(mask::is_held() && !flags.are_held());
/// mask::restore(flags);
/// assert!(!mask::is_held());
/// ```
#[inline(always)]
#[doc(alias = "local_irq_save")]
pub fn save() -> Flags {
    Flags {
        open: thread_mask().save(&ProcessEnv),
        thread: PhantomData,
    }
}

/// Restores the saved state: the kernel's `local_irq_restore`. Restoring "held" does nothing. Restoring "open" is a
/// store, a test, and a branch that is taken if a signal was recorded.
///
/// A guard taken meanwhile that still lives keeps its hold. Ordering: as for dropping a guard.
///
/// # Examples
/// ```
/// use cyclewise::mask;
///
/// let outer = mask::save();
/// let inner = mask::save();
/// mask::restore(inner);
/// assert!(mask::is_held(), "it was held before");
/// mask::restore(outer);
/// ```
#[inline(always)]
#[doc(alias = "local_irq_restore")]
pub fn restore(flags: Flags) {
    if flags.open {
        thread_mask().release(&ProcessEnv);
    }
}

/// Whether the calling thread is held.
///
/// # Examples
/// ```
/// use cyclewise::mask;
///
/// let hold = mask::hold();
/// assert!(mask::is_held());
/// drop(hold);
/// assert!(!mask::is_held());
/// ```
#[inline]
#[must_use]
#[doc(alias = "irqs_disabled")]
pub fn is_held() -> bool {
    thread_mask().is_held()
}

/// Whether a recorded signal waits for the calling thread's release.
///
/// # Examples
/// ```
/// use cyclewise::mask;
///
/// let hold = mask::hold();
/// // A long section can end early, so that the handler runs.
/// while !mask::is_pending() {
///     # break
/// }
/// drop(hold);
/// ```
#[must_use]
pub fn is_pending() -> bool {
    thread_mask().is_pending()
}

/// How often the calling thread ran out of room for records, so that the kernel kept further signals until the release.
/// Nothing is lost, but the release costs a system call more.
///
/// # Examples
/// ```
/// assert_eq!(cyclewise::mask::overflows(), 0);
/// ```
#[must_use]
pub fn overflows() -> u64 {
    thread_mask().overflows()
}

/// How many signals of the calling thread were lost. This needs foreign code that unblocks signals repeatedly inside a
/// hold, until no room is left, and a kernel that then refuses to requeue one: because of a filter (seccomp), or
/// because the user's limit on queued signals was reached for a second. Or it needs an environment that does not keep to the mask of a
/// signal's frame: under Valgrind a hold loses the real-time signals for which it has no room.
///
/// # Examples
/// ```
/// assert_eq!(cyclewise::mask::lost(), 0);
/// ```
#[must_use]
pub fn lost() -> u64 {
    thread_mask().lost()
}
