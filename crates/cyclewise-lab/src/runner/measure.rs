//! The loop: rounds in which every variant is sampled once, in an order drawn anew from the seed.
//!
//! # Invariants
//! 1. Every round samples every column once: subjects, the A/A control, and where no PMU answers the add chain that
//!    calibrates core cycles. What drifts, drifts for all.
//! 2. A sample is kept or thrown away by its guard alone, and never repeated: round i of one variant answers to round i
//!    of another.
//!
//! # References
//! Interleaving: google/benchmark's --benchmark_enable_random_interleaving (40 % less run-to-run variance).

use super::guard::{Guard, Reason};
use super::timer::Anchor;
use super::{Bench, Budget, Control, Guards, Heading, Sample, Setup, Subject};
use crate::arch::entry;
use crate::error::Result;
use crate::record::Unit;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Rounds between two looks at the precision: looking costs more than a short sample.
const LOOK_EVERY: usize = 8;
/// Untimed samples of each column before the first round.
const WARM_UP_SAMPLES: usize = 2;
/// The pinned CPU is kept busy this long first, so that its clock has risen.
const WARM_UP: Duration = Duration::from_millis(60);

/// Told how far a measurement is.
pub trait Progress {
    /// `share` of the budget is spent; `line` says on what.
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
    /// Told how far it is.
    pub progress: &'a dyn Progress,
}

/// All samples of one variant.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The variant's name.
    pub name: String,
    /// Bytes of one operation's code.
    pub code_bytes: Option<u32>,
    /// One entry a round; `None` where the sample was thrown away.
    pub rounds: Vec<Option<Sample>>,
    /// How many, by reason.
    pub rejected: BTreeMap<Reason, usize>,
}

impl Column {
    /// The figures kept, in the order of their rounds.
    pub fn kept(&self) -> Vec<f64> {
        self.rounds.iter().flatten().map(|s| s.value).collect()
    }
}

/// What came of a [`Setup`].
#[derive(Clone, Debug)]
pub struct Measured {
    /// The subjects, in their order.
    pub columns: Vec<Column>,
    /// The second sampling of the control variant, where it was sampled twice.
    pub again: Option<Column>,
    /// Ticks per dependent add, where no PMU counted.
    pub add_chain: Option<Column>,
    /// Variants that did not reach the budget's precision: name, precision reached.
    pub imprecise: Vec<(String, Option<f64>)>,
    /// The precision that was asked for.
    pub target: f64,
}

impl Runner<'_> {
    /// Measures `setup` within `budget`.
    ///
    /// # Errors
    /// What a subject's `sample` gives.
    pub fn measure(&self, heading: Heading<'_>, setup: &mut Setup, budget: Budget) -> Result<Measured> {
        let ticks = heading.unit == Unit::TicksPerOp;
        let mut calibration = (heading.guards == Guards::ThisThread).then(|| Bench::new().body(entry::ADD_CHAIN));
        let control = match setup.control {
            Control::Repeat(index) => Some(index),
            Control::Split(_) => None,
        };
        let subjects = setup.subjects.len();
        // Columns are numbered: the subjects, then the control's second sampling, then the calibration.
        let sampled: Vec<usize> = (0..subjects)
            .chain(control)
            .chain(calibration.is_some().then_some(usize::MAX))
            .collect();
        let mut columns: Vec<Column> = sampled.iter().map(|_| Column::default()).collect();
        for (column, subject) in columns.iter_mut().zip(&setup.subjects) {
            column.name = subject.name().to_string();
            column.code_bytes = subject.code_bytes();
        }

        let pick = |setup: &mut Setup, calibration: &mut Option<Box<dyn Subject>>, which: usize| match calibration {
            Some(chain) if which == usize::MAX => chain.sample(),
            _ => setup.subjects[which].sample(),
        };
        if heading.guards == Guards::ThisThread {
            spin(WARM_UP);
            for &which in sampled.iter().cycle().take(WARM_UP_SAMPLES * sampled.len()) {
                pick(setup, &mut calibration, which)?;
            }
        }

        let mut guard = Guard::new(heading.guards, self.tsc_hz, self.cpus);
        let pinned = (heading.guards == Guards::ThisThread).then_some(self.cpu);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut order: Vec<usize> = (0..sampled.len()).collect();
        let begun = Instant::now();
        let mut rounds = 0;
        while rounds < budget.most && !out_of_time(begun, rounds, budget) {
            order.shuffle(&mut rng);
            let steal = pinned.and_then(|cpu| guard.steal_ticks(cpu));
            for &at in &order {
                let before = guard.read();
                let sample = pick(setup, &mut calibration, sampled[at])?;
                let after = guard.read();
                columns[at].push(sample, guard.judge(&before, &after));
            }
            if pinned.and_then(|cpu| guard.steal_ticks(cpu)) > steal {
                columns.iter_mut().for_each(Column::reject_last);
            }
            rounds += 1;
            if rounds % LOOK_EVERY == 0 || heading.guards == Guards::WholeMachine {
                let share =
                    (rounds as f64 / budget.most as f64).max(begun.elapsed().as_secs_f64() / budget.time.as_secs_f64());
                self.progress
                    .step(share.min(1.0), &format!("{}: round {rounds}", heading.name));
                if columns[..subjects].iter().all(|c| budget.is_met(&c.kept(), ticks)) {
                    break;
                }
            }
        }

        let add_chain = calibration.and_then(|_| columns.pop());
        let again = control.and_then(|_| columns.pop());
        let imprecise = columns
            .iter()
            .map(|c| (c.name.clone(), Budget::precision(&c.kept(), ticks)))
            .filter(|(_, precision)| budget.target.is_finite() && precision.is_none_or(|p| p > budget.target))
            .collect();
        Ok(Measured {
            columns,
            again,
            add_chain,
            imprecise,
            target: budget.target,
        })
    }
}

impl Column {
    fn push(&mut self, sample: Sample, disturbed: Option<Reason>) {
        match disturbed {
            None => self.rounds.push(Some(sample)),
            Some(reason) => {
                *self.rejected.entry(reason).or_default() += 1;
                self.rounds.push(None);
            }
        }
    }

    /// Throws the last round's sample away after all: the hypervisor's account grew during the round.
    fn reject_last(&mut self) {
        if let Some(last) = self.rounds.last_mut()
            && last.take().is_some()
        {
            *self.rejected.entry(Reason::Stolen).or_default() += 1;
        }
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
    // Two rounds are the least that has a spread.
    if rounds < 2 {
        return false;
    }
    let spent = begun.elapsed();
    spent + spent / rounds as u32 > budget.time
}

/// An end of the ladder for anchors: the rate over a span of at least `span`.
pub fn tick_rate(span: Duration) -> f64 {
    let first = Anchor::now();
    spin(span);
    first.rate_to(Anchor::now())
}
