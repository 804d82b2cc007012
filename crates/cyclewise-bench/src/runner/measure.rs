//! The loop: rounds in which every variant is sampled once, in an order drawn anew from the seed.
//!
//! # Invariants
//! 1. Every round samples every column once: the variants, the A/A control, and without a PMU the add chain that
//!    calibrates core cycles. A drift affects all of them.
//! 2. A sample is kept or rejected by its guard alone, and never repeated: round i of one variant pairs with round i of
//!    another.
//! 3. A variant whose sampling fails drops out; it keeps its rounds so far, and the others go on.
//!
//! # References
//! Interleaving: google/benchmark's --benchmark_enable_random_interleaving (40 % less run-to-run variance).

use super::columns::Columns;
use super::guard::Guard;
use super::samples::{Measurement, SPREAD};
use super::timer::Anchor;
use super::turns::Turns;
use super::{Budget, Guards, Heading, SetupOf, Shape};
use crate::error::{Error, Result};
use crate::record::{Missing, Unit};
use crate::sys::interrupt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::{Duration, Instant};

/// Rounds between two checks of the precision: a check costs more than a short sample.
const LOOK_EVERY: usize = 8;
/// The median of fewer samples has no interval: a measurement that an interrupt ends before is dropped.
const A_FEW: usize = 6;

/// Time beyond the budget's to reach so many rounds, on a machine where they take long.
const GRACE: Duration = Duration::from_millis(2_500);
/// The pinned CPU is kept busy this long first, so that its clock has risen.
const WARM_UP: Duration = Duration::from_millis(60);

/// Receives the progress of a measurement.
pub trait Progress {
    /// `share` of the budget is spent; `line` is the current activity.
    fn step(&self, share: f64, line: &str);

    /// Removes what is drawn, before a line is told.
    fn clear(&self) {}

    /// Some rounds are done; `so_far` makes the measurement of those until now.
    fn round(&self, so_far: &dyn Fn() -> Measurement) {
        let _ = so_far;
    }
}

pub struct Runner<'a> {
    /// The CPU that single-threaded samples are pinned to; the caller has pinned the thread.
    pub cpu: u32,
    /// CPUs the process may use.
    pub cpus: usize,
    /// Ticks per second, good to 1000 ppm.
    pub tsc_hz: f64,
    /// Seeds the order of each round.
    pub seed: u64,
    /// The processes that share the budget.
    pub parts: u32,
    /// Another program that measures the same rows, round by round in turn.
    pub turns: Option<&'a Turns>,
    pub progress: &'a dyn Progress,
}

impl Runner<'_> {
    /// Measures `setup` within `budget`. An interrupt ends it; what it has by then is kept.
    ///
    /// # Errors
    /// The first error of a sampler if no variant could be sampled often enough, if it spoils the others, or if it is of
    /// the first round and the setup says so; an error if a signal has ended the run before there were a few rounds.
    pub fn measure(&self, heading: Heading<'_>, setup: &mut SetupOf<'_>, budget: Budget) -> Result<Measurement> {
        let ticks = heading.unit == Unit::TicksPerOp;
        let alone = heading.guards == Guards::ThisThread;
        let (first_error_ends, least_time) = (setup.first_error_ends, setup.least_time);
        let missing = left_out(heading, setup);
        if setup.samplers.is_empty() {
            return Ok(Measurement {
                missing,
                ..Measurement::default()
            });
        }
        let budget = match &setup.shape {
            #[cfg(feature = "commands")]
            Shape::Matrix(plan) => Budget::of_matrix(plan.rounds, plan.time),
            Shape::Variants | Shape::Guest(_) => budget,
        };
        let budget = Budget {
            time: setup.most_time.map_or(budget.time, |most| most.min(budget.time)),
            ..budget
        };
        let target = budget.target;
        let budget = budget.part(self.parts);
        let mut columns = Columns::new(setup, alone);
        if alone {
            self.in_turn(0, || {
                spin(WARM_UP);
                columns.warm_up()
            })??;
        }
        let mut guard = Guard::new(heading.guards, self.tsc_hz, self.cpus);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let begun = Instant::now();
        let (mut rounds, mut is_met) = (0, false);
        loop {
            let late = is_late(begun.elapsed(), rounds, budget.time, self.parts);
            let goes_on = !is_met && rounds < budget.most && columns.any_left() && !late && !interrupt::asked();
            let other = self.turns.map_or(Ok(true), |turns| turns.exchange(&goes_on))?;
            if !(goes_on && other) {
                break;
            }
            let cpu = alone.then_some(self.cpu);
            self.in_turn(rounds, || columns.round(&mut guard, &mut rng, cpu))??;
            rounds += 1;
            if let Some(error) = columns.first_error().filter(|_| rounds == 1 && first_error_ends) {
                return Err(error.clone());
            }
            if rounds % LOOK_EVERY == 0 || !alone {
                let time = begun.elapsed().as_secs_f64() / budget.time.as_secs_f64();
                let share = time.max(rounds as f64 / budget.most as f64).min(1.0);
                self.progress.step(share, &format!("{}: round {rounds}", heading.name));
                self.progress
                    .round(&|| columns.so_far(heading, missing.clone(), budget));
                is_met = columns.are_met(budget, ticks) && begun.elapsed() >= least_time;
            }
        }
        let interrupted = interrupt::asked();
        // Of whole runs two are worth a record, since they took long.
        let least = if alone { few(self.parts) } else { SPREAD };
        if interrupted && columns.most_kept() < least {
            return Err(Error::check("interrupted"));
        }
        // Where every variant has failed, those that kept samples before are reported, and each error is among the missing.
        let nothing = !columns.any_left() && columns.most_kept() < SPREAD;
        if let Some(error) = columns.first_error().filter(|_| nothing) {
            return Err(error.clone());
        }
        let measured = columns.into_measured(heading, missing, budget);
        Ok(Measurement {
            interrupted,
            target,
            ..measured
        })
    }
}

impl Runner<'_> {
    /// Runs `work` while the program that it takes turns with waits.
    fn in_turn<T>(&self, turn: usize, work: impl FnOnce() -> T) -> Result<T> {
        match self.turns {
            Some(turns) => turns.in_turn(turn, work),
            None => Ok(work()),
        }
    }
}

fn left_out(heading: Heading<'_>, setup: &SetupOf<'_>) -> Vec<Missing> {
    let missing = setup.missing.iter().map(|m| Missing {
        experiment: heading.name.to_string(),
        variant: Some(m.name.clone()),
        why: m.why.clone(),
        possible: m.possible,
    });
    missing.collect()
}

fn spin(span: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < span {
        std::hint::spin_loop();
    }
}

/// A process' part of [`A_FEW`]; a spread needs two.
fn few(parts: u32) -> usize {
    A_FEW.div_ceil(parts.max(1) as usize).max(SPREAD)
}

/// Whether one more round, if it is as long as those before, would end after `time`, or after this part's [`GRACE`] more while there are
/// only a few.
fn is_late(spent: Duration, rounds: usize, time: Duration, parts: u32) -> bool {
    if rounds < SPREAD {
        return false;
    }
    let limit = match rounds < few(parts) {
        true => time.saturating_add(GRACE / parts.max(1)),
        false => time,
    };
    spent + spent / rounds as u32 > limit
}

/// Ticks per second, measured over `span`.
pub fn tick_rate(span: Duration) -> f64 {
    let first = Anchor::now();
    spin(span);
    first.rate_to(Anchor::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_rounds_get_a_little_more_time() {
        let seconds = Duration::from_secs;
        let time = seconds(4);
        let late = |spent: u64, rounds: usize, time: Duration| is_late(seconds(spent), rounds, time, 1);
        assert!(!late(3, 6, time), "half a second more");
        assert!(late(4, 6, time), "six are a few, and the time is over");
        assert!(!late(4, 5, time), "five would have no interval");
        assert!(late(6, 5, time), "but not for ever");
        assert!(!late(600, 1, time), "two in any case");
        assert!(!late(600, 3, Duration::MAX), "no limit");
        assert!(is_late(seconds(4), 2, time, 3), "two of each of three are six");
    }
}
