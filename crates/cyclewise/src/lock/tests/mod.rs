//! Tests of internals: the word, the nodes, and the loom models.
//!
//! The models run with `RUSTFLAGS="--cfg loom" cargo test -p cyclewise --release --lib`, without the other tests, because loom's
//! atomics work only inside models.

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
