//! Machines that are not at hand: sweeps over the simulator, spread over this machine's cores, in parts that can be joined.
//!
//! What is computed here depends on what was asked and on nothing else: not on the number of cores, nor on the parts.

pub mod cores;
pub mod fit;
pub mod join;
pub mod lists;
pub mod machines;
pub mod phase;
pub mod recommend;
pub mod sweep;
