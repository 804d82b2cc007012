//! The measuring loop: variants interleaved in seeded random order, guarded, until they are precise enough.

mod bench;
mod budget;
mod code_bytes;
mod conclude;
mod guard;
mod measure;
mod metric_comparison;
mod sampler;
mod samples;
pub mod timer;
mod verdicts;

pub use bench::Bench;
pub use budget::{Budget, Mode};
pub use code_bytes::code_bytes;
pub use conclude::{Heading, conclude, cycles_per_tick};
pub use guard::Reason;
pub use measure::{Progress, Runner, tick_rate};
pub use metric_comparison::MetricComparison;
pub use sampler::{Control, Guards, Sample, Sampler, Setup};
pub use samples::{Measurement, VariantSamples};
pub use verdicts::give_verdicts;

/// The metric under which a sample carries the PMU's core cycles per operation.
pub const CORE_CYCLES: &str = "core-cycles";
/// The metric under which a sample carries the PMU's instructions per operation.
pub const INSTRUCTIONS: &str = "instructions";

#[cfg(test)]
mod tests;
