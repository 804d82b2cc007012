//! [`Ref`]: a reference count that each CPU keeps a part of until it is killed; then one shared count that drops to 0.
//!
//! # States
//! See `protocol`. *Live*: counted in the slots, and never checked for 0. *Killed*: counted in one word; the put that takes it
//! to 0 runs the release. *Shared*: live, but counted in the one word, where the kernel has no membarrier(2) to wait for the slots.
//!
//! # Memory ordering
//! The release sees everything that happened before each put.
//!
//! # Cost
//! Live, a get and a put are a sequence each: an addition to the CPU's word, and a comparison of the guard with 0. A kill is a membarrier(2), which interrupts every CPU that runs the process.
//!
//! # Signals, forks, threads
//! A signal handler may get and put, but not kill. A child of a fork has the counts as they were. References of threads that it does not
//! have are never put, so a count with such references never drops to 0.
//!
//! # References
//! Linux lib/percpu-refcount.c, include/linux/percpu-refcount.h; which waits for an RCU grace period where this waits for membarrier.

pub(super) mod protocol;
#[cfg(all(test, feature = "std"))]
pub(super) mod tests;
mod words;

use super::remote;
use super::variable::or_end;
use crate::error::Refusal;
use core::alloc::Layout;
use core::fmt;
use protocol::{DEAD, Parts};
pub(super) use words::RefWords;

/// A per-CPU reference count. It only counts; the object is the owner's. When the last reference is put after a kill,
/// it runs `release`, once for each life.
///
/// # Examples
/// ```
/// use cyclewise::percpu::Ref;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// static GONE: AtomicBool = AtomicBool::new(false);
///
/// let users = Ref::new(|| GONE.store(true, Ordering::Relaxed));
/// assert!(users.try_get());
/// assert!(users.kill()?);
/// assert!(!users.try_get_live(), "no new ones");
/// users.put(); // The last: runs the release.
/// assert!(GONE.load(Ordering::Relaxed));
/// # Ok::<(), cyclewise::error::Refusal>(())
/// ```
#[doc(alias = "percpu_ref")]
pub struct Ref<R: Fn()> {
    words: RefWords,
    /// Whether live references are counted in the slots. Not where the kernel cannot restart sequences.
    per_cpu: bool,
    release: R,
}

impl<R: Fn()> Ref<R> {
    /// A live count with one initial reference, which [`kill`](Self::kill) puts. Without address space, it calls the handler of
    /// allocation errors, as `Box::new` does.
    #[doc(alias = "percpu_ref_init")]
    pub fn new(release: R) -> Self {
        or_end(Self::try_new(release), Layout::new::<u64>(), "a reference count")
    }

    /// A live count with one initial reference, which [`kill`](Self::kill) puts.
    ///
    /// # Errors
    /// As of [`PerCpu::try_new`](super::PerCpu::try_new).
    pub fn try_new(release: R) -> Result<Self, Refusal> {
        let per_cpu = remote::can_restart();
        Ok(Self {
            words: RefWords::try_new(per_cpu)?,
            per_cpu,
            release,
        })
    }

    /// Takes a reference; `false` if the count is killed and no reference is left.
    #[inline(always)]
    #[doc(alias = "percpu_ref_tryget")]
    pub fn try_get(&self) -> bool {
        protocol::try_get(&self.words)
    }

    /// Takes a reference; may return `false` once a kill has begun, and always does once it has returned.
    #[inline(always)]
    #[doc(alias = "percpu_ref_tryget_live")]
    pub fn try_get_live(&self) -> bool {
        protocol::try_get_live(&self.words)
    }

    /// Puts a reference that a get took. After a kill, the last put runs the release.
    ///
    /// A put too many is detected at the kill at the latest, if at all; then the release never runs.
    #[inline(always)]
    #[doc(alias = "percpu_ref_put")]
    pub fn put(&self) {
        if self.__put_silently() {
            (self.release)();
        }
    }

    /// As [`put`](Self::put), and returns whether the release is due instead of running it: for an owner that frees the count in the
    /// release, when no reference to it is left.
    #[doc(hidden)]
    #[inline(always)]
    pub fn __put_silently(&self) -> bool {
        protocol::put(&self.words)
    }

    /// As [`kill_and_confirm`](Self::kill_and_confirm), without running the release: `None` if the count was killed before, else
    /// whether the release is due. `confirm` does not panic.
    #[doc(hidden)]
    pub fn __kill_silently(&self, confirm: impl FnOnce()) -> Result<Option<bool>, Refusal> {
        if !protocol::kill(&self.words)? {
            return Ok(None);
        }
        confirm();
        Ok(Some(protocol::put_shared(&self.words)))
    }

    /// Ends live references, waits until no thread can take one, and puts the initial reference. `false` if the count was
    /// killed before; another thread's kill may then still be in progress. Not for signal handlers.
    ///
    /// # Errors
    /// The kernel forbids membarrier(2) by now. The count stays live; concurrent `try_get_live` calls may have returned `false`.
    #[doc(alias = "percpu_ref_kill")]
    pub fn kill(&self) -> Result<bool, Refusal> {
        self.kill_and_confirm(|| ())
    }

    /// As [`kill`](Self::kill), and runs `confirm` when no thread can take a live reference any more, before the initial reference is
    /// put, and so before the release. If `confirm` panics, the count is killed too, and the initial reference is put.
    ///
    /// # Errors
    /// As [`kill`](Self::kill); `confirm` does not run then.
    #[doc(alias = "percpu_ref_kill_and_confirm")]
    pub fn kill_and_confirm(&self, confirm: impl FnOnce()) -> Result<bool, Refusal> {
        if !protocol::kill(&self.words)? {
            return Ok(false);
        }
        // Its drop puts the initial reference, also if `confirm` unwinds.
        let initial = InitialRef(self);
        confirm();
        drop(initial);
        Ok(true)
    }

    /// Makes the count live again, with one initial reference. `false` if it is live, or references are left. The release may
    /// still be running: wait for its effect.
    #[doc(alias = "percpu_ref_reinit")]
    pub fn reinit(&self) -> bool {
        protocol::reinit(&self.words, self.per_cpu)
    }

    /// Whether it is killed.
    #[doc(alias = "percpu_ref_is_dying")]
    pub fn is_dying(&self) -> bool {
        self.words.shared() & DEAD != 0
    }

    /// Whether it is killed and no reference is left.
    #[doc(alias = "percpu_ref_is_zero")]
    pub fn is_zero(&self) -> bool {
        self.words.shared() & !protocol::REVIVING == DEAD
    }
}

/// The initial reference of a killed count.
struct InitialRef<'a, R: Fn()>(&'a Ref<R>);

impl<R: Fn()> Drop for InitialRef<'_, R> {
    fn drop(&mut self) {
        if protocol::put_shared(&self.0.words) {
            (self.0.release)();
        }
    }
}

impl<R: Fn()> fmt::Debug for Ref<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ref")
            .field("is_dying", &self.is_dying())
            .finish_non_exhaustive()
    }
}
