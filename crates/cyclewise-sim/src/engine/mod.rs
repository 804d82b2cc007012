//! The discrete-event engine that runs programs on a machine.
//!
//! `model` is the machine's state; `issue` and `transfer` implement the laws of all machines, `arbiter` and `hold` those that a
//! machine file chooses. Programs see `cpu`; `meter` counts. `stationary` tests its series. `store_buffer` and `prefetch` are mechanisms that a machine may have. `events`, `copies`, `geometry`, `timing` and `random` are parts of
//! these; `law` names the laws of all machines, for tests that break them.

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
mod timing;
mod transfer;

pub(crate) use cpu::{ALL, Backoff, Cpu, Line};
#[cfg(test)]
pub(crate) use law::Law;
pub(crate) use meter::Meter;
pub(crate) use model::{Model, Program};
pub(crate) use random::Random;
pub(crate) use timing::Timing;
