//! `Arc::new_cyclic`: a value that holds weak references to itself.
//!
//! # Safety
//! Until the value is complete nobody has a strong reference, so nobody can reach it; the memory is kept by the weak
//! count.
#![expect(unsafe_code, reason = "memory that is shared before its value is there")]

use super::Arc;
use super::allocation;
use super::count::DEAD;
use super::weak::Weak;
use core::alloc::Layout;
use core::mem::forget;

impl<T> Arc<T> {
    /// A value that `make` builds around weak references to itself. Until `make` has returned they cannot be upgraded.
    ///
    /// Release: an upgrade that succeeds sees the whole value.
    ///
    /// # Panics
    /// Where `make` does, and as [`Arc::new`]. The memory goes with the last of the weak references.
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(make: F) -> Self {
        let memory = allocation::allocate(Layout::new::<T>(), DEAD).cast::<T>();
        // SAFETY: the one unit of the weak count, which the memory was made with.
        let weak = unsafe { Weak::from_value(memory) };
        let value = make(&weak);
        // SAFETY: memory of T's layout, which nobody reads before the next line.
        unsafe { memory.write(value) };
        // SAFETY: the memory is there while `weak` is.
        unsafe { allocation::counts(memory) }.strong.revive();
        // Its unit is from here on that of all strong references.
        forget(weak);
        // SAFETY: the value is there, and the count of 1 is for this Arc.
        unsafe { Self::from_value(memory) }
    }
}
