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
#[cfg(not(loom))]
mod order;
#[cfg(all(not(loom), panic = "unwind"))]
mod panics;
#[cfg(loom)]
mod twins;
