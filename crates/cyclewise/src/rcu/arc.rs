//! A cell of a `refs::Arc`.
//!
//! # Safety
//! The invariants of `cell`.
#![expect(unsafe_code, reason = "an Arc by its address, in a section that keeps it")]

use super::cell::{Pointer, Rcu, Scope, sealed};
use crate::refs::Arc;

impl<T> sealed::Sealed for Arc<T> {}

impl<T: Send + Sync + 'static> Pointer<T> for Arc<T> {
    fn into_raw(self) -> *mut T {
        Self::into_raw(self).cast_mut()
    }

    unsafe fn from_raw(raw: *mut T) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::from_raw(raw) }
    }
}

impl<T: Send + Sync + 'static, S: Scope> Rcu<T, Arc<T>, S> {
    /// A reference to the value that outlives the section.
    pub fn load_arc(&self, guard: &S::Guard<'_>) -> Arc<T> {
        let value = core::ptr::from_ref(self.load(guard));
        // SAFETY: from `into_raw`; the section keeps the reference that the cell had.
        unsafe { Arc::increment_strong_count(value) };
        // SAFETY: the reference just counted.
        unsafe { Arc::from_raw(value) }
    }
}
