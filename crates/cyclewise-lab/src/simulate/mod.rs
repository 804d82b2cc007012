//! Simulating other machines: sweeps spread over this machine's cores, in shards that can be joined.
//!
//! Results depend only on the parameters, not on the number of cores or shards.

pub(crate) mod band;
pub(crate) mod fit;
pub(crate) mod join;
pub(crate) mod lists;
pub(crate) mod machines;
pub(crate) mod recommend;
pub(crate) mod sweep;
pub(crate) mod thread_pool;
