//! Tests that need what users cannot reach: counts set by hand, and the atomics that loom schedules.
//!
//! The models run with `RUSTFLAGS="--cfg loom" cargo test -p cyclewise --release --lib`, and alone then, because loom's
//! atomics work inside its models only.

#[cfg(not(loom))]
mod edges;
#[cfg(loom)]
mod models;
#[cfg(loom)]
mod twins;
