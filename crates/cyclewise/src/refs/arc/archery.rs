//! archery: [`ArcK`], by which collections that are generic over their pointer use [`Arc`]. Feature `archery`.
//!
//! # Invariants
//! 1. An `ArcK` is the `Arc<T>` that it was made of, for the `T` of `new`, `from_box` or the `clone` that made it.
//!
//! # Safety
//! 1. An `Arc` of a sized value is one pointer (`repr(transparent)`), and so is an `ArcK`.
//! 2. The callers of the unsafe methods pass the `T` of Invariant 1. `drop` is called at most once and last.
#![expect(unsafe_code, reason = "a pointer whose type its user knows")]

use super::Arc;
use ::archery::SharedPointerKind;
use alloc::boxed::Box;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

/// [`Arc`] as archery's kind of pointer: what `SharedPointer<T, ArcK>` points with.
///
/// Persistent collections of rpds and others take the kind as a parameter. With this one they can be sent to other threads, and
/// counting costs what it costs with `Rc` while [`patch`](crate::patch) elides LOCK.
///
/// ```
/// use archery::SharedPointer;
/// use cyclewise::refs::ArcK;
///
/// let one: SharedPointer<String, ArcK> = SharedPointer::new("shared".to_owned());
/// let two = SharedPointer::clone(&one);
/// std::thread::spawn(move || assert_eq!(*two, "shared")).join().unwrap();
/// assert_eq!(SharedPointer::strong_count(&one), 1);
/// ```
#[repr(transparent)]
pub struct ArcK {
    value: NonNull<()>,
}

// SAFETY: no safe function reaches the value. `SharedPointer`, which does, is Send and Sync only if its value is both.
unsafe impl Send for ArcK {}
// SAFETY: as above: no safe function reaches the value.
unsafe impl Sync for ArcK {}

impl ArcK {
    #[inline(always)]
    fn erase<T>(arc: Arc<T>) -> Self {
        let value = ManuallyDrop::new(arc).value.cast();
        Self { value }
    }

    /// # Safety
    /// Safety 2 of the module.
    #[inline(always)]
    unsafe fn arc<T>(&self) -> &Arc<T> {
        // SAFETY: one pointer (Safety 1), of an Arc of this type (Safety 2), borrowed as `self` is.
        unsafe { &*ptr::from_ref(self).cast() }
    }

    /// # Safety
    /// Safety 2 of the module.
    #[inline(always)]
    unsafe fn arc_mut<T>(&mut self) -> &mut Arc<T> {
        // SAFETY: one pointer (Safety 1), of an Arc of this type (Safety 2), borrowed as `self` is.
        unsafe { &mut *ptr::from_mut(self).cast() }
    }

    /// # Safety
    /// Safety 2 of the module.
    #[inline(always)]
    unsafe fn into_arc<T>(self) -> Arc<T> {
        // SAFETY: the unit that the Arc had; an ArcK has no destructor that would give it up.
        unsafe { Arc::from_value(self.value.cast()) }
    }
}

// SAFETY: the methods are those of Arc, which never moves its value, and gives `&mut T` to a sole owner.
unsafe impl SharedPointerKind for ArcK {
    #[inline(always)]
    fn new<T>(value: T) -> Self {
        Self::erase(Arc::new(value))
    }

    #[inline(always)]
    fn from_box<T>(value: Box<T>) -> Self {
        Self::erase(Arc::<T>::from(value))
    }

    #[inline(always)]
    unsafe fn as_ptr<T>(&self) -> *const T {
        self.value.as_ptr().cast()
    }

    #[inline(always)]
    unsafe fn deref<T>(&self) -> &T {
        // SAFETY: Safety 2, of this function's caller.
        unsafe { self.arc() }
    }

    #[inline(always)]
    unsafe fn try_unwrap<T>(self) -> Result<T, Self> {
        // SAFETY: Safety 2, of this function's caller.
        Arc::try_unwrap(unsafe { self.into_arc() }).map_err(Self::erase)
    }

    #[inline(always)]
    unsafe fn get_mut<T>(&mut self) -> Option<&mut T> {
        // SAFETY: Safety 2, of this function's caller.
        Arc::get_mut(unsafe { self.arc_mut() })
    }

    #[inline(always)]
    unsafe fn make_mut<T: Clone>(&mut self) -> &mut T {
        // SAFETY: Safety 2, of this function's caller.
        Arc::make_mut(unsafe { self.arc_mut() })
    }

    #[inline(always)]
    unsafe fn strong_count<T>(&self) -> usize {
        // SAFETY: Safety 2, of this function's caller.
        Arc::strong_count(unsafe { self.arc::<T>() })
    }

    #[inline(always)]
    unsafe fn clone<T>(&self) -> Self {
        // SAFETY: Safety 2, of this function's caller.
        Self::erase(Arc::clone(unsafe { self.arc::<T>() }))
    }

    #[inline(always)]
    unsafe fn drop<T>(&mut self) {
        // SAFETY: Safety 2, of this function's caller: the Arc is not used again.
        unsafe { ptr::from_mut(self).cast::<Arc<T>>().drop_in_place() };
    }
}

impl fmt::Debug for ArcK {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArcK")
    }
}
