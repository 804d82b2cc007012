//! The runner's interface to a variant and its experiment.

use crate::error::Result;
use crate::record::Variant;

/// One way of doing an operation, ready for repeated sampling.
pub trait Sampler {
    /// The name scripts use.
    fn name(&self) -> &str;

    /// Bytes of one operation's code, where known.
    fn code_bytes(&self) -> Option<u32> {
        None
    }

    /// Takes one sample, in the experiment's unit.
    ///
    /// # Errors
    /// Only errors that end the run; guards reject disturbed samples.
    fn sample(&mut self) -> Result<Sample>;

    /// A note for the experiment, once every variant has its figures.
    fn finding(&self, _all: &[Variant]) -> Option<String> {
        None
    }
}

/// One sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// The figure, in the experiment's unit.
    pub value: f64,
    /// Other quantities of the same run: name, unit, value. The same names in the same order in every sample.
    pub metrics: Vec<(&'static str, &'static str, f64)>,
}

impl Sample {
    /// A sample with no other quantities.
    pub fn new(value: f64) -> Self {
        Self {
            value,
            metrics: Vec::new(),
        }
    }
}

/// Which disturbances spoil a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// Samples run on this pinned thread alone: spoiled by preemption, migration, steal or a clock that jumps.
    ThisThread,
    /// Samples use any CPU and the scheduler: spoiled by steal or a clock that jumps.
    WholeMachine,
}

/// How the noise floor is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The subject with this index is sampled twice in every round.
    Repeat(usize),
    /// The rounds of the subject with this index are split into odd and even: for samples that cost seconds.
    Split(usize),
}

/// An experiment made ready for this machine.
pub struct Setup {
    /// The variants, in the order of the table.
    pub samplers: Vec<Box<dyn Sampler>>,
    /// Comparisons: (a, b) as indices of `samplers`; the verdict is on a.
    pub compare: Vec<(usize, usize)>,
    /// The A/A control.
    pub control: Control,
    /// Notes for the reader: what could not be run, and why.
    pub notes: Vec<String>,
}
