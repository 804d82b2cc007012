//! The columns of a measurement in progress: what is sampled in every round, and which of them have dropped out.
//!
//! # Invariants
//! 1. Entry r of a column's rounds is round r: a column that drops out has no entries after that, and the others go on.

use super::guard::{Guard, Rejection};
use super::probe::Probe;
use super::samples::{Measurement, VariantSamples};
use super::stolen::{self, StealInRound};
use super::{Bench, Budget, Control, Guards, Heading, Sample, Sampler, SetupOf};
use crate::arch::entry;
use crate::error::{Error, Result};
use crate::record::{Missing, Unit};
use crate::sys::interrupt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::Range;

/// Untimed samples of each column before the first round.
const WARM_UP_SAMPLES: usize = 2;

/// Samples between two readings of the CPU's steal: a few milliseconds of samples of one thread, and the reading is short
/// beside them.
const STEAL_EVERY: usize = 16;

/// The source of a column's samples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The subject with this index.
    Sampler(usize),
    /// The same subject again: the A/A control.
    Again(usize),
    AddChain,
}

impl Source {
    /// Whether one cannot be sampled where the other cannot.
    fn shares_sampler(self, other: Self) -> bool {
        use Source::{Again, Sampler};
        match (self, other) {
            (Sampler(a) | Again(a), Sampler(b) | Again(b)) => a == b,
            _ => self == other,
        }
    }
}

#[derive(Clone)]
struct Column {
    source: Source,
    samples: VariantSamples,
    /// An error has ended its sampling.
    dropped: bool,
}

impl Column {
    fn new(source: Source, samples: VariantSamples) -> Self {
        Self {
            source,
            samples,
            dropped: false,
        }
    }
}

/// The columns of a measurement in progress.
pub(super) struct Columns<'a, 's> {
    samplers: &'a mut [Box<dyn Sampler + 's>],
    add_chain: Option<Box<dyn Sampler>>,
    columns: Vec<Column>,
    order: Vec<usize>,
    /// Beside samples of one thread that bring none of their own.
    probe: Option<Probe>,
    /// The errors after which a column was not sampled again, with its name.
    errors: Vec<(String, Error)>,
    rounds: usize,
}

impl<'a, 's> Columns<'a, 's> {
    /// The columns of `setup`. `alone`: its samples are of one pinned thread.
    pub(super) fn new(setup: &'a mut SetupOf<'s>, alone: bool) -> Self {
        let kinds = setup.kinds;
        let named = |subject: &dyn Sampler| VariantSamples {
            name: subject.name().to_string(),
            code_bytes: subject.code_bytes(),
            kind: kinds.of_row(subject.name()),
            loops: subject.loops(),
            ..VariantSamples::default()
        };
        let samplers = setup.samplers.iter().enumerate();
        let mut columns: Vec<_> = samplers
            .map(|(i, s)| Column::new(Source::Sampler(i), named(&**s)))
            .collect();
        if let Control::Repeat(i) = setup.control {
            columns.push(Column::new(Source::Again(i), VariantSamples::default()));
        }
        // Core cycles are those of the pinned thread's core.
        if alone {
            columns.push(Column::new(Source::AddChain, VariantSamples::default()));
        }
        Self {
            samplers: &mut setup.samplers,
            add_chain: alone.then(|| Bench::new().body(entry::ADD_CHAIN)),
            order: (0..columns.len()).collect(),
            columns,
            probe: alone.then(Probe::for_this_machine),
            errors: Vec::new(),
            rounds: 0,
        }
    }

    fn sample(&mut self, source: Source) -> Result<Sample> {
        match (source, &mut self.add_chain) {
            (Source::Sampler(i) | Source::Again(i), _) => self.samplers[i].sample(),
            (Source::AddChain, Some(chain)) => chain.sample(),
            (Source::AddChain, None) => Ok(Sample::default()),
        }
    }

    /// A sample with a probe before and after it, unless it has probes of its own.
    fn probed_sample(&mut self, source: Source) -> Result<Sample> {
        let before = self.probe.map(Probe::read);
        let mut sample = self.sample(source)?;
        if sample.probes.is_empty() {
            sample.probes = before.into_iter().chain(self.probe.map(Probe::read)).collect();
        }
        Ok(sample)
    }

    /// Samples each column, untimed.
    ///
    /// # Errors
    /// An error that spoils the other columns.
    pub(super) fn warm_up(&mut self) -> Result<()> {
        for _ in 0..WARM_UP_SAMPLES {
            for at in 0..self.columns.len() {
                if self.columns[at].dropped || interrupt::asked() {
                    continue;
                }
                if let Err(error) = self.sample(self.columns[at].source) {
                    self.drop_out(at, error)?;
                }
            }
        }
        Ok(())
    }

    /// Samples every column once, but for those that have dropped out; less after an interrupt. `cpu`: where the thread
    /// is pinned, if it is.
    ///
    /// # Errors
    /// An error that spoils the other columns.
    pub(super) fn round(&mut self, guard: &mut Guard, rng: &mut Xoshiro256PlusPlus, cpu: Option<u32>) -> Result<()> {
        self.order.shuffle(rng);
        let mut steal = StealInRound::new(cpu.and_then(|cpu| guard.steal_ticks(cpu)));
        for i in 0..self.order.len() {
            let at = self.order[i];
            if interrupt::asked() {
                break;
            }
            if i > 0 && i % STEAL_EVERY == 0 {
                self.reject_stolen(steal.read(i, cpu.and_then(|cpu| guard.steal_ticks(cpu))));
            }
            if self.columns[at].dropped {
                continue;
            }
            let before = guard.read();
            match self.probed_sample(self.columns[at].source) {
                Ok(sample) => {
                    let after = guard.read();
                    let stolen = guard.stolen(&before, &after);
                    let unsuccessful = sample.unsuccessful.then_some(Rejection::Unsuccessful);
                    let disturbed = unsuccessful.or(guard.disturbance(&before, &after));
                    self.columns[at].samples.push(Sample { stolen, ..sample }, disturbed);
                }
                // The signal may have ended what was sampled, too.
                Err(_) if interrupt::asked() => break,
                Err(error) => {
                    self.columns[at].samples.push_failure();
                    self.drop_out(at, error)?;
                }
            }
        }
        let all = self.order.len();
        self.reject_stolen(steal.read(all, cpu.and_then(|cpu| guard.steal_ticks(cpu))));
        self.rounds += 1;
        Ok(())
    }

    /// Rejects this round's samples at these places of its order.
    fn reject_stolen(&mut self, places: Range<usize>) {
        for &at in &self.order[places] {
            self.columns[at].samples.reject(self.rounds, Rejection::Stolen);
        }
    }

    /// Samples no column of this one's sampler again.
    fn drop_out(&mut self, at: usize, error: Error) -> Result<()> {
        let source = self.columns[at].source;
        let sampler = match source {
            Source::Sampler(i) | Source::Again(i) => Some(&self.samplers[i]),
            Source::AddChain => self.add_chain.as_ref(),
        };
        if sampler.is_some_and(|s| s.spoils_the_others()) {
            return Err(error);
        }
        let name = sampler.map_or(String::new(), |s| s.name().to_string());
        self.errors.push((name, error));
        for column in &mut self.columns {
            column.dropped |= column.source.shares_sampler(source);
        }
        Ok(())
    }

    fn subjects(&self) -> impl Iterator<Item = &Column> {
        subjects(&self.columns)
    }

    /// Whether a variant can still be sampled.
    pub(super) fn any_left(&self) -> bool {
        self.subjects().any(|c| !c.dropped)
    }

    /// The error if one has dropped out.
    pub(super) fn first_error(&self) -> Option<&Error> {
        self.errors.first().map(|(_, error)| error)
    }

    /// Whether every variant that can still be sampled needs no more.
    pub(super) fn are_met(&self, budget: Budget, ticks: bool) -> bool {
        let mut left = self.subjects().filter(|c| !c.dropped);
        left.all(|c| budget.is_met(&c.samples.kept(), ticks))
    }

    /// The most samples that a variant has kept, including those that have dropped out.
    pub(super) fn most_kept(&self) -> usize {
        let kept = self.subjects().map(|c| c.samples.kept().len());
        kept.max().unwrap_or(0)
    }

    pub(super) fn so_far(&self, heading: Heading<'_>, missing: Vec<Missing>, budget: Budget) -> Measurement {
        self.measured(self.columns.clone(), heading, missing, budget)
    }

    pub(super) fn into_measured(mut self, heading: Heading<'_>, missing: Vec<Missing>, budget: Budget) -> Measurement {
        let columns = std::mem::take(&mut self.columns);
        self.measured(columns, heading, missing, budget)
    }

    fn measured(
        &self,
        mut columns: Vec<Column>,
        heading: Heading<'_>,
        missing: Vec<Missing>,
        budget: Budget,
    ) -> Measurement {
        if heading.guards == Guards::WholeMachine {
            let mut samples: Vec<_> = columns.iter_mut().map(|c| &mut c.samples).collect();
            stolen::reject_far(&mut samples);
        }
        for Column { source, samples, .. } in &mut columns {
            if let Source::Sampler(i) = *source {
                samples.timed = self.samplers[i].timed();
            }
        }
        let ticks = heading.unit == Unit::TicksPerOp;
        let missed = |precision: Option<f64>| budget.target.is_finite() && precision.is_none_or(|p| p > budget.target);
        let imprecise =
            subjects(&columns).map(|c| (c.samples.name.clone(), Budget::precision(&c.samples.kept(), ticks)));
        let mut measured = Measurement {
            imprecise: imprecise.filter(|(_, precision)| missed(*precision)).collect(),
            target: budget.target,
            missing,
            ..Measurement::default()
        };
        let entry = |variant: &str, why: String| Missing {
            experiment: heading.name.to_string(),
            variant: Some(variant.to_string()),
            why,
            possible: true,
        };
        for (name, error) in &self.errors {
            measured.missing.push(entry(name, error.message.clone()));
        }
        for Column { source, samples, .. } in columns {
            match source {
                Source::Sampler(_) => measured.columns.push(samples),
                Source::Again(_) => measured.again = Some(samples),
                Source::AddChain => measured.add_chain = Some(samples),
            }
        }
        measured
    }
}

fn subjects(columns: &[Column]) -> impl Iterator<Item = &Column> {
    columns.iter().filter(|c| matches!(c.source, Source::Sampler(_)))
}

#[cfg(test)]
mod tests;
