//! serde: an atomic is its value, as std's are. Feature `serde`.
//!
//! # Memory ordering
//! The value is loaded Relaxed, as serde loads std's.

use super::Ordering;
use super::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize,
};
use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! as_value {
    ($($atomic:ident)*) => { $(
        impl Serialize for $atomic {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.load(Ordering::Relaxed).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $atomic {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Deserialize::deserialize(deserializer).map(Self::new)
            }
        }
    )* };
}

as_value! { AtomicBool AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize }
