//! Wait-free references to objects that may be gone: the kernel's `rcuref_t`, and a [`Pool`] that makes it safe.
//!
//! [`Refcount::inc_not_zero`](super::Refcount::inc_not_zero) checks before it stores, so it loops, and under contention
//! each CPU's success makes the others retry. [`Rcuref::get`] adds first and checks the sign: one read-modify-write if
//! there is a reference, two if there is none. It is wait-free.
//!
//! The last put pays for that: it changes the count a second time to mark it dead. Before that another thread may take
//! a reference, give it up as the last, and free. So the count's memory has to outlive every call in progress. The
//! kernel has RCU for that. Here it is a borrow: [`Rcuref`]'s operations take `&self`, and a [`Pool`] keeps its slots
//! as long as anything borrows it, whatever becomes of the values in them.
//!
//! # States
//! The stored number is one less than the number of references:
//!
//! | stored | state |
//! |---|---|
//! | 0 .. 7FFF FFFF | one reference and up to [`MAX`](Rcuref::MAX) |
//! | 8000 0000 .. BFFF FFFF | saturated; the operation that finds it stores A000 0000 |
//! | C000 0000 .. FFFF FFFE | dead, near E000 0000: plus one for each [`get`](Rcuref::get) that is about to fail |
//! | FFFF FFFF | the last reference was put, and its holder is about to mark the count dead; a `get` still succeeds |
//!
//! # Invariants
//! 1. Each `get` that fails subtracts what it added, by the same steps as a put. So a dead count does not drift: it is
//!    off by the number of calls in progress, fewer than 2^29, which would be 128 nested in each of the 2^22 threads
//!    Linux can have.
//! 2. [`revive`](Rcuref::revive) adds as well, so a failing `get` in progress is counted in the new life, and what it
//!    subtracts may be the last reference of that life. It then ends it like any put.
//! 3. One compare-and-exchange changes FFFF FFFF to dead. One thread wins it, and only its call returns `true`.
//! 4. A saturated count is never dead again, by the proof in [`refcount`](super::refcount) with 2^29 for 2^30.
//!
//! # Memory ordering
//! `get` is acquire: pairs with the release in `revive`, so that a new life is fully visible. `put` is release, and
//! acquire if it returns `true`. All changes are read-modify-writes, so they continue each other's release sequences.
//!
//! # Cost
//! `get` is `lock inc; js`, `put` is `lock sub; js`; the last put also makes a compare-and-exchange.
//!
//! # Fork, signals and priorities
//! No operation waits, nor does one of a [`Pool`]. In a child of fork, entries of the parent's other threads stay
//! counted, so their slots are not reused there.
//!
//! # References
//! Linux `include/linux/rcuref.h`, `lib/rcuref.c`. Linux's overwrites what failing gets added with the dead mark, which
//! is correct only if a grace period passes before the memory is reused. Here none is needed.

mod pool;

#[cfg(all(test, loom))]
mod tests;

pub use pool::{Entry, Key, Pool};

use super::refcount::{Event, report};
use crate::primitive::{AtomicU32, const_fn};
use core::cmp::Ordering::{Equal, Greater, Less};
use core::fmt;
use core::panic::Location;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Stored: the middle of the saturated range.
const SATURATED: u32 = 0xa000_0000;
/// Stored: the first of the dead range.
const FIRST_DEAD: u32 = 0xc000_0000;
/// Stored: the middle of the dead range.
const DEAD: u32 = 0xe000_0000;
/// Stored: no reference, but not marked dead yet.
const UNDECIDED: u32 = 0xffff_ffff;

/// A reference count whose `get` is wait-free. See the [module](self).
///
/// # Examples
/// ```
/// use cyclewise::refs::rcuref::{Got, Rcuref};
///
/// let count = Rcuref::new();
/// assert_eq!(count.get(), Got::Reference);
/// assert!(!count.put());
/// assert!(count.put(), "the last: free the object");
/// assert_eq!(count.get(), Got::Dead);
/// ```
#[doc(alias = "rcuref_t")]
#[repr(transparent)]
pub struct Rcuref(AtomicU32);

impl Rcuref {
    /// The largest exact count: one more saturates.
    #[doc(alias = "RCUREF_MAXREF")]
    pub const MAX: u32 = 1 << 31;

    const_fn! {
        /// A count with one reference.
        #[doc(alias = "RCUREF_INIT")]
        #[must_use]
        pub fn new() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    const_fn! {
        /// A count that is dead until [`revive`](Self::revive).
        #[must_use]
        pub fn dead() -> Self {
            Self(AtomicU32::new(DEAD))
        }
    }

    /// Takes a reference unless the count is dead: one read-modify-write, and two if it is dead.
    ///
    /// A saturated count always gives a reference, and reports it.
    ///
    /// # Memory ordering
    /// Acquire: pairs with [`revive`](Self::revive).
    #[doc(alias = "rcuref_get")]
    #[inline]
    #[track_caller]
    #[must_use = "`false`: no reference was taken"]
    pub fn get(&self) -> Got {
        // Acquire: pairs with the Release in `revive`.
        if self.0.inc_negative(Acquire) {
            self.get_slow()
        } else {
            Got::Reference
        }
    }

    /// Gives up a reference; `true` if it was the last: then the count is dead and the caller frees the object.
    ///
    /// # Memory ordering
    /// Release; acquire if `true`.
    #[doc(alias = "rcuref_put")]
    #[inline]
    #[track_caller]
    #[must_use = "`true`: the caller has to free the object"]
    pub fn put(&self) -> bool {
        // Release: pairs with the Acquire in `end_slow`.
        match self.0.dec_cmp(Release) {
            Greater => false,
            Equal => self.end_slow(),
            Less => {
                self.bad_put_slow();
                false
            }
        }
    }

    /// Makes a dead count one reference again. Only the caller that found the count dead calls this, once.
    ///
    /// # Memory ordering
    /// Release: a caller of [`get`](Self::get) that gets a reference sees earlier writes.
    pub fn revive(&self) {
        // Release: pairs with the Acquire in `get`.
        self.0.fetch_add(0_u32.wrapping_sub(DEAD), Release);
    }

    /// The number of references at some moment, zero if dead; above [`MAX`](Self::MAX) it is saturated.
    ///
    /// # Memory ordering
    /// None: relaxed.
    #[doc(alias = "rcuref_read")]
    #[must_use]
    pub fn read(&self) -> u32 {
        // Relaxed: a snapshot that orders nothing.
        match self.0.load(Relaxed) {
            FIRST_DEAD.. => 0,
            stored => stored + 1,
        }
    }

    /// After an increment that found a negative number.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn get_slow(&self) -> Got {
        // Acquire: pairs with the Release in `revive`.
        match self.0.load(Acquire) {
            // The increment counts by now: the count was revived, or another thread brought it back from past the
            // maximum. To report it dead would deprive a holder, who clones its reference, of it.
            0..Self::MAX => return Got::Reference,
            Self::MAX..FIRST_DEAD => {
                self.saturate(Event::AddNotZeroOverflow);
                return Got::Reference;
            }
            FIRST_DEAD.. => {}
        }
        // Release: pairs with the Acquire in `end_slow`; the increment may have counted in a new life (Invariant 2).
        match self.0.dec_cmp(Release) {
            Equal if self.end_slow() => Got::Last,
            _ => Got::Dead,
        }
    }

    /// After a put that left no reference: marks the count dead, unless another thread took a reference meanwhile.
    #[cold]
    #[inline(never)]
    fn end_slow(&self) -> bool {
        // Acquire: pairs with the Release of every put. Relaxed on failure: somebody else holds a reference.
        self.0.compare_exchange(UNDECIDED, DEAD, Acquire, Relaxed).is_ok()
    }

    /// After a put that found a negative number: of a saturated count, or without a reference.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn bad_put_slow(&self) {
        // Relaxed: saturated stays saturated. A dead count moves away from life, and leaks if it is revived.
        match self.0.load(Relaxed) {
            // Other gets were past the maximum, and are undone by now.
            0..Self::MAX => {}
            Self::MAX..FIRST_DEAD => self.saturate(Event::SubUseAfterFree),
            FIRST_DEAD.. => report(Event::SubUseAfterFree, (&raw const self.0).addr(), Location::caller()),
        }
    }

    #[track_caller]
    fn saturate(&self, event: Event) {
        // Relaxed: an object that is never freed needs no order.
        self.0.store(SATURATED, Relaxed);
        report(event, (&raw const self.0).addr(), Location::caller());
    }
}

/// The result of [`Rcuref::get`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    /// A reference was taken.
    Reference,
    /// The count is dead.
    Dead,
    /// The count was dead, was revived and put again meanwhile, and this call held the last reference: the caller frees
    /// the object, as after a [`put`](Rcuref::put) that returned `true`.
    Last,
}

impl Default for Rcuref {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Rcuref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rcuref").field(&self.read()).finish()
    }
}
