//! A reference count that saturates: past its largest value it stays saturated, and the value it counts is never freed.
//!
//! std's `Arc` aborts the process instead. For a program that forgets references in a loop, a leak of one value is
//! milder, and `no_std` has no way to abort.
//!
//! # States
//! The stored number is one less than the number of references, so that both edges, no reference and too many, are
//! visible in the sign. Read as an `isize`:
//!
//! | stored | state |
//! |---|---|
//! | [`DEAD`], −1 | no reference: the value is destroyed, or not complete yet |
//! | [`SOLE`], 0 | one reference |
//! | n, up to [`MAX`] | n + 1 references |
//! | [`CLAIMED`], −2 | one reference, whose holder is checking for weak ones (strong count only) |
//! | other negative | saturated; the operation that finds it stores [`SATURATED`], the middle of the range |
//!
//! # Invariants
//! 1. The caller of an increment holds a reference until it returns.
//! 2. An operation that leaves the count saturated stores [`SATURATED`] before it returns. Until then it is *in
//!    flight*. Each operation in flight has its own stack frame, so fewer than 2^(BITS − 3) exist at any moment: that
//!    many frames do not fit in the address space, even if signal handlers nest.
//! 3. A count that has been saturated is never [`SOLE`] or [`DEAD`] again. After the first store of [`SATURATED`], the
//!    count is `SATURATED` plus or minus one for each change since the last such store. Each of those changes is by an
//!    operation in flight (had it stored, its store would be the last), so by 2 the count stays saturated. Before the
//!    first store the count is exact, and if it has been saturated, the increment that passed [`MAX`] is in flight and
//!    by 1 holds two references: the one it came with and the one it makes.
//! 4. So memory whose count has been saturated is never freed, and the store of [`SATURATED`] is to valid memory.
//! 5. The holder of the only reference changes the count from [`SOLE`] to [`CLAIMED`] while it borrows that reference
//!    mutably. Only an upgrade can change the count meanwhile; it *breaks* the claim, and there are two references.
//!    While the claimant holds its reference, nobody else can claim. So a count that is still `CLAIMED` after the check
//!    of the weak count has been `CLAIMED` throughout. By 3 a saturated count stays near `SATURATED` and is never
//!    mistaken for a claim.
//!
//! # Memory ordering
//! An increment is relaxed: the caller already holds a reference, and whatever hands the new one to another thread
//! orders the two. A decrement is Release, and the thread that gives up the last reference then loads with Acquire.
//! That load reads the end of the release sequence of every earlier decrement (increments between them are
//! read-modify-writes and continue it), so every use of the value happens before its destruction. It is a load and not
//! a fence, because `ThreadSanitizer` does not model fences; on x86-64 both are free, and the cost is paid once per
//! value.
//!
//! # Cost
//! `inc` and `dec` are one read-modify-write and one branch on its sign: `lock inc; js` and `lock dec; js`.
//!
//! # References
//! Linux `include/linux/refcount.h`: saturation, and the bound from the number of tasks; `lib/rcuref.c`: the count that
//! is one less.
//!
//! # Safety
//! The callers of `inc_at` and `dec_at` guarantee a count at the given distance from the pointer.
#![expect(unsafe_code, reason = "a count by its distance from the value")]

use crate::primitive::cold_path;
use crate::primitive::{AtomicUsize, dec_negative_at, inc_negative_at};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// No reference.
pub(super) const DEAD: usize = usize::MAX;

/// One reference, whose holder is checking whether it is the only one of either kind.
pub(super) const CLAIMED: usize = usize::MAX - 1;

pub(super) const SOLE: usize = 0;

/// The largest exact count.
pub(super) const MAX: usize = isize::MAX as usize;

/// The saturated count: as far from [`DEAD`] as from [`MAX`], so that operations in flight reach neither.
pub(super) const SATURATED: usize = (isize::MIN / 2) as usize;

/// The count after an increment by compare-and-exchange, for a count that is not [`DEAD`].
#[inline]
pub(super) const fn incremented(stored: usize) -> usize {
    // Unsigned, saturated counts and a claimed one are above MAX.
    if stored < MAX {
        return stored + 1;
    }
    cold_path();
    match stored {
        // Breaks the claim: the claimant's reference, and one more.
        CLAIMED => SOLE + 1,
        _ => SATURATED,
    }
}

/// The number of references; `usize::MAX` if saturated.
pub(super) const fn references(stored: usize) -> usize {
    match stored {
        DEAD => 0,
        CLAIMED => 1,
        ..=MAX => stored + 1,
        _ => usize::MAX,
    }
}

#[repr(transparent)]
pub(super) struct Count(AtomicUsize);

impl Count {
    /// A count in one of the states above.
    pub(super) fn new(state: usize) -> Self {
        Self(AtomicUsize::new(state))
    }

    /// Adds a reference to the count at `base + D`. The caller already holds one.
    ///
    /// # Safety
    /// There is a count at `base + D`, in the same allocation, and it stays there meanwhile.
    #[inline(always)]
    pub(super) unsafe fn inc_at<const D: isize>(base: *const u8) {
        // Relaxed: see the module documentation.
        // SAFETY: `Count` is transparent over its atomic, and the caller guarantees one at that distance.
        if unsafe { inc_negative_at::<D>(base, Relaxed) } {
            cold_path();
            // SAFETY: the caller guarantees that it is in the same allocation.
            let count = unsafe { base.offset(D) };
            // SAFETY: the caller guarantees a count there, and it is not freed: it has been saturated (Invariant 4).
            unsafe { &*count.cast::<Self>() }.saturate();
        }
    }

    /// Removes a reference from the count at `base + D`. `false`: others remain. `true`: the count is dead or
    /// saturated, and the caller must call [`Self::is_dead_slow`] to tell which.
    ///
    /// # Safety
    /// As [`Self::inc_at`].
    #[inline(always)]
    #[must_use = "the caller has to free the value or saturate the count"]
    pub(super) unsafe fn dec_at<const D: isize>(base: *const u8) -> bool {
        // SAFETY: `Count` is transparent over its atomic, and the caller guarantees one at that distance.
        unsafe { dec_negative_at::<D>(base, Release) }
    }

    /// [`Self::inc_at`] for this count.
    #[inline]
    pub(super) fn inc(&self) {
        // SAFETY: this count.
        unsafe { Self::inc_at::<0>((&raw const *self).cast()) };
    }

    /// [`Self::dec_at`] for this count.
    #[inline]
    #[must_use = "the caller has to free the value or saturate the count"]
    pub(super) fn dec(&self) -> bool {
        // SAFETY: this count.
        unsafe { Self::dec_at::<0>((&raw const *self).cast()) }
    }

    /// After [`Self::dec`] returned `true`: whether that was the last reference. Otherwise the count stays saturated.
    #[cold]
    pub(super) fn is_dead_slow(&self) -> bool {
        // Acquire: pairs with the Release in every `dec`. Reads DEAD if `dec` left that, because nothing changes it:
        // `inc_unless_dead` fails, and nobody holds a reference that an `inc` needs.
        let dead = self.0.load(Acquire) == DEAD;
        if !dead {
            // The count is there (Invariant 4).
            self.saturate();
        }
        dead
    }

    /// Removes a reference; `true` if it was the last.
    #[inline]
    pub(super) fn dec_and_test(&self) -> bool {
        self.dec() && self.is_dead_slow()
    }

    /// Adds a reference unless there is none.
    ///
    /// A loop, because an unconditional increment cannot be undone: until it is, a second upgrade would see a reference
    /// where there is none, and use a value that is being destroyed. The wait-free form marks death by a second
    /// read-modify-write in the last drop, so every value would pay for upgrades.
    #[inline]
    pub(super) fn inc_unless_dead(&self) -> bool {
        // Relaxed: the exchange checks it.
        let mut stored = self.0.load(Relaxed);
        while stored != DEAD {
            // Acquire: pairs with the Release in `revive`, so that a value completed by `new_cyclic` is fully visible.
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

    /// Changes [`SOLE`] to [`DEAD`]. The caller holds that one reference, and has the only access to the value from
    /// then on.
    pub(super) fn take_if_sole(&self) -> bool {
        // Acquire: pairs with the Release in `dec` of earlier holders. Relaxed on failure: the caller does nothing
        // then.
        self.0.compare_exchange(SOLE, DEAD, Acquire, Relaxed).is_ok()
    }

    /// Changes [`DEAD`] to [`SOLE`]. The caller has the only access to the value; from here on `inc_unless_dead` can
    /// succeed.
    pub(super) fn revive(&self) {
        // Release: pairs with the Acquire in `inc_unless_dead`.
        self.0.store(SOLE, Release);
    }

    /// Changes [`SOLE`] to [`CLAIMED`]. The caller holds that one reference (Invariant 5).
    #[inline]
    pub(super) fn claim(&self) -> bool {
        // Acquire: pairs with the Release in `dec` of earlier holders, so that weak references they made are visible in
        // the weak count. Relaxed on failure: the caller does nothing then.
        self.0.compare_exchange(SOLE, CLAIMED, Acquire, Relaxed).is_ok()
    }

    /// Whether the caller's claim is unbroken.
    #[inline]
    pub(super) fn is_claimed(&self) -> bool {
        // Relaxed: a thread that broke the claim and gave up its weak reference did so before the caller's check of the
        // weak count, which is Acquire, so this load sees it.
        self.0.load(Relaxed) == CLAIMED
    }

    /// Changes [`CLAIMED`] to [`SOLE`]. The caller knows that there is no other reference of either kind.
    #[inline]
    pub(super) fn unclaim_alone(&self) {
        // Relaxed: nobody else can reach the value.
        self.0.store(SOLE, Relaxed);
    }

    /// Changes [`CLAIMED`] to [`SOLE`], unless the claim has been broken.
    #[inline]
    pub(super) fn unclaim(&self) {
        // Relaxed: a read-modify-write continues the release sequence of `revive`, and nothing else needs an order. It
        // fails if the claim was broken, and then the caller's reference is already counted.
        let _ = self.0.compare_exchange(CLAIMED, SOLE, Relaxed, Relaxed);
    }

    /// The number of references at some moment; `usize::MAX` if the count is saturated.
    pub(super) fn get(&self) -> usize {
        // Relaxed: a snapshot that orders nothing.
        references(self.0.load(Relaxed))
    }

    /// Inlined although it is cold: one store is cheaper than a call, for which callers would save their registers.
    #[inline]
    fn saturate(&self) {
        // Relaxed: a saturated count never frees the value, so nothing has to be ordered before that. It ends the
        // release sequences of the earlier decrements, which nobody acquires any more.
        self.0.store(SATURATED, Relaxed);
    }

    /// The atomic itself, for tests that start at its limits and for the weak count.
    #[inline]
    pub(super) fn atomic(&self) -> &AtomicUsize {
        &self.0
    }
}
