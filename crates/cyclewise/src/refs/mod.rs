//! Reference counts: who still uses a value, and who frees it.

mod arc;

pub use arc::{Arc, CloneArc, Unsizing, Weak};
