//! The traits that pass through an `Arc` to its value.

use super::Arc;
use super::weak::Weak;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::error::Error;
use core::ffi::CStr;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::panic::{RefUnwindSafe, UnwindSafe};

// The value does not move with its Arc.
impl<T: ?Sized> Unpin for Arc<T> {}
impl<T: ?Sized> Unpin for Weak<T> {}
// A panic leaves the counts whole, whatever it leaves of the value.
impl<T: RefUnwindSafe + ?Sized> UnwindSafe for Arc<T> {}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&Self::as_ptr(self), f)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    /// Compares the values, of one allocation too: a NaN does not equal itself.
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }

    fn lt(&self, other: &Self) -> bool {
        **self < **other
    }

    fn le(&self, other: &Self) -> bool {
        **self <= **other
    }

    fn gt(&self, other: &Self) -> bool {
        **self > **other
    }

    fn ge(&self, other: &Self) -> bool {
        **self >= **other
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Error> Error for Arc<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        (**self).source()
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Default for Arc<[T]> {
    /// The slice of nothing.
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl Default for Arc<str> {
    /// The empty string.
    fn default() -> Self {
        Self::from("")
    }
}

impl Default for Arc<CStr> {
    /// The empty string.
    fn default() -> Self {
        Self::from(c"")
    }
}
