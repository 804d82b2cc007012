//! What the formulas are held to: published figures, laws, and rates counted in simulations.

mod laws;
mod published;
mod random;
mod rates;
mod verdicts;
