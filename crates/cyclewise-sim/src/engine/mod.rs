//! The discrete-event engine that runs programs on a machine.
//!
//! `model` is the machine's state and `thread` that of its threads; `issue` and `transfer` implement the laws of all machines, `arbiter` and
//! `hold` those that a machine file chooses. Programs see `cpu`; `meter` counts, and `stationary` tests its series. `store_buffer` and
//! `prefetch` are mechanisms that a machine may have. `law` breaks the laws, for tests.

mod access;
mod arbiter;
mod copies;
mod cpu;
mod events;
mod geometry;
mod hold;
mod issue;
mod law;
mod line;
mod meter;
mod model;
mod prefetch;
mod random;
mod stationary;
mod store_buffer;
#[cfg(test)]
mod tests;
mod thread;
mod timing;
mod transfer;

pub(crate) use cpu::{ALL, Backoff, Cpu, LineId};
pub(crate) use meter::Meter;
#[cfg(test)]
pub(crate) use model::Law;
pub(crate) use model::Model;
pub(crate) use random::Random;
pub(crate) use thread::Program;
pub(crate) use timing::Timing;
