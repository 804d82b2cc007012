//! Reference counts: who still uses a value, and who frees it.

mod arc;
#[cfg(doctest)]
mod compile_fail;
pub mod lockref;
pub mod rcuref;
pub mod refcount;

pub use arc::{Arc, CloneArc, Unsizing, Weak};
pub use lockref::LockRef;
pub use refcount::{Refcount, Refcount64};
