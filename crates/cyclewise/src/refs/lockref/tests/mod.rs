//! Tests of private parts: the word, the reports, and the models under loom.
//!
//! The models run with `RUSTFLAGS="--cfg loom" cargo test -p cyclewise --release --lib`, and alone then, because loom's
//! atomics work inside its models only.

#[cfg(not(loom))]
mod edges;
#[cfg(not(loom))]
mod hysteresis;
#[cfg(not(loom))]
mod load_simulation;
#[cfg(loom)]
mod models;
#[cfg(not(loom))]
mod scripted;
#[cfg(loom)]
mod twins;
