//! Outputs of sweeps, recommendations and the examination.

mod band;
pub(crate) mod csv;
pub mod html;
pub mod json;
pub(crate) mod table;
