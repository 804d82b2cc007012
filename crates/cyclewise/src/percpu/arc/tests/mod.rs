//! The protocol of owner and clones as models, with twins; and storms over the real pointers, with a twin.

mod models;
#[cfg(not(loom))]
mod pointers;
#[cfg(not(loom))]
mod storm;
