//! References taken without a loop from things that may be gone: the kernel's `rcuref_t`, and a [`Pool`] that makes it safe.
//!
//! [`Refcount::inc_not_zero`](super::Refcount::inc_not_zero) has to look before it stores, so it loops, and under
//! contention each CPU's success makes the others try again. [`Rcuref::get`] adds first and looks at the sign: one
//! read-modify-write where there is a reference to be had, two where there is none, and never more. It is wait-free.
//!
//! The price is paid by the last put, which touches the count a second time to mark it dead. In between somebody else may
//! take a reference, give it up, be told that it was the last, and free. So the count's memory has to outlive every
//! call that is under way. The kernel has RCU for that. Here it is a borrow: [`Rcuref`]'s operations take `&self`, and a
//! [`Pool`] keeps its slots as long as anything borrows it, whatever becomes of the values in them.
//!
//! # States
//! What is stored is one less than the number of references:
//!
//! | stored | state |
//! |---|---|
//! | 0 .. 7FFF FFFF | one reference and up to [`MAX`](Rcuref::MAX) |
//! | 8000 0000 .. BFFF FFFF | saturated; put back to A000 0000 by whoever finds it so |
//! | C000 0000 .. FFFF FFFE | dead, about E000 0000: one more for each [`get`](Rcuref::get) that is about to fail |
//! | FFFF FFFF | the last reference was put, and who put it is about to mark it dead; a `get` still succeeds |
//!
//! # Invariants
//! 1. Each `get` that fails takes back what it added, by the same steps as a put. So the dead zone does not drift: it
//!    holds as many as are under way, fewer than 2^29, which would be 128 nested in each of the 2^22 threads Linux can have.
//! 2. [`revive`](Rcuref::revive) adds as well, so a failing `get` that is under way is counted in the new life, and what
//!    it takes back may be the last reference of that life. It then ends it like any put.
//! 3. From FFFF FFFF to dead is one compare-and-exchange, which one thread wins; it alone is told `true`.
//! 4. A saturated count is never dead again, by the argument of [`refcount`](super::refcount) with 2^29 for 2^30.
//!
//! # Memory ordering
//! `get` is acquire: pairs with the release in `revive`, so that a new life is seen whole. `put` is release, and acquire
//! where it is told `true`. All changes are read-modify-writes, so they continue each other's release sequences.
//!
//! # Cost
//! `get` is `lock inc; js`, `put` is `lock sub; js`; the last put is a compare-and-exchange more.
//!
//! # Fork, signals and priorities
//! Nothing waits, in a [`Pool`] neither. In a child of fork, entries of threads that it has not got stay counted, so their
//! slots are not used again there.
//!
//! # References
//! Linux `include/linux/rcuref.h`, `lib/rcuref.c`. Theirs stores the dead mark over what failing gets added, which is
//! right only where a grace period passes before the memory is used again. Here it need not.

mod entry;
mod pool;

#[cfg(all(test, loom))]
mod tests;

pub use entry::Entry;
pub use pool::{Key, Pool};

use super::refcount::{Event, report};
use crate::primitive::{AtomicU32, const_fn};
use core::cmp::Ordering::{Equal, Greater, Less};
use core::fmt;
use core::panic::Location;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Stored: the middle of the saturated ones.
const SATURATED: u32 = 0xa000_0000;
/// Stored: the first of the dead ones.
const FIRST_DEAD: u32 = 0xc000_0000;
/// Stored: the middle of the dead ones.
const DEAD: u32 = 0xe000_0000;
/// Stored: no reference, and not dead yet.
const UNDECIDED: u32 = 0xffff_ffff;

/// A reference count whose `get` is wait-free. See the [module](self).
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

    /// Takes a reference unless the count is dead: one read-modify-write, and where it is dead two.
    ///
    /// A saturated count gives any number of references, and reports it.
    ///
    /// # Memory ordering
    /// Acquire: pairs with [`revive`](Self::revive).
    #[doc(alias = "rcuref_get")]
    #[inline]
    #[track_caller]
    #[must_use = "where it is false no reference was taken"]
    pub fn get(&self) -> Got {
        // Acquire: pairs with the Release in `revive`.
        if self.0.inc_negative(Acquire) {
            self.get_slow()
        } else {
            Got::Reference
        }
    }

    /// Gives up a reference; `true` if it was the last, and then the count is dead and the caller frees what is counted.
    ///
    /// # Memory ordering
    /// Release; acquire where it is `true`.
    #[doc(alias = "rcuref_put")]
    #[inline]
    #[track_caller]
    #[must_use = "where it is true nobody but the caller can free what is counted"]
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

    /// From dead to one reference, by whoever was told that the count is dead, and only once.
    ///
    /// # Memory ordering
    /// Release: what was done before is seen by whoever [`get`](Self::get)s a reference.
    pub fn revive(&self) {
        // Release: pairs with the Acquire in `get`.
        self.0.fetch_add(0_u32.wrapping_sub(DEAD), Release);
    }

    /// The number of references as of some moment, zero where dead; above [`MAX`](Self::MAX) it is saturated.
    ///
    /// # Memory ordering
    /// None: relaxed.
    #[doc(alias = "rcuref_read")]
    #[must_use]
    pub fn read(&self) -> u32 {
        // Relaxed: a count that others change at any time orders nothing.
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
            // The increment counts by now: the count was revived, or somebody took it back from past the largest. To call
            // that dead would be to leave who holds a reference, and clones it, without one.
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

    /// After a put that left no reference: whether nobody took one meanwhile.
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
        // Relaxed: saturated stays saturated. What was dead is led away from life, and leaks if it is revived.
        match self.0.load(Relaxed) {
            // Others' gets were past the largest count, and are taken back by now.
            0..Self::MAX => {}
            Self::MAX..FIRST_DEAD => self.saturate(Event::SubUseAfterFree),
            FIRST_DEAD.. => report(Event::SubUseAfterFree, (&raw const self.0).addr(), Location::caller()),
        }
    }

    #[track_caller]
    fn saturate(&self, event: Event) {
        // Relaxed: what is never freed need not be ordered before that.
        self.0.store(SATURATED, Relaxed);
        report(event, (&raw const self.0).addr(), Location::caller());
    }
}

/// What [`Rcuref::get`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    /// A reference was taken.
    Reference,
    /// The count is dead.
    Dead,
    /// The count was dead, was revived and put again meanwhile, and this call held it last: the caller frees what is
    /// counted, as after a [`put`](Rcuref::put) that was `true`.
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
