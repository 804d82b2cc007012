//! Tables of simulations and of lists.

mod examination;
mod list;
mod recommendation;
mod simulation;

pub(crate) use cyclewise_report::export::table::*;
pub(crate) use examination::examination;
pub(crate) use list::{experiments, verification};
pub(crate) use recommendation::recommendation;
pub(crate) use simulation::{simulated, simulation};
