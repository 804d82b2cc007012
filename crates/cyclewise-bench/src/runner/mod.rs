//! The measuring loop: variants interleaved in seeded random order, guarded, until they are precise enough.

mod bar;
pub mod barrier;
mod bench;
mod budget;
mod by_ranks;
mod by_state;
#[cfg(feature = "commands")]
mod cell;
mod code_bytes;
mod columns;
mod conclude;
mod cpu_choice;
pub mod crowd;
mod guard;
mod heading;
mod lengths;
#[cfg(feature = "commands")]
mod matrix;
mod measure;
mod metric_comparison;
mod neighbour;
pub mod parts;
mod probe;
mod quantities;
mod sampler;
mod samples;
mod session;
mod setup;
mod slope;
mod stolen;
pub mod timer;
pub mod turns;
mod verdicts;

pub use bar::Bar;
pub use bench::Bench;
pub(crate) use bench::{CALLS, calls};
pub use budget::{Budget, Mode};
#[cfg(feature = "commands")]
pub use cell::CellBench;
#[cfg(feature = "commands")]
pub use cell::{MatrixPlan, Place, Role};
pub use code_bytes::code_bytes;
pub use conclude::{conclude, cycles_per_tick};
pub use cpu_choice::CpuChoice;
pub use guard::Rejection;
pub use heading::Heading;
pub use measure::{Progress, Runner, tick_rate};
pub use metric_comparison::MetricComparison;
pub use parts::Ended;
pub use sampler::{Control, Guards, Loops, Metrics, Sample, Sampler, metrics};
pub use samples::{Measurement, RejectedSample, VariantSamples};
pub use session::{Session, command_line};
pub use setup::{Kinds, MissingVariant, Setup, SetupOf, Shape};
pub(crate) use slope::ticks;
pub use verdicts::{give_verdicts, give_verdicts_by};

/// The metric under which a sample carries the PMU's core cycles per operation.
pub const CORE_CYCLES: &str = "core-cycles";
/// The metric under which a sample carries the PMU's instructions per operation.
pub const INSTRUCTIONS: &str = "instructions";

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;
