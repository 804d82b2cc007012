//! Pages of simulations.

mod phase;
mod simulation;

pub use cyclewise_report::export::html::*;

use crate::error::Result;
use crate::record::simulation::Simulation;
use crate::simulate::phase::Phase;

/// Renders a simulated sweep.
///
/// # Errors
/// As [`render`].
pub fn render_simulation(simulation: &Simulation) -> Result<String> {
    finish(&simulation::SimulationPage::new(simulation)?)
}

/// Renders a phase diagram.
///
/// # Errors
/// As [`render`].
pub fn render_phase(phase: &Phase) -> Result<String> {
    finish(&phase::PhasePage::new(phase)?)
}
