//! Samples as they are taken, by variant, and the measurement of a whole setup.

use super::guard::Rejection;
use super::{Loops, Sample};
use crate::record::{self, Kind, Missing};
use std::collections::BTreeMap;

/// All samples of one variant.
#[derive(Clone, Debug, Default)]
pub struct VariantSamples {
    /// The variant's name.
    pub name: String,
    /// Bytes of one operation's code.
    pub code_bytes: Option<u32>,
    /// Whether one copy waits for the one before; `None` if that is not known.
    pub kind: Option<Kind>,
    /// The loops behind a sample; `None` if a sample is not a slope.
    pub loops: Option<Loops>,
    /// One entry a round; `None` if the sample was rejected. Shorter than the others' if the variant dropped out.
    pub rounds: Vec<Option<Sample>>,
    /// The number of rejected samples, by reason.
    pub rejected: BTreeMap<Rejection, usize>,
    /// The rejected samples, in the order of their rounds.
    pub rejected_samples: Vec<RejectedSample>,
}

/// A sample that was rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct RejectedSample {
    /// Its round.
    pub round: usize,
    /// What it would have been; `None` if sampling failed.
    pub sample: Option<Sample>,
    /// Why.
    pub reason: Rejection,
}

impl VariantSamples {
    /// The figures kept, in the order of their rounds.
    pub fn kept(&self) -> Vec<f64> {
        self.rounds.iter().flatten().map(|s| s.value).collect()
    }

    /// The stolen share of each kept sample; empty if one is not known.
    pub fn stolen(&self) -> Vec<f64> {
        let shares: Option<Vec<f64>> = self.rounds.iter().flatten().map(|s| s.stolen).collect();
        shares.unwrap_or_default()
    }

    /// The batch times of the kept samples, for the record; `None` if samples are not slopes.
    pub(super) fn batches(&self) -> Option<record::Batches> {
        let loops = self.loops?;
        let mut ticks = [const { Vec::new() }; 3];
        for sample in self.rounds.iter().flatten() {
            for (all, one) in ticks.iter_mut().zip(sample.batches?) {
                all.push(one);
            }
        }
        Some(record::Batches {
            iterations: loops.iterations,
            copies: loops.copies,
            ticks,
        })
    }

    /// The rejected samples, for the record.
    pub(super) fn rejected_entries(&self) -> Vec<record::Rejected> {
        let entry = |r: &RejectedSample| record::Rejected {
            round: r.round,
            value: r.sample.as_ref().map(|s| s.value).filter(|v| v.is_finite()),
            reason: r.reason.as_str().to_string(),
        };
        self.rejected_samples.iter().map(entry).collect()
    }

    /// That too few samples were kept, by which reasons, and what to do.
    pub(super) fn why_too_few(&self) -> String {
        let reasons: Vec<String> = self
            .rejected
            .iter()
            .map(|(r, n)| format!("{n} {}", r.as_str()))
            .collect();
        format!(
            "only {} of {} samples were usable ({}); reduce other load, choose another --cpu, or allow more time",
            self.kept().len(),
            self.rounds.len(),
            if reasons.is_empty() {
                "none rejected".to_string()
            } else {
                reasons.join(", ")
            }
        )
    }

    pub(super) fn push(&mut self, sample: Sample, disturbed: Option<Rejection>) {
        self.rounds.push(Some(sample));
        if let Some(reason) = disturbed {
            self.reject(self.rounds.len() - 1, reason);
        }
    }

    /// Enters that sampling failed in this round.
    pub(super) fn push_failure(&mut self) {
        self.rounds.push(None);
        self.enter(self.rounds.len() - 1, None, Rejection::Failed);
    }

    /// Rejects the sample of `round` afterwards; no effect if it was rejected before.
    pub(super) fn reject(&mut self, round: usize, reason: Rejection) {
        if let Some(sample) = self.rounds.get_mut(round).and_then(Option::take) {
            self.enter(round, Some(sample), reason);
        }
    }

    fn enter(&mut self, round: usize, sample: Option<Sample>, reason: Rejection) {
        *self.rejected.entry(reason).or_default() += 1;
        let at = self.rejected_samples.partition_point(|r| r.round < round);
        self.rejected_samples
            .insert(at, RejectedSample { round, sample, reason });
    }
}

/// The measurement of a [`Setup`](super::Setup).
#[derive(Clone, Debug, Default)]
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
    /// Variants that were left out, dropped out (they keep the rounds before that), or kept too few samples.
    pub missing: Vec<Missing>,
    /// Whether Ctrl-C ended it early.
    pub interrupted: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(value: f64, stolen: Option<f64>) -> Sample {
        let ticks = value as u64;
        Sample {
            batches: Some([ticks, 2 * ticks, 4 * ticks]),
            stolen,
            ..Sample::new(value)
        }
    }

    fn three() -> VariantSamples {
        let mut column = VariantSamples {
            loops: Some(Loops {
                iterations: 8,
                copies: [4, 8, 16],
            }),
            ..VariantSamples::default()
        };
        column.push(sample(1.0, Some(0.5)), None);
        column.push(sample(2.0, Some(0.0)), Some(Rejection::Preempted));
        column.push(sample(3.0, Some(0.25)), None);
        column
    }

    #[test]
    fn the_record_gets_batches_of_kept_samples_and_every_rejected_one() {
        let mut column = three();
        let batches = column.batches().unwrap();
        assert_eq!((batches.iterations, batches.copies), (8, [4, 8, 16]));
        assert_eq!(batches.ticks, [vec![1, 3], vec![2, 6], vec![4, 12]]);
        assert_eq!(column.stolen(), [0.5, 0.25]);
        column.reject(0, Rejection::Stolen);
        column.reject(0, Rejection::Clock);
        column.reject(7, Rejection::Clock);
        column.push_failure();
        let told: Vec<_> = column
            .rejected_entries()
            .into_iter()
            .map(|r| (r.round, r.value, r.reason))
            .collect();
        let expected = [
            (0, Some(1.0), "stolen"),
            (1, Some(2.0), "preempted"),
            (3, None, "failed"),
        ];
        assert_eq!(
            told,
            expected.map(|(round, value, reason)| (round, value, reason.to_string()))
        );
        assert_eq!(column.kept(), [3.0]);
        assert!(column.rejected.values().all(|n| *n == 1), "none is counted twice");
    }

    #[test]
    fn one_unknown_share_makes_all_unknown() {
        let mut column = three();
        column.push(sample(4.0, None), None);
        assert!(column.stolen().is_empty());
    }

    #[test]
    fn a_sample_that_is_no_slope_has_no_batches() {
        let mut column = three();
        column.push(Sample::new(1.0), None);
        assert_eq!(column.batches(), None);
        assert_eq!(VariantSamples::default().batches(), None);
    }
}
