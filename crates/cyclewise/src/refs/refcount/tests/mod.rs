//! Every order of the accesses of two threads, tried by loom on the real counts, and on counts with one thing wrong.
//!
//! They run with `RUSTFLAGS="--cfg loom" cargo test -p cyclewise --release --lib`, and alone then, because loom's
//! atomics work inside its models only.

mod checks;
mod models;
mod protocol;
mod twins;
