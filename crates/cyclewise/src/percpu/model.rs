//! What the models run on: loom's threads and atomics; without loom, threads of std and a few hundred rounds.

#[cfg(loom)]
pub(super) use loom::{
    model,
    sync::atomic::{AtomicI64, AtomicU64, AtomicUsize},
    sync::{Arc, Mutex},
    thread,
};
#[cfg(not(loom))]
pub(super) use std::{
    sync::atomic::{AtomicI64, AtomicU64, AtomicUsize},
    sync::{Arc, Mutex},
    thread,
};

#[cfg(not(loom))]
pub(super) fn model(run: impl Fn()) {
    (0..200).for_each(|_| run());
}
