//! `Arc` and `Weak`: std's types on counts that saturate, and whose LOCK prefixes can be patched away.
//!
//! An [`Arc`] can stand in for [`std::sync::Arc`](alloc::sync::Arc): the names, what they promise and the orderings are
//! std's. Its own documentation says what differs.
//!
//! # Memory ordering
//! Dropping a reference happens before the destruction of the value. `get_mut`, `make_mut`, `try_unwrap` and
//! `into_inner` that succeed happen after every drop of another reference. Counting a reference orders nothing else.
//! The proofs are in `count`.
//!
//! # Fork, signals and priorities
//! Nothing waits: an operation loops only where another thread has changed the count. So it may be done in a signal handler
//! (what frees or destroys asks that of the allocator and of the value), and in a child of fork, whatever its parent's threads
//! were doing; their references stay counted there. std's `downgrade` waits for a thread inside `get_mut`; this one does not.
//!
//! # Cost
//! `clone` and `drop` are one read-modify-write and one branch that is not taken. The pointer is the value's own
//! address, so `Deref` costs nothing and the counts are at a fixed distance before it.
//!
//! # References
//! `library/alloc/src/sync.rs` in rust-lang/rust for the protocol; rust-lang/rust#30031 and #108708 for its overflow.
//!
//! # Invariants
//! 1. An `Arc` points at a live value in memory made by [`allocation`], and one unit of its strong count is the `Arc`'s.
//! 2. All strong references together own one unit of the weak count: the memory outlives the value.
//!
//! # Safety
//! The proofs cite these two, and those of [`allocation`].
#![expect(unsafe_code, reason = "ownership by reference count")]

mod allocation;
mod convert;
mod count;
mod cyclic;
mod facade;
#[cfg(feature = "std")]
mod os;
mod raw;
mod slice;
mod traits;
mod unique;
mod unsize;
mod weak;
mod weak_count;

#[cfg(test)]
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

/// A shared owner of a value, counted atomically: std's [`Arc`](alloc::sync::Arc), on counts that saturate.
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
/// It goes to another thread only with what may:
///
/// ```compile_fail
/// let arc = cyclewise::refs::Arc::new(std::cell::Cell::new(1));
/// std::thread::spawn(move || arc.get());
/// ```
///
/// # Differences from std
/// - A count that passes 2^63 (2^31 where `usize` has 32 bits) saturates and reads as `usize::MAX`: the value is never
///   destroyed, or with weak references its memory never freed. std ends the process.
/// - What std gets from unstable features is spelled out or missing. `Arc<T>` does not become `Arc<dyn Trait>` by
///   itself, but by [`Arc::unsize`]; `self: Arc<Self>` is not a receiver; an `Arc<&T>` that is dropped after the `T` is
///   refused (`may_dangle`); there is no allocator parameter; `make_mut` takes what implements
///   [`CloneArc`](super::CloneArc).
/// - `==` looks at the values even if both sides are one allocation, and collecting an iterator goes through a `Vec`.
/// - `std::task::Wake` is of std's own type.
pub struct Arc<T: ?Sized> {
    value: NonNull<T>,
    /// For the drop check: dropping an `Arc<T>` may drop a `T`.
    owns: PhantomData<T>,
}

// SAFETY: the value can be reached (Sync) and destroyed (Send) from any thread that has an Arc; the counts are atomic.
unsafe impl<T: ?Sized + Sync + Send> Send for Arc<T> {}
// SAFETY: from a shared Arc another one is made by `clone`, and the same bounds let that go to another thread.
unsafe impl<T: ?Sized + Sync + Send> Sync for Arc<T> {}

impl<T> Arc<T> {
    /// Moves the value to new memory with one reference to it.
    ///
    /// # Panics
    /// Where the value is so large that with its counts it exceeds `isize::MAX` bytes.
    #[inline]
    #[must_use]
    pub fn new(value: T) -> Self {
        let memory = allocation::allocate(Layout::new::<T>(), SOLE).cast::<T>();
        // SAFETY: new memory of T's layout.
        unsafe { memory.write(value) };
        // SAFETY: the value is there, and the one reference is this.
        unsafe { Self::from_value(memory) }
    }

    /// A value that never moves again: neither its owners nor [`Arc::get_mut`] can take it out, unless it is `Unpin`.
    ///
    /// # Panics
    /// As [`Arc::new`].
    #[must_use]
    pub fn pin(value: T) -> Pin<Self> {
        // SAFETY: nothing safe moves the value out of a pinned Arc, and it stays where it is until it is dropped.
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

    /// How many strong references there are, as of some moment; `usize::MAX` where the count is saturated.
    ///
    /// Orders nothing (Relaxed).
    #[must_use]
    pub fn strong_count(this: &Self) -> usize {
        this.counts().strong.get()
    }

    /// How many weak references there are, as of some moment; `usize::MAX` where the count is saturated.
    ///
    /// Orders nothing (Relaxed).
    #[must_use]
    pub fn weak_count(this: &Self) -> usize {
        this.counts().weak.get()
    }

    /// Whether both point at one allocation. Only addresses are compared, so values without a size are told apart too.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        ptr::addr_eq(this.value.as_ptr(), other.value.as_ptr())
    }

    /// A weak reference to the value: it keeps the memory, and not the value.
    ///
    /// One read-modify-write that waits for nobody, also in a signal handler. Orders nothing (Relaxed). Past 2^63
    /// references the count saturates.
    #[must_use = "a weak reference that is dropped at once was counted for nothing"]
    pub fn downgrade(this: &Self) -> Weak<T> {
        this.counts().weak.inc();
        // SAFETY: one unit of the weak count was just taken for it.
        unsafe { Weak::from_value(this.value) }
    }

    /// Destroys the value and gives up the memory, if there is no strong reference left. Takes the address and not the
    /// `Arc`, which would otherwise have to be in memory.
    ///
    /// # Safety
    /// [`Count::dec_at`] has just returned `true` for the strong count of `value`, on behalf of an `Arc`.
    #[cold]
    #[inline(never)]
    unsafe fn drop_slow(value: NonNull<T>) {
        // SAFETY: there: nobody frees it before this (Invariant 2), or a saturated count never lets anybody.
        let counts = unsafe { allocation::counts(value) };
        if counts.strong.is_dead_slow() {
            // Gives up the memory even if the value's drop panics.
            // SAFETY: the strong references' unit of the weak count (Invariant 2); there is no strong one left.
            let _weak = unsafe { Weak::from_value(value) };
            // SAFETY: live until here (Invariant 1), and nobody else can reach it: this was the last reference.
            unsafe { value.drop_in_place() };
        }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    /// One more reference to the same value. Orders nothing (Relaxed). Past 2^63 references the count saturates.
    #[inline]
    fn clone(&self) -> Self {
        // SAFETY: the strong count is at this distance (Invariant 1 of `allocation`), and there while `self` is.
        unsafe { Count::inc_at::<STRONG>(self.value.as_ptr().cast_const().cast()) };
        // SAFETY: its unit was just counted; a saturated count owes none to anybody (Invariant 3 of `count`).
        unsafe { Self::from_value(self.value) }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    /// Release; the last one acquires what the others released, and destroys the value.
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
        // SAFETY: as for `pin`: nobody else has this Arc.
        unsafe { Pin::new_unchecked(Arc::default()) }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: live while `self` is (Invariant 1), and mutable only for a sole owner who borrows the Arc mutably.
        unsafe { self.value.as_ref() }
    }
}
