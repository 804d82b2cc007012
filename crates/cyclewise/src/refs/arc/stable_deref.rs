//! stable_deref_trait: an `Arc` may move while something refers to its value. Feature `stable_deref_trait`.
//!
//! # Safety
//! 1. The value stands in memory of its own: neither moving the `Arc` nor any method that takes `&Arc` moves or destroys it, and
//!    `deref` does not panic. There is no `DerefMut`.
//! 2. A clone refers to the same value.
#![expect(unsafe_code, reason = "the traits promise a fixed address")]

use super::Arc;
use ::stable_deref_trait::{CloneStableDeref, StableDeref};

// SAFETY: Safety 1.
unsafe impl<T: ?Sized> StableDeref for Arc<T> {}
// SAFETY: Safety 2.
unsafe impl<T: ?Sized> CloneStableDeref for Arc<T> {}
