//! Outputs of sweeps and recommendations.

mod band;
pub(crate) mod csv;
pub mod html;
pub mod json;
pub(crate) mod table;
