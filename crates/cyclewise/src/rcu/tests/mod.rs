//! Models of the protocol, and twins of it that they catch.

#[cfg(loom)]
mod models;
