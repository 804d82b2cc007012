//! Simulating other machines: sweeps spread over this machine's cores, in shards that can be joined.
//!
//! Results depend only on the parameters, not on the number of cores or shards.

pub mod fit;
pub mod join;
pub mod lists;
pub mod machines;
pub mod phase;
pub mod recommend;
pub mod sweep;
pub mod thread_pool;
