//! The protocol against a small kernel, with a signal at every step, and the same with one thing wrong.

mod kernel;
mod models;
mod twins;
