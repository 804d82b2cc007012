//! Tests of private parts: the word and the nodes. The models are in `loom.rs`.

mod forward;
mod lock_word;
mod order;
#[cfg(panic = "unwind")]
mod panics;
mod sleeping_head;
mod turns;
