//! What cores and homes do beside serving one request after another. Each mechanism is off by default, and has its own switch.

use serde::{Deserialize, Serialize};

/// The mechanisms of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mechanisms {
    /// Stores that a thread buffers while it goes on; they drain in order. A load of what is buffered gets it from there. A
    /// read-modify-write waits until the buffer is empty. 0: a thread waits for each store.
    pub store_buffer: u32,
    /// Additions without a result, of one thread, that may be on their way to the home at a time; they go through the store buffer.
    /// 0: a thread waits for each. It matters only where [`Rmw::Far`](super::Rmw::Far) is the law.
    pub posted_rmws: u32,
    /// Whom a line serves when it arrives at a core, several of whose threads wait to write it.
    pub fill: Fill,
    /// The time that a line takes to become shared when another core reads it, after its arrival there: the home serves no request
    /// in it.
    pub downgrade_cycles: u32,
}

/// Whom a line serves when it arrives at a core, several of whose threads wait to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Each of them, before the line leaves.
    #[default]
    Core,
    /// One of them; the others as long as the line stays.
    Thread,
}
