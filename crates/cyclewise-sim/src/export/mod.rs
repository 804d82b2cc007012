//! Outputs of sweeps and recommendations.

pub(crate) mod csv;
mod figure;
pub mod html;
pub mod json;
pub(crate) mod table;
