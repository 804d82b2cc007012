//! Tests of the locks.

mod owner_word;
mod text_lock;
