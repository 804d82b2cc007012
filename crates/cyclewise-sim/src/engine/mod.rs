//! Plays programs out on a machine, event by event.
//!
//! `model` is the machine at work; `issue` and `transfer` hold its laws, `arbiter` and `hold` those a machine chooses among.
//! `cpu` is what a program sees, `meter` what is counted. `events`, `copies`, `geometry`, `timing` and `random` are what these
//! are made of; `law` names what no machine may break, for the tests that break it.

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
mod random;
#[cfg(test)]
mod tests;
mod timing;
mod transfer;

pub(crate) use cpu::{ALL, Backoff, Cpu, Line};
#[cfg(test)]
pub(crate) use law::Law;
pub(crate) use meter::Meter;
pub(crate) use model::{Model, Program};
pub(crate) use timing::Timing;
