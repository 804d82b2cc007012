//! What the lock takes from outside: the atomics it sits on, the barriers that stand in for a fence, and its statics.
//!
//! Under `--cfg loom` all of them are loom's, so that its scheduler sees every access and every wait.

#[cfg(not(loom))]
pub(super) use crate::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, fence};
#[cfg(not(loom))]
pub(super) use core::hint::spin_loop;
#[cfg(loom)]
pub(super) use loom::hint::spin_loop;
#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, fence};

/// Ands for the effect alone: one instruction, elidable.
#[cfg(not(loom))]
macro_rules! and {
    ($atomic:expr, $value:expr, $order:expr) => {
        $atomic.and($value, $order)
    };
}
#[cfg(loom)]
macro_rules! and {
    ($atomic:expr, $value:expr, $order:expr) => {
        let _ = $atomic.fetch_and($value, $order);
    };
}
pub(super) use and;

/// Subtracts for the effect alone: one instruction, elidable.
#[cfg(not(loom))]
macro_rules! sub {
    ($atomic:expr, $value:expr, $order:expr) => {
        $atomic.sub($value, $order)
    };
}
#[cfg(loom)]
macro_rules! sub {
    ($atomic:expr, $value:expr, $order:expr) => {
        let _ = $atomic.fetch_sub($value, $order);
    };
}
pub(super) use sub;

/// Stores to a place that others change by read-modify-writes. Loom would let one of those overlook a plain store that
/// comes between its read and its write, which no machine does; it keeps two read-modify-writes apart.
#[cfg(not(loom))]
macro_rules! put {
    ($atomic:expr, $value:expr, $order:expr) => {
        $atomic.store($value, $order)
    };
}
#[cfg(loom)]
macro_rules! put {
    ($atomic:expr, $value:expr, $order:expr) => {
        let _ = $atomic.swap($value, $order);
    };
}
pub(super) use put;
