//! Reference counts: who still uses a value, and who frees it.

mod arc;
pub mod lockref;
pub mod rcuref;
pub mod refcount;
#[cfg(doctest)]
mod refused;

pub use arc::{Arc, CloneArc, Unsizing, Weak};
pub use lockref::LockRef;
pub use refcount::{Refcount, Refcount64};
