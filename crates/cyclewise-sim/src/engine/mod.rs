//! The discrete-event engine that runs programs on a machine.
//!
//! `model` is the machine's state and `thread` that of its threads; `issue` and `transfer` implement the laws of all machines, `arbiter` the one
//! that a machine file chooses. Programs see `cpu`; `meter` counts, and `stationary` tests its series. `store_buffer` is
//! a mechanism that a machine may have. `law` breaks the laws, for tests.

mod access;
mod arbiter;
mod copies;
mod cpu;
mod events;
mod geometry;
mod issue;
mod law;
mod line;
mod meter;
mod model;
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
