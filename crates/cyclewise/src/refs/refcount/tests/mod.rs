//! Loom tries every order of the accesses of two threads, on the real counts and on counts with one defect each.
//!
//! They run with `RUSTFLAGS="--cfg loom" cargo test -p cyclewise --release --lib`, and alone then, because loom's
//! atomics work inside its models only.

mod checks;
mod models;
mod protocol;
mod twins;
