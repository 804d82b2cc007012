//! [`Arc`]: a shared pointer whose clones and drops are counted on each CPU, while its [`ArcOwner`] lives.
//!
//! It is for few objects that many threads clone: a configuration, a schema, the handle of a runtime. For many objects, each of a
//! few threads, [`refs::Arc`](crate::refs::Arc) or std's is smaller and its last drop costs less.
//!
//! # States
//! Those of [`Ref`](super::Ref), whose initial reference is the owner's. While the owner lives, the count is in the CPUs' words, and no
//! drop checks for 0. When it is dropped, the rest is counted in one word, and whoever takes that to 0 destroys the value, at once
//! and on that thread. Where the kernel has no membarrier(2), the one word counts from the beginning.
//!
//! # What std's has and this has not
//! - `strong_count` and `get_mut`: nobody knows the count while the owner lives. Use [`ArcOwner::into_inner`] or [`Arc::into_inner`].
//! - `downgrade`: weak references would need a count in a word that all threads change, which is what this type avoids. To look up
//!   an object that may be gone, lend the owner, or keep the clones where they can be taken away.
//! - A value without a size: `Arc<Box<dyn Trait>>`.
//!
//! # Memory ordering
//! Everything that happened before a drop happens before the value is destroyed. A clone orders nothing.
//!
//! # Cost
//! A clone and a drop are a sequence each: an addition to the CPU's word, and a comparison of the guard with 0. `Deref` costs nothing.
//! The owner's drop is a membarrier(2), which interrupts every CPU that runs the process. Memory: 128 bytes before the value, whose size is
//! rounded up to 128, and 8 bytes in each slot (see [`percpu`](super)).
//!
//! # Signals, forks, threads
//! A signal handler may clone, and drop where that is not the last reference or where the value may be destroyed and freed there. It must not
//! drop the owner, which waits. A child of a fork has the count as it was: references of threads that it does not have are never
//! dropped, so the value is never destroyed there.
//!
//! # Invariants
//! 1. The owner has the initial reference; each `Arc` has one that a successful get took. The value and the words live until the last put.
//! 2. So a get by whoever has a reference succeeds, unless 2^61 references are forgotten: at one a nanosecond, after 73 years.
//!
//! # Safety
//! The proofs cite these and the invariants of `reference::protocol`, by which one caller is told of the last put.
#![expect(unsafe_code, reason = "ownership by reference count")]

#[cfg(all(test, feature = "std"))]
mod tests;
mod traits;

use super::reference::{RefWords, protocol};
use super::remote;
use super::variable::or_end;
use crate::error::Refusal;
use crate::sys::process;
use alloc::boxed::Box;
use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::{self, NonNull};

struct Shared<T> {
    words: RefWords,
    value: T,
}

/// The owner of a shared value: while it lives, clones of its [`Arc`]s are counted on each CPU.
///
/// It is `Send` and `Sync` only if the value is both, as is [`Arc`]:
///
/// ```compile_fail
/// let owner = cyclewise::percpu::ArcOwner::new(std::cell::Cell::new(1));
/// std::thread::spawn(move || owner.get());
/// ```
///
/// A drop while clones are left waits until no thread counts on its CPU any more, and leaves the value to them. If the kernel forbids that by
/// now (a filter that was installed since refuses membarrier(2)), the value is leaked, and standard error says why.
pub struct ArcOwner<T> {
    shared: NonNull<Shared<T>>,
    owns: PhantomData<Shared<T>>,
}

/// A clone of a shared value, made from its [`ArcOwner`] or from another clone.
///
/// # Examples
/// ```
/// use cyclewise::percpu::{Arc, ArcOwner};
///
/// let owner = ArcOwner::new(String::from("schema"));
/// let first = ArcOwner::share(&owner);
/// let second = first.clone();
/// drop(owner);
/// assert_eq!(Arc::into_inner(first), None, "the second is left");
/// assert_eq!(Arc::into_inner(second).as_deref(), Some("schema"));
/// ```
pub struct Arc<T> {
    shared: NonNull<Shared<T>>,
    owns: PhantomData<Shared<T>>,
}

// SAFETY: a value that any thread can reach (Sync) and destroy (Send); the words are for any thread.
unsafe impl<T: Send + Sync> Send for ArcOwner<T> {}
// SAFETY: a shared owner makes clones, which may move to another thread by the same bounds.
unsafe impl<T: Send + Sync> Sync for ArcOwner<T> {}
// SAFETY: a value that any thread can reach (Sync) and destroy (Send); the words are for any thread.
unsafe impl<T: Send + Sync> Send for Arc<T> {}
// SAFETY: a shared clone makes others, which may move to another thread by the same bounds.
unsafe impl<T: Send + Sync> Sync for Arc<T> {}

impl<T> ArcOwner<T> {
    /// Moves the value to new memory. Without memory, it calls the handler of allocation errors, as `Box::new` does.
    #[must_use]
    pub fn new(value: T) -> Self {
        or_end(Self::try_new(value), Layout::new::<u64>(), "a shared pointer's count")
    }

    /// Moves the value to new memory.
    ///
    /// # Errors
    /// As of [`PerCpu::try_new`](super::PerCpu::try_new); the value is dropped. If the heap has no memory, it calls the handler of
    /// allocation errors.
    pub fn try_new(value: T) -> Result<Self, Refusal> {
        let words = RefWords::try_new(remote::can_restart())?;
        let shared = Box::new(Shared { words, value });
        Ok(Self {
            shared: NonNull::from(Box::leak(shared)),
            owns: PhantomData,
        })
    }

    /// Makes a clone, as `Arc::from(&owner)`.
    #[inline]
    #[must_use]
    pub fn share(this: &Self) -> Arc<T> {
        // SAFETY: the owner has a reference (Invariant 1).
        unsafe { Arc::get(this.shared) }
    }

    /// Lets go of the value, and returns it if no clone is left; `None` leaves it to the clones. Waits as the drop does.
    ///
    /// # Errors
    /// The kernel forbids membarrier(2) by now. The owner is returned, and all is as before.
    pub fn into_inner(this: Self) -> Result<Option<T>, (Self, Refusal)> {
        let this = ManuallyDrop::new(this);
        // SAFETY: its reference is given up here, or the owner is returned.
        match unsafe { let_go(this.shared) } {
            // SAFETY: this was the last reference.
            Ok(is_last) => Ok(is_last.then(|| unsafe { take(this.shared) })),
            Err(refusal) => Err((ManuallyDrop::into_inner(this), refusal)),
        }
    }
}

impl<T> Arc<T> {
    /// Gives the reference up, and returns the value if it was the last one. Of several threads that give up all references so, after
    /// the owner did, exactly one gets it.
    #[must_use = "the value is dropped at once"]
    pub fn into_inner(this: Self) -> Option<T> {
        let this = ManuallyDrop::new(this);
        // SAFETY: its reference, which is not used again.
        let is_last = unsafe { put(this.shared) };
        // SAFETY: this was the last reference.
        is_last.then(|| unsafe { take(this.shared) })
    }

    /// Whether both are clones of one owner.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        ptr::eq(this.shared.as_ptr(), other.shared.as_ptr())
    }

    /// Takes a reference.
    ///
    /// # Safety
    /// The caller has a reference meanwhile.
    #[inline(always)]
    unsafe fn get(shared: NonNull<Shared<T>>) -> Self {
        // SAFETY: there while the caller has a reference (Invariant 1).
        let words = unsafe { &(*shared.as_ptr()).words };
        if !protocol::try_get(words) {
            too_many();
        }
        Self {
            shared,
            owns: PhantomData,
        }
    }
}

/// Ends a process whose count would overflow (Invariant 2).
#[cold]
fn too_many() -> ! {
    process::abort_saying(b"cyclewise: a percpu::Arc has 2^61 clones; some code forgets them\n")
}

/// Puts a reference; true if it was the last.
///
/// # Safety
/// The caller has one, and does not use it again.
#[inline(always)]
unsafe fn put<T>(shared: NonNull<Shared<T>>) -> bool {
    // SAFETY: there until the put, which uses them last in its atomic access (Invariant 1).
    protocol::put(unsafe { &(*shared.as_ptr()).words })
}

/// Puts the owner's reference; true if it was the last.
///
/// # Errors
/// As [`ArcOwner::into_inner`]; the reference is still there.
///
/// # Safety
/// The caller is the owner, and does not use its reference again where this is no error.
unsafe fn let_go<T>(shared: NonNull<Shared<T>>) -> Result<bool, Refusal> {
    // SAFETY: there until the put (Invariant 1).
    let words = unsafe { &(*shared.as_ptr()).words };
    protocol::kill(words)?;
    Ok(protocol::put_shared(words))
}

/// The value, whose memory is freed.
///
/// # Safety
/// The caller has put the last reference.
unsafe fn take<T>(shared: NonNull<Shared<T>>) -> T {
    // SAFETY: of `Box::leak`, and nobody else refers to it.
    unsafe { Box::from_raw(shared.as_ptr()) }.value
}

/// Destroys the value and frees its memory, also if the value's drop panics.
///
/// # Safety
/// As [`take`].
#[cold]
#[inline(never)]
unsafe fn destroy<T>(shared: NonNull<Shared<T>>) {
    // SAFETY: of `Box::leak`, and nobody else refers to it.
    drop(unsafe { Box::from_raw(shared.as_ptr()) });
}

impl<T> Clone for Arc<T> {
    /// An addition to the CPU's word. Orders nothing.
    #[inline(always)]
    fn clone(&self) -> Self {
        // SAFETY: `self` has a reference (Invariant 1).
        unsafe { Self::get(self.shared) }
    }
}

impl<T> Drop for Arc<T> {
    /// A subtraction from the CPU's word. After the owner's drop, the last one destroys the value.
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: its reference, which is not used again.
        if unsafe { put(self.shared) } {
            // SAFETY: this was the last reference.
            unsafe { destroy(self.shared) };
        }
    }
}

impl<T> Drop for ArcOwner<T> {
    fn drop(&mut self) {
        // SAFETY: the owner's reference, which is not used again: an error leaks the value.
        match unsafe { let_go(self.shared) } {
            // SAFETY: this was the last reference.
            Ok(true) => unsafe { destroy(self.shared) },
            Ok(false) => {}
            Err(refusal) => process::say(format_args!(
                "cyclewise: a value that percpu::ArcOwner shares is leaked: {refusal}\n"
            )),
        }
    }
}

impl<T> Deref for ArcOwner<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: live while `self` is (Invariant 1), and never borrowed mutably.
        unsafe { &(*self.shared.as_ptr()).value }
    }
}

impl<T> Deref for Arc<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: live while `self` is (Invariant 1), and never borrowed mutably.
        unsafe { &(*self.shared.as_ptr()).value }
    }
}
