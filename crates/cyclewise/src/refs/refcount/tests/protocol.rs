//! What the checks need of a count, correct or broken.

use super::super::{Refcount, Refcount64};

/// A count of references.
pub(super) trait Protocol: Send + Sync + 'static {
    /// The largest exact count.
    const MAX: u64;

    fn new(references: u64) -> Self;
    fn inc(&self);
    fn inc_old(&self) -> u64;
    fn add(&self, n: u64);
    fn inc_not_zero(&self) -> bool;
    fn dec_and_test(&self) -> bool;
    fn dec_not_one(&self) -> bool;
    fn is_saturated(&self) -> bool;
}

macro_rules! protocols {
    ($($name:ident: $value:ident;)*) => { $(
        impl Protocol for $name {
            const MAX: u64 = $name::MAX as u64;

            fn new(references: u64) -> Self { $name::new(references as $value) }
            fn inc(&self) { self.inc() }
            fn inc_old(&self) -> u64 { self.inc_old().into() }
            fn add(&self, n: u64) { self.add(n as $value) }
            fn inc_not_zero(&self) -> bool { self.inc_not_zero() }
            fn dec_and_test(&self) -> bool { self.dec_and_test() }
            fn dec_not_one(&self) -> bool { self.dec_not_one() }
            fn is_saturated(&self) -> bool { self.is_saturated() }
        }
    )* };
}

protocols! {
    Refcount: u32;
    Refcount64: u64;
}
