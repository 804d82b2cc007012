//! What users see: the atomics beside std's, auto traits, hidden names, traits of the mask and the clock, and the README.

mod atomics;
mod auto_traits;
mod hidden;
mod mask_clock_traits;
#[path = "../oracle/mod.rs"]
mod oracle;
mod readme;
