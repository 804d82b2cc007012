//! Tables of sweeps and recommendations.

mod recommendation;
mod simulation;

pub(crate) use recommendation::recommendation;
pub(crate) use simulation::{left_out, off_by, simulated, simulation};
