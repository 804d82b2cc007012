//! Samples as they are taken, by variant, and the measurement of a whole setup.

use super::Sample;
use super::guard::Reason;
use std::collections::BTreeMap;

/// All samples of one variant.
#[derive(Clone, Debug, Default)]
pub struct VariantSamples {
    /// The variant's name.
    pub name: String,
    /// Bytes of one operation's code.
    pub code_bytes: Option<u32>,
    /// One entry a round; `None` if the sample was rejected.
    pub rounds: Vec<Option<Sample>>,
    /// The number of rejected samples, by reason.
    pub rejected: BTreeMap<Reason, usize>,
}

impl VariantSamples {
    /// The figures kept, in the order of their rounds.
    pub fn kept(&self) -> Vec<f64> {
        self.rounds.iter().flatten().map(|s| s.value).collect()
    }

    pub(super) fn push(&mut self, sample: Sample, disturbed: Option<Reason>) {
        match disturbed {
            None => self.rounds.push(Some(sample)),
            Some(reason) => {
                *self.rejected.entry(reason).or_default() += 1;
                self.rounds.push(None);
            }
        }
    }

    /// Rejects the last round's sample afterwards: steal grew during the round.
    pub(super) fn reject_last(&mut self) {
        if let Some(last) = self.rounds.last_mut()
            && last.take().is_some()
        {
            *self.rejected.entry(Reason::Stolen).or_default() += 1;
        }
    }
}

/// The measurement of a [`Setup`](super::Setup).
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The samplers, in their order.
    pub columns: Vec<VariantSamples>,
    /// The second sampling of the control variant, if it was sampled twice.
    pub again: Option<VariantSamples>,
    /// Ticks per dependent add, if no PMU counted.
    pub add_chain: Option<VariantSamples>,
    /// Variants that did not reach the budget's precision: name, precision reached.
    pub imprecise: Vec<(String, Option<f64>)>,
    /// The requested precision.
    pub target: f64,
}
