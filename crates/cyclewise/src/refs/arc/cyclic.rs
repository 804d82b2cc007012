//! `Arc::new_cyclic`: a value that holds weak references to itself.
//!
//! # Safety
//! Until the value is complete there is no strong reference, so nobody can reach it; the weak count keeps the memory.
#![expect(unsafe_code, reason = "memory that is shared before its value is there")]

use super::Arc;
use super::allocation;
use super::count::DEAD;
use super::weak::Weak;
use core::alloc::Layout;
use core::mem::forget;

impl<T> Arc<T> {
    /// Makes a value that holds weak references to itself. They cannot be upgraded until `make` has returned.
    ///
    /// Release: an upgrade that succeeds sees the whole value.
    ///
    /// # Panics
    /// If `make` panics, and as [`Arc::new`]. The memory is freed with the last of the weak references.
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(make: F) -> Self {
        let memory = allocation::allocate(Layout::new::<T>(), DEAD).cast::<T>();
        // SAFETY: the unit of the weak count that the memory was allocated with.
        let weak = unsafe { Weak::from_value(memory) };
        let value = make(&weak);
        // SAFETY: memory of T's layout, which nobody reads before the next line.
        unsafe { memory.write(value) };
        // SAFETY: the memory is there while `weak` is.
        unsafe { allocation::counts(memory) }.strong.revive();
        // From here on its unit belongs to all strong references together.
        forget(weak);
        // SAFETY: the value is written, and the count of 1 is for this Arc.
        unsafe { Self::from_value(memory) }
    }
}
