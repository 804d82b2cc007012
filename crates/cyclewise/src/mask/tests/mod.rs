//! The protocol against a model kernel, with a signal at every step, and faulty twins of the protocol.

mod kernel;
mod models;
mod twins;
#[cfg(not(loom))]
mod waiters;
