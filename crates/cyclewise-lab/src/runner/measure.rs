//! The loop: rounds in which every variant is sampled once, in an order drawn anew from the seed.
//!
//! # Invariants
//! 1. Every round samples every column once: the variants, the A/A control, and without a PMU the add chain that
//!    calibrates core cycles. A drift affects all of them.
//! 2. A sample is kept or rejected by its guard alone, and never repeated: round i of one variant pairs with round i of
//!    another.
//!
//! # References
//! Interleaving: google/benchmark's --benchmark_enable_random_interleaving (40 % less run-to-run variance).

use super::guard::{Guard, Reason};
use super::probe::Probe;
use super::samples::{Measurement, VariantSamples};
use super::timer::Anchor;
use super::{Bench, Budget, Control, Guards, Heading, Sample, Sampler, Setup};
use crate::arch::entry;
use crate::error::{Error, Result};
use crate::record::Unit;
use crate::sys::interrupt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::{Duration, Instant};

/// Rounds between two checks of the precision: a check costs more than a short sample.
const LOOK_EVERY: usize = 8;
/// Untimed samples of each column before the first round.
const WARM_UP_SAMPLES: usize = 2;
/// The pinned CPU is kept busy this long first, so that its clock has risen.
const WARM_UP: Duration = Duration::from_millis(60);

/// Receives the progress of a measurement.
pub trait Progress {
    /// `share` of the budget is spent; `line` is the current activity.
    fn step(&self, share: f64, line: &str);
}

/// Where and how to measure.
pub struct Runner<'a> {
    /// The CPU that single-threaded samples are pinned to; the caller has pinned the thread.
    pub cpu: u32,
    /// CPUs the process may use.
    pub cpus: usize,
    /// Ticks per second, good to 1000 ppm.
    pub tsc_hz: f64,
    /// Seeds the order of each round.
    pub seed: u64,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
}

impl Runner<'_> {
    /// Measures `setup` within `budget`.
    ///
    /// # Errors
    /// Errors of a subject's `sample`; an error if SIGINT has ended the run.
    pub fn measure(&self, heading: Heading<'_>, setup: &mut Setup, budget: Budget) -> Result<Measurement> {
        let ticks = heading.unit == Unit::TicksPerOp;
        let alone = heading.guards == Guards::ThisThread;
        let mut columns = Columns::new(setup, alone);
        if alone {
            spin(WARM_UP);
            columns.warm_up()?;
        }
        let mut guard = Guard::new(heading.guards, self.tsc_hz, self.cpus);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let begun = Instant::now();
        let mut rounds = 0;
        while rounds < budget.most && !out_of_time(begun, rounds, budget) {
            columns.round(&mut guard, &mut rng, alone.then_some(self.cpu))?;
            rounds += 1;
            if interrupt::asked() {
                return Err(Error::check("interrupted"));
            }
            if rounds % LOOK_EVERY == 0 || !alone {
                let time = begun.elapsed().as_secs_f64() / budget.time.as_secs_f64();
                let share = time.max(rounds as f64 / budget.most as f64).min(1.0);
                self.progress.step(share, &format!("{}: round {rounds}", heading.name));
                if columns.subjects().all(|c| budget.is_met(&c.kept(), ticks)) {
                    break;
                }
            }
        }
        Ok(columns.into_measured(budget, ticks))
    }
}

/// The source of a column's samples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The subject with this index.
    Sampler(usize),
    /// The same subject again: the A/A control.
    Again(usize),
    /// The chain of dependent adds.
    AddChain,
}

/// The columns of a measurement in progress.
struct Columns<'a> {
    samplers: &'a mut [Box<dyn Sampler>],
    add_chain: Option<Box<dyn Sampler>>,
    columns: Vec<(Source, VariantSamples)>,
    order: Vec<usize>,
    /// Beside samples of one thread that bring none of their own.
    probe: Option<Probe>,
}

impl<'a> Columns<'a> {
    fn new(setup: &'a mut Setup, alone: bool) -> Self {
        let kinds = setup.kinds;
        let named = |subject: &dyn Sampler| VariantSamples {
            name: subject.name().to_string(),
            code_bytes: subject.code_bytes(),
            kind: kinds
                .iter()
                .find(|(name, _)| *name == subject.name())
                .map(|(_, kind)| *kind),
            loops: subject.loops(),
            ..VariantSamples::default()
        };
        let samplers = setup.samplers.iter().enumerate();
        let mut columns: Vec<_> = samplers.map(|(i, s)| (Source::Sampler(i), named(&**s))).collect();
        if let Control::Repeat(i) = setup.control {
            columns.push((Source::Again(i), VariantSamples::default()));
        }
        // Samples of one pinned thread are of its core's clock.
        if alone {
            columns.push((Source::AddChain, VariantSamples::default()));
        }
        Self {
            samplers: &mut setup.samplers,
            add_chain: alone.then(|| Bench::new().body(entry::ADD_CHAIN)),
            order: (0..columns.len()).collect(),
            probe: alone.then(Probe::for_this_machine),
            columns,
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

    fn warm_up(&mut self) -> Result<()> {
        for _ in 0..WARM_UP_SAMPLES {
            for at in 0..self.columns.len() {
                self.sample(self.columns[at].0)?;
            }
        }
        Ok(())
    }

    /// Samples every column once. `cpu`: where the thread is pinned, if it is.
    fn round(&mut self, guard: &mut Guard, rng: &mut Xoshiro256PlusPlus, cpu: Option<u32>) -> Result<()> {
        self.order.shuffle(rng);
        let steal = cpu.and_then(|cpu| guard.steal_ticks(cpu));
        for i in 0..self.order.len() {
            let at = self.order[i];
            let before = guard.read();
            let sample = self.probed_sample(self.columns[at].0)?;
            let after = guard.read();
            self.columns[at].1.push(sample, guard.disturbance(&before, &after));
        }
        // The account advances in ticks of 10 ms, so it applies to the round and not to one sample.
        if cpu.and_then(|cpu| guard.steal_ticks(cpu)) > steal {
            for (_, column) in &mut self.columns {
                column.reject(column.rounds.len() - 1, Reason::Stolen);
            }
        }
        Ok(())
    }

    fn subjects(&self) -> impl Iterator<Item = &VariantSamples> {
        let of_subjects = self
            .columns
            .iter()
            .filter(|(source, _)| matches!(source, Source::Sampler(_)));
        of_subjects.map(|(_, column)| column)
    }

    fn into_measured(self, budget: Budget, ticks: bool) -> Measurement {
        let missed = |precision: Option<f64>| budget.target.is_finite() && precision.is_none_or(|p| p > budget.target);
        let imprecise = self
            .subjects()
            .map(|c| (c.name.clone(), Budget::precision(&c.kept(), ticks)));
        let mut measured = Measurement {
            imprecise: imprecise.filter(|(_, precision)| missed(*precision)).collect(),
            columns: Vec::new(),
            again: None,
            add_chain: None,
            target: budget.target,
            ..Measurement::default()
        };
        for (source, column) in self.columns {
            match source {
                Source::Sampler(_) => measured.columns.push(column),
                Source::Again(_) => measured.again = Some(column),
                Source::AddChain => measured.add_chain = Some(column),
            }
        }
        measured
    }
}

fn spin(span: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < span {
        std::hint::spin_loop();
    }
}

/// Whether the next round, if it is as long as those before, would end after the budget's time.
fn out_of_time(begun: Instant, rounds: usize, budget: Budget) -> bool {
    // A spread needs at least two rounds.
    if rounds < 2 {
        return false;
    }
    let spent = begun.elapsed();
    spent + spent / rounds as u32 > budget.time
}

/// Ticks per second, measured over `span`.
pub fn tick_rate(span: Duration) -> f64 {
    let first = Anchor::now();
    spin(span);
    first.rate_to(Anchor::now())
}
