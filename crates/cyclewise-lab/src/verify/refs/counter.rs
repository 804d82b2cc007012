//! What the checks need of a counter, correct or not.

use cyclewise::refs::{Refcount, Refcount64};

/// A counter under test; counts are widened to 64 bits.
pub(super) trait Counter: Send + Sync {
    const MAX: u64;
    const SATURATED: u64;

    fn new(references: u64) -> Self;
    fn read(&self) -> u64;
    fn inc(&self);
    fn add(&self, n: u64);
    fn inc_not_zero(&self) -> bool;
    fn add_not_zero(&self, n: u64) -> bool;
    fn dec(&self);
    fn dec_and_test(&self) -> bool;
    fn sub_and_test(&self, n: u64) -> bool;
}

macro_rules! counters {
    ($($type:ty: $value:ident, $max:expr, $saturated:expr;)*) => { $(
        impl Counter for $type {
            const MAX: u64 = $max as u64;
            const SATURATED: u64 = $saturated as u64;

            fn new(references: u64) -> Self { <$type>::new(references as $value) }
            fn read(&self) -> u64 { u64::from(self.read()) }
            fn inc(&self) { self.inc() }
            fn add(&self, n: u64) { self.add(n as $value) }
            fn inc_not_zero(&self) -> bool { self.inc_not_zero() }
            fn add_not_zero(&self, n: u64) -> bool { self.add_not_zero(n as $value) }
            fn dec(&self) { self.dec() }
            fn dec_and_test(&self) -> bool { self.dec_and_test() }
            fn sub_and_test(&self, n: u64) -> bool { self.sub_and_test(n as $value) }
        }
    )* };
}

counters! {
    Refcount: u32, Refcount::MAX, Refcount::SATURATED;
    Refcount64: u64, Refcount64::MAX, Refcount64::SATURATED;
}
#[cfg(test)]
pub(super) use counters;
