//! serde: an `Arc` is its value, a `Weak` is an option of it, as std's with serde's feature `rc`. Feature `serde`.
//!
//! Two references to one value are written twice, and read as two values with one reference each. A `Weak` is read as one
//! that refers to nothing, whatever was written.

use super::Arc;
use super::weak::Weak;
use alloc::boxed::Box;
use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

impl<T: Serialize + ?Sized> Serialize for Arc<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: ?Sized> Deserialize<'de> for Arc<T>
where
    Box<T>: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::deserialize(deserializer).map(Self::from)
    }
}

impl<T: Serialize + ?Sized> Serialize for Weak<T> {
    /// The value, if it still exists.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.upgrade().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Weak<T> {
    /// Reads an option of a value and drops it: nothing would own the value.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<T>::deserialize(deserializer)?;
        Ok(Self::new())
    }
}
