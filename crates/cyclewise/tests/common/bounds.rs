//! Types with only one of `Send` and `Sync`, and a check that a type lacks a bound.
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part")]

/// May be sent and not shared.
pub type Sent = std::cell::Cell<u8>;

/// May be shared and not sent.
pub type Shared = std::sync::MutexGuard<'static, u8>;

/// Compiles only where the type lacks the bound: otherwise the inference is ambiguous.
macro_rules! refuses {
    ($type:ty: $bound:path) => {{
        trait Answer<A> {
            fn here() {}
        }
        impl<T: ?Sized> Answer<()> for T {}
        struct Other;
        impl<T: ?Sized + $bound> Answer<Other> for T {}
        <$type as Answer<_>>::here();
    }};
}
pub(crate) use refuses;
