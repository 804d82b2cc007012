//! The traits that pass through to the value.

use super::{Arc, ArcOwner};
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::error::Error;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::panic::{RefUnwindSafe, UnwindSafe};

macro_rules! pass_through {
    ($($pointer:ident),*) => { $(
        // The value does not move with its pointer.
        impl<T> Unpin for $pointer<T> {}
        // A panic leaves the count whole, whatever it leaves of the value.
        impl<T: RefUnwindSafe> UnwindSafe for $pointer<T> {}

        impl<T> AsRef<T> for $pointer<T> {
            fn as_ref(&self) -> &T {
                self
            }
        }

        impl<T> Borrow<T> for $pointer<T> {
            fn borrow(&self) -> &T {
                self
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $pointer<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: fmt::Display> fmt::Display for $pointer<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T> fmt::Pointer for $pointer<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Pointer::fmt(&core::ptr::from_ref::<T>(self), f)
            }
        }

        impl<T: Hash> Hash for $pointer<T> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                (**self).hash(state);
            }
        }

        impl<T: PartialEq> PartialEq for $pointer<T> {
            /// Compares the values, of one owner too: a NaN does not equal itself.
            fn eq(&self, other: &Self) -> bool {
                **self == **other
            }
        }

        impl<T: Eq> Eq for $pointer<T> {}

        impl<T: PartialOrd> PartialOrd for $pointer<T> {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                (**self).partial_cmp(&**other)
            }
        }

        impl<T: Ord> Ord for $pointer<T> {
            fn cmp(&self, other: &Self) -> Ordering {
                (**self).cmp(&**other)
            }
        }

        impl<T: Error> Error for $pointer<T> {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                (**self).source()
            }
        }
    )* };
}

pass_through!(Arc, ArcOwner);

impl<T> From<&ArcOwner<T>> for Arc<T> {
    #[inline(always)]
    fn from(owner: &ArcOwner<T>) -> Self {
        ArcOwner::share(owner)
    }
}

impl<T> From<T> for ArcOwner<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for ArcOwner<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}
