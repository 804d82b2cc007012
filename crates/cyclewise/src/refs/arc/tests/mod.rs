//! Tests of private parts: counts set by hand, and the models under loom.
//!
//! The models run with `RUSTFLAGS="--cfg loom" cargo test -p cyclewise --release --lib`, and alone then, because loom's
//! atomics work inside its models only.

#[cfg(not(loom))]
mod edges;
#[cfg(loom)]
mod models;
#[cfg(loom)]
mod twins;
