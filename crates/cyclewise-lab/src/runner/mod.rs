//! The measuring loop: variants interleaved in seeded random order, guarded, until they are precise enough.

mod aside;
mod budget;
mod column;
mod conclude;
mod guard;
mod judge;
mod length;
mod measure;
mod micro;
mod subject;
pub mod timer;
mod unrolled;

pub use aside::Aside;
pub use budget::{Budget, Mode};
pub use column::{Column, Measured};
pub use conclude::{Heading, conclude, cycles_per_tick};
pub use guard::Reason;
pub use judge::judge;
pub use length::code_bytes;
pub use measure::{Progress, Runner, tick_rate};
pub use micro::Bench;
pub use subject::{Control, Guards, Sample, Setup, Subject};
pub use unrolled::Unrolled;

/// The metric under which a sample carries the PMU's core cycles per operation.
pub const CORE_CYCLES: &str = "core-cycles";
/// The metric under which a sample carries the PMU's instructions per operation.
pub const INSTRUCTIONS: &str = "instructions";

#[cfg(test)]
mod tests;
