//! Arcs of slices, and of uninitialized memory.
//!
//! # Safety
//! A slice's memory is allocated for exactly its length, and the length in the pointer never changes.
#![expect(unsafe_code, reason = "values moved and initialized by hand")]

use super::Arc;
use super::allocation;
use super::count::SOLE;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::mem::{ManuallyDrop, MaybeUninit, forget};
use core::ptr::{NonNull, copy_nonoverlapping, slice_from_raw_parts_mut};

/// Memory for `len` values, with counts of one.
fn allocate<T>(len: usize) -> NonNull<[T]> {
    let Ok(layout) = Layout::array::<T>(len) else {
        allocation::too_large()
    };
    NonNull::slice_from_raw_parts(allocation::allocate(layout, SOLE).cast(), len)
}

/// A slice whose first `filled` values are written. Drops them and frees the memory.
struct Filling<T> {
    slice: NonNull<[T]>,
    filled: usize,
}

impl<T> Drop for Filling<T> {
    fn drop(&mut self) {
        let filled = slice_from_raw_parts_mut(self.slice.cast::<T>().as_ptr(), self.filled);
        let memory = FreeOnDrop(self.slice);
        // SAFETY: `filled` values were written, and nobody else has them.
        unsafe { filled.drop_in_place() };
        drop(memory);
    }
}

/// Frees the memory, even if the drop of a value in it panics.
struct FreeOnDrop<T>(NonNull<[T]>);

impl<T> Drop for FreeOnDrop<T> {
    fn drop(&mut self) {
        // SAFETY: made by `allocate`, and nobody else has it.
        unsafe { allocation::free(self.0) };
    }
}

impl<T: Clone> From<&[T]> for Arc<[T]> {
    /// Clones every value, in order, into one allocation. If a clone panics, those before it are dropped.
    ///
    /// # Panics
    /// If a clone panics, or the whole exceeds `isize::MAX` bytes.
    fn from(values: &[T]) -> Self {
        let mut filling = Filling {
            slice: allocate(values.len()),
            filled: 0,
        };
        let start = filling.slice.cast::<T>();
        for (at, value) in values.iter().enumerate() {
            let value = value.clone();
            // SAFETY: `at` is less than the length that was allocated.
            let place = unsafe { start.add(at) };
            // SAFETY: within the allocation, aligned, and not initialized yet.
            unsafe { place.write(value) };
            filling.filled = at + 1;
        }
        let slice = filling.slice;
        forget(filling);
        // SAFETY: every value is written, and the count of 1 is for this Arc.
        unsafe { Self::from_value(slice) }
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    /// Moves the values to an allocation with counts, and frees the vector's.
    fn from(mut values: Vec<T>) -> Self {
        let slice = allocate(values.len());
        // SAFETY: both have space for `len` values, and one of them is new.
        unsafe { copy_nonoverlapping(values.as_ptr(), slice.cast::<T>().as_ptr(), values.len()) };
        // SAFETY: the capacity is at least 0; the values have moved.
        unsafe { values.set_len(0) };
        // SAFETY: every value is written, and the count of 1 is for this Arc.
        unsafe { Self::from_value(slice) }
    }
}

impl<T, const N: usize> TryFrom<Arc<[T]>> for Arc<[T; N]> {
    type Error = Arc<[T]>;

    /// The same reference with the length in the type, if it is `N`.
    fn try_from(slice: Arc<[T]>) -> Result<Self, Arc<[T]>> {
        if slice.len() != N {
            return Err(slice);
        }
        let value = ManuallyDrop::new(slice).value.cast();
        // SAFETY: N values, as just seen, are laid out as an array; the unit is that of `slice`.
        Ok(unsafe { Self::from_value(value) })
    }
}

impl From<Arc<str>> for Arc<[u8]> {
    /// The same reference with the string as its bytes.
    fn from(string: Arc<str>) -> Self {
        let value = ManuallyDrop::new(string).value.as_ptr();
        // SAFETY: from an Arc, so not null; a string is laid out as its bytes.
        let value = unsafe { NonNull::new_unchecked(value as *mut [u8]) };
        // SAFETY: the unit is that of `string`.
        unsafe { Self::from_value(value) }
    }
}

impl<T> Arc<T> {
    /// An uninitialized value: write it by [`Arc::get_mut`], then call [`Arc::assume_init`].
    #[must_use]
    pub fn new_uninit() -> Arc<MaybeUninit<T>> {
        let memory = allocation::allocate(Layout::new::<T>(), SOLE).cast();
        // SAFETY: a MaybeUninit needs no initialization; the count of 1 is for this Arc.
        unsafe { Arc::from_value(memory) }
    }

    /// The same with every byte 0.
    #[must_use]
    pub fn new_zeroed() -> Arc<MaybeUninit<T>> {
        let memory = allocation::allocate(Layout::new::<T>(), SOLE).cast::<MaybeUninit<T>>();
        // SAFETY: new memory of T's layout.
        unsafe { memory.write_bytes(0, 1) };
        // SAFETY: a MaybeUninit may hold any bytes; the count of 1 is for this Arc.
        unsafe { Arc::from_value(memory) }
    }
}

impl<T> Arc<[T]> {
    /// An uninitialized slice.
    ///
    /// # Panics
    /// If the whole exceeds `isize::MAX` bytes.
    #[must_use]
    pub fn new_uninit_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        // SAFETY: a MaybeUninit needs no initialization; the count of 1 is for this Arc.
        unsafe { Arc::from_value(allocate(len)) }
    }

    /// The same with every byte 0.
    ///
    /// # Panics
    /// If the whole exceeds `isize::MAX` bytes.
    #[must_use]
    pub fn new_zeroed_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        let memory = allocate::<MaybeUninit<T>>(len);
        // SAFETY: new memory for so many values.
        unsafe { memory.cast::<MaybeUninit<T>>().write_bytes(0, len) };
        // SAFETY: a MaybeUninit may hold any bytes; the count of 1 is for this Arc.
        unsafe { Arc::from_value(memory) }
    }
}

impl<T> Arc<MaybeUninit<T>> {
    /// The same reference, to the initialized value.
    ///
    /// # Safety
    /// The value has been written.
    #[must_use]
    pub unsafe fn assume_init(self) -> Arc<T> {
        let value = ManuallyDrop::new(self).value.cast();
        // SAFETY: the caller promises that the value is there; the unit is that of `self`.
        unsafe { Arc::from_value(value) }
    }
}

impl<T> Arc<[MaybeUninit<T>]> {
    /// The same reference, to the initialized slice.
    ///
    /// # Safety
    /// Every value has been written.
    #[must_use]
    pub unsafe fn assume_init(self) -> Arc<[T]> {
        let slice = ManuallyDrop::new(self).value;
        let slice = NonNull::slice_from_raw_parts(slice.cast(), slice.len());
        // SAFETY: the caller promises that every value is there; the unit is that of `self`.
        unsafe { Arc::from_value(slice) }
    }
}
