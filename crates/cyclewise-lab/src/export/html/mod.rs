//! Pages of simulations.

mod simulation;

pub use cyclewise_report::export::html::*;

use crate::error::Result;
use crate::record::simulation::Simulation;

/// Renders a simulated sweep.
///
/// # Errors
/// As [`render`].
pub fn render_simulation(simulation: &Simulation) -> Result<String> {
    finish(&simulation::SimulationPage::new(simulation)?)
}
