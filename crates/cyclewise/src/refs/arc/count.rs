//! A reference count that saturates: past its largest value it stays saturated, and what it counts is never freed.
//!
//! std's `Arc` aborts the process there instead. A leak of one value is the milder end of a program that forgets
//! references in a loop, and it needs no way to end the process, which `no_std` does not have.
//!
//! # States
//! What is stored is one less than the number of references, so that both edges, none left and too many, are the same
//! look at the sign. Read as an `isize`:
//!
//! | stored | state |
//! |---|---|
//! | [`DEAD`], −1 | no reference: the value is destroyed, or not there yet |
//! | [`SOLE`], 0 | one reference |
//! | up to [`MAX`] | so many and one references |
//! | [`CLAIMED`], −2 | one reference, whose holder is looking whether there is a weak one; of the strong count alone |
//! | other negative | saturated; whoever finds it so puts it back to [`SATURATED`], the middle of the range |
//!
//! # Invariants
//! 1. An increment is made by somebody who holds a reference until it returns.
//! 2. An operation that leaves the count saturated stores [`SATURATED`] before it returns. Between the two it is *in
//!    flight*. Each operation in flight has a stack frame to itself, so at any moment there are fewer of them than
//!    2^(BITS − 3): that many frames do not fit in the address space, even if signal handlers nest.
//! 3. A count that has been saturated is never [`SOLE`] or [`DEAD`] again. After the first store of [`SATURATED`], the
//!    count is `SATURATED` plus or minus one for each change since the last such store; each of those changes is by an
//!    operation in flight (had it stored, that store would be the last), so by 2 the count stays saturated. Before the
//!    first store the count is exact, and if it has been saturated, the increment that passed [`MAX`] is in flight and
//!    by 1 holds two references: the one it came with and the one it makes.
//! 4. Hence memory whose count has been saturated is never freed, and the store of [`SATURATED`] finds it there.
//! 5. From [`SOLE`] to [`CLAIMED`] the holder of the only reference takes the count, for as long as it borrows that
//!    mutably. Meanwhile nobody but an upgrade changes it, which *breaks* the claim: there are two references then. While
//!    the claimant holds its own, nobody else can claim; so a count that is `CLAIMED` after a look at the weak references
//!    has been so all the time. By 3 a saturated count is never mistaken for it, since it stays about `SATURATED`.
//!
//! # Memory ordering
//! An increment is relaxed: the new reference is made from one that is already held, and handing it to another thread
//! is what orders the two. A decrement is Release, and whoever gives up the last reference then loads with Acquire: that
//! load reads the end of the release sequence of every decrement before it (increments in between are read-modify-writes
//! and continue it), so every use of the value happens before its destruction. It is a load and not a fence because loom
//! and `ThreadSanitizer` understand loads; on x86-64 both are free, and the cost is paid once a value.
//!
//! # Cost
//! `inc` and `dec` are one read-modify-write and one branch on its sign: `lock inc; js` and `lock dec; js`.
//!
//! # References
//! Linux `include/linux/refcount.h` for saturation and the argument from the number of tasks; `lib/rcuref.c` for the
//! count that is one less.
//!
//! # Safety
//! A count by its distance from a pointer is there, say the callers of `inc_at` and `dec_at`.
#![expect(unsafe_code, reason = "a count by its distance from the value")]

use super::facade::{AtomicUsize, dec_negative_at, inc_negative_at};
use core::hint::cold_path;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// No reference.
pub(super) const DEAD: usize = usize::MAX;

/// One reference, whose holder is looking whether it is the only one of either kind.
pub(super) const CLAIMED: usize = usize::MAX - 1;

/// One reference.
pub(super) const SOLE: usize = 0;

/// The largest that is still exact.
pub(super) const MAX: usize = isize::MAX as usize;

/// Where a saturated count is put: as far from [`DEAD`] as from [`MAX`], so that operations in flight reach neither.
pub(super) const SATURATED: usize = (isize::MIN / 2) as usize;

/// What an increment by compare-and-swap makes of a count that is not [`DEAD`].
pub(super) const fn incremented(stored: usize) -> usize {
    // Past MAX as an unsigned number are the saturated ones, and one that is claimed.
    if stored < MAX {
        return stored + 1;
    }
    cold_path();
    match stored {
        // The claimant's reference, and one more: the claim is broken.
        CLAIMED => SOLE + 1,
        _ => SATURATED,
    }
}

/// The number of references where that is known.
pub(super) const fn references(stored: usize) -> usize {
    match stored {
        DEAD => 0,
        CLAIMED => 1,
        ..=MAX => stored + 1,
        _ => usize::MAX,
    }
}

/// A count of references.
#[repr(transparent)]
pub(super) struct Count(AtomicUsize);

impl Count {
    /// A count in one of the states above.
    pub(super) fn new(state: usize) -> Self {
        Self(AtomicUsize::new(state))
    }

    /// Counts one more reference to something the caller holds a reference to, in the count at `base + D`.
    ///
    /// # Safety
    /// There is a count at `base + D`, in the same allocation, and it stays there meanwhile.
    #[inline(always)]
    pub(super) unsafe fn inc_at<const D: isize>(base: *const u8) {
        // Relaxed: see the module's notes.
        // SAFETY: a count is its atomic, and the caller promises that there is one at that distance.
        if unsafe { inc_negative_at::<D>(base, Relaxed) } {
            cold_path();
            // SAFETY: the caller promises that it is in the same allocation.
            let count = unsafe { base.offset(D) };
            // SAFETY: the caller promises a count there, and it is not freed: it has been saturated (Invariant 4).
            unsafe { &*count.cast::<Self>() }.saturate();
        }
    }

    /// Gives up a reference in the count at `base + D`. `false`: others hold one, and that is all. `true`: the count is at
    /// an edge, and the caller must ask [`Self::is_dead_slow`] at which.
    ///
    /// # Safety
    /// As [`Self::inc_at`].
    #[inline(always)]
    #[must_use = "at an edge somebody has to free the value or saturate the count"]
    pub(super) unsafe fn dec_at<const D: isize>(base: *const u8) -> bool {
        // Release: pairs with the Acquire in `is_dead_slow`, `take_if_sole` and `claim`.
        // SAFETY: a count is its atomic, and the caller promises that there is one at that distance.
        unsafe { dec_negative_at::<D>(base, Release) }
    }

    /// [`Self::inc_at`] for a count at hand.
    #[inline]
    pub(super) fn inc(&self) {
        // SAFETY: this count.
        unsafe { Self::inc_at::<0>((&raw const *self).cast()) };
    }

    /// [`Self::dec_at`] for a count at hand.
    #[inline]
    #[must_use = "at an edge somebody has to free the value or saturate the count"]
    pub(super) fn dec(&self) -> bool {
        // SAFETY: this count.
        unsafe { Self::dec_at::<0>((&raw const *self).cast()) }
    }

    /// After [`Self::dec`] said `true`: whether that was the last reference. Otherwise the count stays saturated.
    #[cold]
    pub(super) fn is_dead_slow(&self) -> bool {
        // Acquire: pairs with the Release in `dec`, everybody's. Reads DEAD if that is what `dec` left,
        // because nothing changes it: `inc_unless_dead` refuses, and for an `inc` nobody holds a reference.
        let dead = self.0.load(Acquire) == DEAD;
        if !dead {
            // The count is there (Invariant 4).
            self.saturate();
        }
        dead
    }

    /// Gives up a reference; `true` if it was the last.
    #[inline]
    pub(super) fn dec_and_test(&self) -> bool {
        self.dec() && self.is_dead_slow()
    }

    /// Counts one more reference unless there is none.
    ///
    /// A loop, because an unconditional increment cannot be taken back: until it is, a second upgrade would see a
    /// reference where there is none and believe in a value that is being destroyed. The wait-free form marks death by a
    /// second read-modify-write of whoever drops last, and taxes every value's end for the sake of upgrades.
    #[inline]
    pub(super) fn inc_unless_dead(&self) -> bool {
        // Relaxed: only a guess for the exchange.
        let mut stored = self.0.load(Relaxed);
        while stored != DEAD {
            // Acquire: pairs with the Release in `revive`, so that a value completed by `new_cyclic` is seen whole.
            match self
                .0
                .compare_exchange_weak(stored, incremented(stored), Acquire, Relaxed)
            {
                Ok(_) => return true,
                Err(now) => stored = now,
            }
        }
        false
    }

    /// From [`SOLE`] to [`DEAD`]: the caller, who holds that one reference, becomes the only one to know of the value.
    pub(super) fn take_if_sole(&self) -> bool {
        // Acquire: pairs with the Release in `dec` of those who held the value before.
        // Relaxed on failure: nothing is done then.
        self.0.compare_exchange(SOLE, DEAD, Acquire, Relaxed).is_ok()
    }

    /// From [`DEAD`] to [`SOLE`], by the only one who knows of the value: `inc_unless_dead` may succeed from here on.
    pub(super) fn revive(&self) {
        // Release: pairs with the Acquire in `inc_unless_dead`.
        self.0.store(SOLE, Release);
    }

    /// From [`SOLE`] to [`CLAIMED`], by the holder of that one reference (Invariant 5).
    #[inline]
    pub(super) fn claim(&self) -> bool {
        // Acquire: pairs with the Release in `dec` of those who held the value before, so that weak references they have
        // made are seen in the weak count. Relaxed on failure: nothing is done then.
        self.0.compare_exchange(SOLE, CLAIMED, Acquire, Relaxed).is_ok()
    }

    /// Whether the caller's claim has not been broken.
    #[inline]
    pub(super) fn is_claimed(&self) -> bool {
        // Relaxed: whoever has broken it and given up its weak reference comes before the caller's look at the weak count,
        // which is Acquire, so this sees it.
        self.0.load(Relaxed) == CLAIMED
    }

    /// From [`CLAIMED`] to [`SOLE`], by who has found that there is no other reference of either kind.
    #[inline]
    pub(super) fn unclaim_alone(&self) {
        // Relaxed: nobody else knows of the value.
        self.0.store(SOLE, Relaxed);
    }

    /// From [`CLAIMED`] to [`SOLE`], unless the claim has been broken.
    #[inline]
    pub(super) fn unclaim(&self) {
        // Relaxed: as a read-modify-write it continues the release sequence of `revive`, and orders nothing else. Fails
        // where it is broken, and then the caller's reference is counted.
        let _ = self.0.compare_exchange(CLAIMED, SOLE, Relaxed, Relaxed);
    }

    /// How many references there are, as of some moment; `usize::MAX` where the count is saturated.
    pub(super) fn get(&self) -> usize {
        // Relaxed: a count that others change at any time orders nothing.
        references(self.0.load(Relaxed))
    }

    /// Inlined although it is cold: one store is less than a call, for which callers would save their registers.
    #[inline]
    fn saturate(&self) {
        // Relaxed: a saturated count frees nothing, so nobody has to be ordered before that. It ends the release
        // sequences of the decrements so far, which nobody will ask for.
        self.0.store(SATURATED, Relaxed);
    }

    /// The atomic itself, for the tests that start at the edges and for the weak count's own state.
    #[inline]
    pub(super) fn atomic(&self) -> &AtomicUsize {
        &self.0
    }
}
