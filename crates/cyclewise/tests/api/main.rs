//! What users see: the atomics beside std's, auto traits, hidden names, and the README.

mod atomics;
mod auto_traits;
mod hidden;
#[path = "../oracle/mod.rs"]
mod oracle;
mod readme;
