//! The measuring loop: variants interleaved in seeded random order, guarded, until they are precise enough.

mod subject;

pub use subject::{Control, Guards, Sample, Setup, Subject};
