//! Tables of sweeps, recommendations and the examination.

mod examination;
mod recommendation;
mod simulation;

pub(crate) use examination::examination;
pub(crate) use recommendation::recommendation;
pub(crate) use simulation::{left_out, simulated, simulation};
