//! Reference counts: pointers that count, counters alone, and a count with a lock.

mod arc;
pub mod lockref;
pub mod rcuref;
pub mod refcount;

#[cfg(feature = "archery")]
pub use arc::archery::ArcK;
pub use arc::{Arc, CloneArc, Unsizing, Weak};
pub use lockref::LockRef;
pub use refcount::{Refcount, Refcount64};
