//! `Arc` and `Weak`: std's types, with counts that saturate and LOCK prefixes that can be patched away.
//!
//! [`Arc`] replaces [`std::sync::Arc`](alloc::sync::Arc): names, guarantees and orderings are std's. Its documentation
//! lists the differences.
//!
//! # Memory ordering
//! Dropping a reference happens before the destruction of the value. A successful `get_mut`, `make_mut`, `try_unwrap`
//! or `into_inner` happens after every drop of another reference. Counting a reference orders nothing else. `count` has
//! the proofs.
//!
//! # Fork, signals and priorities
//! No operation waits; it loops only if another thread has changed the count. All of them may run in a signal handler,
//! as far as the allocator and the value's destructor permit, and in a child of fork, where the references of the
//! parent's other threads stay counted. std's `downgrade` waits for a thread inside `get_mut`; this one does not.
//!
//! # Cost
//! `clone` and `drop` are one read-modify-write and one branch that is rarely taken. The pointer is the value's
//! address: `Deref` costs nothing, and the counts are at a fixed distance before the value.
//!
//! # Invariants
//! 1. An `Arc` points at a live value in memory made by [`allocation`], and one unit of its strong count is the `Arc`'s.
//! 2. All strong references together own one unit of the weak count: the memory outlives the value.
//!
//! # Safety
//! The proofs cite these two and those of [`allocation`].
//!
//! # References
//! `library/alloc/src/sync.rs` in rust-lang/rust for the protocol; rust-lang/rust#30031 and #108708 for its overflow.
#![expect(unsafe_code, reason = "ownership by reference count")]

/// Conversions by way of another one.
macro_rules! conversions {
    ($($from:ty => $to:ty: |$value:ident| $arc:expr;)*) => { $(
        impl From<$from> for Arc<$to> {
            fn from($value: $from) -> Self {
                $arc
            }
        }
    )* };
}

mod allocation;
#[cfg(feature = "arc-swap")]
mod arc_swap;
#[cfg(feature = "archery")]
pub(super) mod archery;
#[cfg(feature = "unsize")]
mod coercible;
mod convert;
mod count;
mod cyclic;
#[cfg(feature = "std")]
mod os;
mod raw;
#[cfg(feature = "serde")]
mod serde;
mod slice;
#[cfg(feature = "stable_deref_trait")]
mod stable_deref;
mod traits;
mod unique;
mod unsize;
mod weak;
mod weak_count;

#[cfg(test)]
#[cfg_attr(loom, path = "tests/loom.rs")]
mod tests;

pub use unique::CloneArc;
pub use unsize::Unsizing;
pub use weak::Weak;

use self::allocation::{Counts, STRONG};
use self::count::{Count, SOLE};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::ops::Deref;
use core::pin::Pin;
use core::ptr::{self, NonNull};

/// A thread-safe reference-counted pointer: std's [`Arc`](alloc::sync::Arc), with counts that saturate.
///
/// ```
/// use cyclewise::refs::Arc;
///
/// let mut greeting = Arc::new(String::from("hello"));
/// let other = Arc::clone(&greeting);
/// Arc::make_mut(&mut greeting).push('!');
/// assert_eq!((greeting.as_str(), other.as_str()), ("hello!", "hello"));
/// ```
///
/// It is `Send` and `Sync` only if the value is both:
///
/// ```compile_fail
/// let arc = cyclewise::refs::Arc::new(std::cell::Cell::new(1));
/// std::thread::spawn(move || arc.get());
/// ```
///
/// # Differences from std
/// - A count that passes 2^63 (2^31 if `usize` has 32 bits) saturates and reads as `usize::MAX`. A saturated strong
///   count never destroys the value; a saturated weak count never frees the memory. std aborts the process.
/// - What std builds on unstable features is explicit or missing. An `Arc<T>` becomes an `Arc<dyn Trait>` by
///   [`Arc::unsize`]; `self: Arc<Self>` is not a receiver; an `Arc<&T>` dropped after the `T` does not compile
///   (`may_dangle`); there is no allocator parameter; `make_mut` requires [`CloneArc`].
/// - `==` compares the values even if both sides share one allocation, and collecting an iterator goes through a `Vec`.
/// - `std::task::Wake` works with std's `Arc` only.
///
/// # With other crates
/// Features of the same names implement serde's traits, arc-swap's `RefCnt`, `StableDeref` and `CloneStableDeref`, and unsize's `CoerciblePtr`;
/// for archery there is a type (feature `archery`: `refs::ArcK`).
#[repr(transparent)]
pub struct Arc<T: ?Sized> {
    value: NonNull<T>,
    /// For the drop check: dropping an `Arc<T>` may drop a `T`.
    owns: PhantomData<T>,
}

// SAFETY: any thread that has an Arc can reach the value (Sync) and destroy it (Send); the counts are atomic.
unsafe impl<T: ?Sized + Sync + Send> Send for Arc<T> {}
// SAFETY: `clone` makes another Arc from a shared one, and the same bounds let that one move to another thread.
unsafe impl<T: ?Sized + Sync + Send> Sync for Arc<T> {}

impl<T> Arc<T> {
    /// Allocates memory for the value and moves it there, with one reference.
    ///
    /// # Panics
    /// If the value and its counts together exceed `isize::MAX` bytes.
    #[inline]
    #[must_use]
    pub fn new(value: T) -> Self {
        let memory = allocation::allocate(Layout::new::<T>(), SOLE).cast::<T>();
        // SAFETY: new memory of T's layout.
        unsafe { memory.write(value) };
        // SAFETY: the value is there, and the one reference is this.
        unsafe { Self::from_value(memory) }
    }

    /// Constructs a `Pin<Arc<T>>`: unless `T` is `Unpin`, the value never moves again.
    ///
    /// # Panics
    /// As [`Arc::new`].
    #[must_use]
    pub fn pin(value: T) -> Pin<Self> {
        // SAFETY: no safe function moves the value out of a pinned Arc, and its memory stays until it is dropped.
        unsafe { Pin::new_unchecked(Self::new(value)) }
    }
}

impl<T: ?Sized> Arc<T> {
    /// # Safety
    /// A unit of the strong count is given to the new Arc (Invariant 1).
    #[inline]
    const unsafe fn from_value(value: NonNull<T>) -> Self {
        Self {
            value,
            owns: PhantomData,
        }
    }

    #[inline]
    fn counts(&self) -> &Counts {
        // SAFETY: there while `self` is (Invariants 1 and 2).
        unsafe { allocation::counts(self.value) }
    }

    /// The number of strong references at some moment; `usize::MAX` if the count is saturated.
    ///
    /// Orders nothing (Relaxed).
    #[must_use]
    pub fn strong_count(this: &Self) -> usize {
        this.counts().strong.get()
    }

    /// The number of weak references at some moment; `usize::MAX` if the count is saturated.
    ///
    /// Orders nothing (Relaxed).
    #[must_use]
    pub fn weak_count(this: &Self) -> usize {
        this.counts().weak.get()
    }

    /// Whether both point to the same allocation. Compares addresses only, also for values of size zero.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        ptr::addr_eq(this.value.as_ptr(), other.value.as_ptr())
    }

    /// Makes a weak reference, which keeps the memory and not the value.
    ///
    /// One read-modify-write, without waiting, also in a signal handler. Orders nothing (Relaxed). Past 2^63 references
    /// the count saturates.
    #[must_use = "dropping the reference at once has no effect"]
    pub fn downgrade(this: &Self) -> Weak<T> {
        this.counts().weak.inc();
        // SAFETY: one unit of the weak count was just added for it.
        unsafe { Weak::from_value(this.value) }
    }

    /// Destroys the value and gives up the memory, if no strong reference is left. Takes the address because an
    /// argument of type `Arc` would have to be in memory.
    ///
    /// # Safety
    /// [`Count::dec_at`] has just returned `true` for the strong count of `value`, on behalf of an `Arc`.
    #[cold]
    #[inline(never)]
    unsafe fn drop_slow(value: NonNull<T>) {
        // SAFETY: the counts exist: nobody frees them before this (Invariant 2), or ever if a count is saturated.
        let counts = unsafe { allocation::counts(value) };
        if counts.strong.is_dead_slow() {
            // Gives up the memory even if the value's drop panics.
            // SAFETY: the strong references' unit of the weak count (Invariant 2); there is no strong one left.
            let _weak = unsafe { Weak::from_value(value) };
            // SAFETY: live until here (Invariant 1), and unreachable for others: this was the last reference.
            unsafe { value.drop_in_place() };
        }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    /// Makes another reference to the same value. Orders nothing (Relaxed). Past 2^63 references the count saturates.
    #[inline]
    fn clone(&self) -> Self {
        // SAFETY: the strong count is at this distance (Invariant 1 of `allocation`), and there while `self` is.
        unsafe { Count::inc_at::<STRONG>(self.value.as_ptr().cast_const().cast()) };
        // SAFETY: its unit was just added; a saturated count never frees the value (Invariant 4 of `count`).
        unsafe { Self::from_value(self.value) }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    /// Gives up the reference: Release. The last one acquires what the others released, and destroys the value.
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the strong count is at this distance (Invariant 1 of `allocation`), and there while `self` is.
        if unsafe { Count::dec_at::<STRONG>(self.value.as_ptr().cast_const().cast()) } {
            // SAFETY: `dec_at` has just returned true, and this Arc is not used again.
            unsafe { Self::drop_slow(self.value) };
        }
    }
}

impl<T: ?Sized> Default for Pin<Arc<T>>
where
    Arc<T>: Default,
{
    fn default() -> Self {
        // SAFETY: as in `pin`; the Arc is new.
        unsafe { Pin::new_unchecked(Arc::default()) }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: live while `self` is (Invariant 1), and mutable only for a sole owner that borrows the Arc mutably.
        unsafe { self.value.as_ref() }
    }
}
