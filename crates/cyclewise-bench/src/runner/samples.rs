//! Samples as they are taken, by variant, and the measurement of a whole setup.

use super::guard::Rejection;
use super::{Budget, Loops, Sample};
use crate::record::{self, FigureKind, Missing, TimedCommand};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Fewer samples than this have no spread.
pub(super) const SPREAD: usize = 2;

/// Rows beyond these that kept too few samples are one entry among the missing.
pub(super) const NAMED_ALONE: usize = 6;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct VariantSamples {
    pub name: String,
    /// Bytes of one operation's code.
    pub code_bytes: Option<u32>,
    /// Whether one copy waits for the one before; `None` if that is not known.
    pub kind: Option<FigureKind>,
    /// The loops behind a sample; `None` if a sample is not a slope.
    pub loops: Option<Loops>,
    /// One entry a round; `None` if the sample was rejected. Shorter than the others' if the variant dropped out.
    pub rounds: Vec<Option<Sample>>,
    /// The number of rejected samples, by reason.
    pub rejected: BTreeMap<Rejection, usize>,
    /// The rejected samples, in the order of their rounds.
    pub rejected_samples: Vec<RejectedSample>,
    /// The command that it is, with the status of each round's run.
    #[serde(default)]
    pub timed: Option<TimedCommand>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RejectedSample {
    pub round: usize,
    /// What it would have been; `None` if sampling failed.
    pub sample: Option<Sample>,
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

    /// The command, with the statuses of the kept samples.
    pub(super) fn timed_command(&self) -> Option<TimedCommand> {
        let timed = self.timed.clone()?;
        let by_round = timed.exit_codes.iter().zip(&self.rounds);
        let kept = by_round.filter(|(_, sample)| sample.is_some()).map(|(code, _)| *code);
        Some(TimedCommand {
            exit_codes: kept.collect(),
            ..timed
        })
    }

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
        let advice = match self.rejected.contains_key(&Rejection::Unsuccessful) {
            true => "find out why the command fails, or keep the times of failed runs by `time --ignore-failure`",
            false => "reduce other load, use another CPU (`taskset -c N`), or allow more time",
        };
        format!(
            "only {} of {} samples were usable ({}); {advice}",
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

    /// Rounds that another process had without this variant.
    fn lost(rounds: usize) -> Self {
        Self {
            rounds: vec![None; rounds],
            ..Self::default()
        }
    }

    /// Puts the rounds of an earlier measurement of the variant, which had so many, before these.
    fn follow(&mut self, mut earlier: Self, rounds: usize) {
        earlier.rounds.resize(rounds, None);
        let (Some(before), Some(now)) = (earlier.loops, self.loops) else {
            return self.append_to(earlier);
        };
        // Loops of other lengths are no batches of this row; loops that run more often are, in proportion.
        let alike = before.copies == now.copies;
        let times = now.iterations as f64 / before.iterations as f64;
        for sample in earlier.rounds.iter_mut().flatten() {
            sample.batches = sample
                .batches
                .filter(|_| alike)
                .map(|b| b.map(|ticks| (ticks as f64 * times) as u64));
        }
        self.append_to(earlier);
    }

    fn append_to(&mut self, mut earlier: Self) {
        let before = earlier.rounds.len();
        earlier.rounds.append(&mut self.rounds);
        for rejected in &mut self.rejected_samples {
            rejected.round += before;
        }
        earlier.rejected_samples.append(&mut self.rejected_samples);
        for (reason, n) in earlier.rejected {
            *self.rejected.entry(reason).or_default() += n;
        }
        (self.rounds, self.rejected_samples) = (earlier.rounds, earlier.rejected_samples);
    }

    fn enter(&mut self, round: usize, sample: Option<Sample>, reason: Rejection) {
        *self.rejected.entry(reason).or_default() += 1;
        let at = self.rejected_samples.partition_point(|r| r.round < round);
        self.rejected_samples
            .insert(at, RejectedSample { round, sample, reason });
    }
}

/// The measurement of a [`Setup`](super::Setup).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measurement {
    /// The samplers, in their order.
    pub columns: Vec<VariantSamples>,
    /// The second sampling of the control variant, if it was sampled twice.
    pub again: Option<VariantSamples>,
    /// Ticks per dependent add, if no PMU counted.
    pub add_chain: Option<VariantSamples>,
    /// Variants that did not reach the budget's precision: name, precision reached.
    pub imprecise: Vec<(String, Option<f64>)>,
    /// The requested precision; infinite if none was.
    #[serde(deserialize_with = "number_or_infinite")]
    pub target: f64,
    /// Variants that were left out, or dropped out (they keep the rounds before that).
    pub missing: Vec<Missing>,
    /// Whether a signal ended it early.
    pub interrupted: bool,
    /// Where the rounds of each process begin: the number of the process, and the round.
    pub parts: Vec<(u32, usize)>,
}

/// What JSON has no number for is written as null.
fn number_or_infinite<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
}

impl Measurement {
    /// The rows that kept too few samples for a figure, of an experiment of this name.
    pub(super) fn too_few(&self, experiment: &str) -> Vec<Missing> {
        let entry = |variant: &str, why: String| Missing {
            experiment: experiment.to_string(),
            variant: Some(variant.to_string()),
            why,
            possible: true,
        };
        // What dropped out by an error is missing for that.
        let dropped = |c: &VariantSamples| {
            let is_named = self.missing.iter().any(|m| m.variant.as_ref() == Some(&c.name));
            is_named || c.rejected.contains_key(&Rejection::Failed)
        };
        let few: Vec<&VariantSamples> = self
            .columns
            .iter()
            .filter(|c| c.kept().len() < SPREAD && !dropped(c))
            .collect();
        match few[..] {
            [first, .., last] if few.len() > NAMED_ALONE => {
                let rows = format!("{} of {} variants", few.len(), self.columns.len());
                let why = format!(
                    "from {} to {}; the first: {}",
                    first.name,
                    last.name,
                    first.why_too_few()
                );
                vec![entry(&rows, why)]
            }
            _ => few.iter().map(|row| entry(&row.name, row.why_too_few())).collect(),
        }
    }

    /// Both measurements as one, whose rounds follow each other: another process of the same run took the `earlier`. The order of the
    /// columns is this one's, so that the indices of its setup hold.
    pub(super) fn follow(&mut self, earlier: Self, ticks: bool) {
        let all = |m: &Self| {
            let columns = m.columns.iter().chain(&m.again).chain(&m.add_chain);
            columns.map(|c| c.rounds.len()).max().unwrap_or(0)
        };
        let rounds = all(&earlier);
        let own = self.parts.drain(..).map(|(part, round)| (part, rounds + round));
        self.parts = earlier.parts.into_iter().chain(own).collect();
        let mut others = earlier.columns;
        for column in &mut self.columns {
            match others.iter().position(|o| o.name == column.name) {
                Some(at) => column.follow(others.remove(at), rounds),
                None => column.append_to(VariantSamples::lost(rounds)),
            }
        }
        // Rows that this process could not make.
        self.columns.extend(others);
        for (own, other) in [
            (&mut self.again, earlier.again),
            (&mut self.add_chain, earlier.add_chain),
        ] {
            match (own.as_mut(), other) {
                (Some(own), Some(other)) => own.follow(other, rounds),
                (Some(own), None) => own.append_to(VariantSamples::lost(rounds)),
                (None, other) => *own = other,
            }
        }
        let precision = self
            .columns
            .iter()
            .map(|c| (c.name.clone(), Budget::precision(&c.kept(), ticks)));
        let missed = |p: Option<f64>| self.target.is_finite() && p.is_none_or(|p| p > self.target);
        self.imprecise = precision.filter(|(_, p)| missed(*p)).collect();
    }
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
    fn a_measurement_that_follows_another_has_the_rounds_of_both() {
        let measured = |columns: &[(&str, u64)]| {
            let column = |&(name, iterations): &(&str, u64)| VariantSamples {
                name: name.to_string(),
                loops: Some(Loops {
                    iterations,
                    copies: [4, 8, 16],
                }),
                ..three()
            };
            Measurement {
                columns: columns.iter().map(column).collect(),
                target: f64::INFINITY,
                parts: vec![(0, 0)],
                ..Measurement::default()
            }
        };
        let mut pooled = measured(&[("b", 16), ("a", 8)]);
        pooled.follow(measured(&[("a", 8), ("b", 8), ("lost", 8)]), true);
        let names: Vec<&str> = pooled.columns.iter().map(|c| &*c.name).collect();
        assert_eq!(
            (names, pooled.parts.clone()),
            (vec!["b", "a", "lost"], vec![(0, 0), (0, 3)])
        );
        let [b, a, lost] = &pooled.columns[..] else { panic!() };
        assert_eq!(
            (a.kept(), a.rounds.len(), a.rejected[&Rejection::Preempted]),
            (vec![1.0, 3.0, 1.0, 3.0], 6, 2)
        );
        assert_eq!(a.rejected_samples.iter().map(|r| r.round).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(b.batches().unwrap().ticks[0], [2, 6, 1, 3], "twice the iterations");
        assert_eq!(lost.rounds.len(), 3, "as a row that dropped out");
        // Loops of other lengths say nothing of these, and a row that is new has lost the rounds before it.
        let mut other = measured(&[("a", 8), ("new", 8)]);
        other.columns[0].loops = Some(Loops {
            iterations: 8,
            copies: [1, 2, 4],
        });
        other.follow(pooled, true);
        assert_eq!((other.columns[0].batches(), other.columns[0].rounds.len()), (None, 9));
        assert_eq!(
            (other.columns[1].rounds.len(), other.columns[1].kept()),
            (9, vec![1.0, 3.0])
        );
        assert!(other.columns[1].rejected_samples[0].round == 7);
    }

    #[test]
    fn a_measurement_reads_back_as_it_was_written() {
        let mut column = three();
        column.push(
            Sample {
                metrics: super::super::metrics([("user", "s", f64::NAN)]),
                probes: vec![f64::NAN],
                ..Sample::new(f64::NAN)
            },
            Some(Rejection::Clock),
        );
        let measured = Measurement {
            columns: vec![column.clone()],
            target: f64::INFINITY,
            imprecise: vec![("a".to_string(), None)],
            ..Measurement::default()
        };
        let text = serde_json::to_string(&measured).unwrap();
        let read: Measurement = serde_json::from_str(&text).unwrap();
        assert_eq!((read.target, &read.imprecise), (f64::INFINITY, &measured.imprecise));
        let read = &read.columns[0];
        assert_eq!((&read.rounds, &read.rejected), (&column.rounds, &column.rejected));
        assert_eq!(read.rejected_samples.len(), 2);
        let last = read.rejected_samples[1].sample.as_ref().unwrap();
        assert!(last.value.is_nan() && last.metrics[0].2.is_nan() && last.probes[0].is_nan());
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
