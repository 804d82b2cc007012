//! Made-up documents of plausible programs, in `tests/documents`.

use super::{Locks, from_str};

/// A program in Rust, whose threads clone and drop an `Arc` for each node that they visit.
pub(crate) fn rust() -> Locks {
    from_str("rust.json", include_str!("../../tests/documents/rust.json")).unwrap()
}

/// A C++ program with one thread, in which libstdc++ never executes LOCK; a signal ended it.
pub(crate) fn cplusplus() -> Locks {
    from_str("cplusplus.json", include_str!("../../tests/documents/cplusplus.json")).unwrap()
}

/// A stripped program on AArch64, sampled, of which no time and no costs are known.
pub(crate) fn aarch64() -> Locks {
    from_str("aarch64.json", include_str!("../../tests/documents/aarch64.json")).unwrap()
}
