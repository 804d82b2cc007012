//! Comparisons in words: one, or all of an experiment. No sentence claims more than its verdict.

mod finding;
mod growth;
mod lengths;
mod limit;
#[cfg(any(test, feature = "testing"))]
pub mod made_up;
mod summary;

pub use finding::Finding;
pub use growth::{growth, law};
pub use limit::{LimitedRow, SlowerLimit};
pub use summary::summary;
