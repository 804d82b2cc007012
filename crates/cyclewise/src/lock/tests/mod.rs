//! Tests that need what users cannot reach: the word, the slots, and the atomics that loom schedules.
//!
//! The models run with `RUSTFLAGS="--cfg loom" cargo test -p cyclewise --release --lib`, and alone then, because loom's
//! atomics work inside its models only.

#[cfg(loom)]
mod kernel;
#[cfg(not(loom))]
mod lock_word;
#[cfg(loom)]
mod models;
#[cfg(all(not(loom), target_os = "linux"))]
mod order;
#[cfg(all(not(loom), target_os = "linux", panic = "unwind"))]
mod panics;
#[cfg(loom)]
mod twins;
