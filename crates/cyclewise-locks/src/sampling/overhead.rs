//! What sampling costs: a sample's cost is measured on this machine before the run, and bounds the rate.
//!
//! A sample costs its interrupt and the record. Loops of known locked instructions are timed with the event off and on, in turn. The
//! difference, by the samples that came, is the cost. The run's overhead is its samples' cost plus the time in which this program read
//! the rings, by the program's time on CPUs. What the counters cost at context switches is not in it.

use super::totals::Totals;
use cyclewise_bench::machine::lock_event::{LockEvent, SampleMeaning, locked_loop};
use cyclewise_bench::sys::affinity;
use cyclewise_bench::sys::perf_record::{Record, parse};
use cyclewise_bench::sys::perf_sampling::{Event, Rate, Spec};
use std::io;
use std::time::{Duration, Instant};

/// The bound on the share of a thread's time that its samples take. With the reading of the rings it stays below 3 %.
const BOUND: f64 = 0.02;
/// A cost to reckon with where none could be measured: an interrupt in a guest that traps for it.
const GUESS_NS: f64 = 10_000.0;
/// The rate at which even a machine with slow interrupts is sampled, or there would be nothing to see.
const LOWEST: u64 = 50;
const LOCKED: u64 = 200_000; // About a millisecond.
const TURNS: usize = 9;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    pub(super) sample_ns: f64,
    pub(super) measured: bool,
}

impl Cost {
    /// Samples a second within the bound.
    pub(super) fn most_per_second(&self) -> u64 {
        let most = (BOUND * 1e9 / self.sample_ns.max(1.0)) as u64;
        most.max(LOWEST)
    }
}

/// What a run's sampling cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// Samples that were taken.
    pub samples: u64,
    /// What one costs, nanoseconds.
    pub sample_ns: f64,
    /// Whether that was measured on this machine, or is a guess.
    pub measured: bool,
    /// Time in which the rings were read, on whichever CPU.
    pub reading_ns: u64,
    /// The program's time on CPUs.
    pub program_ns: u64,
}

impl Overhead {
    pub(super) fn of_sampling(cost: &Cost, samples: u64, reading: Duration, totals: &Totals) -> Self {
        Self {
            samples,
            sample_ns: cost.sample_ns,
            measured: cost.measured,
            reading_ns: reading.as_nanos() as u64,
            program_ns: totals.on_cpu_ns,
        }
    }

    /// The share of the program's time on CPUs.
    pub fn share(&self) -> f64 {
        if self.program_ns == 0 {
            return 0.0;
        }
        (self.samples as f64 * self.sample_ns + self.reading_ns as f64) / self.program_ns as f64
    }
}

/// Measures what a sample of `event` costs.
pub(super) fn calibrate(event: &LockEvent) -> Cost {
    let measured = std::thread::scope(|scope| {
        // A thread of its own, which may be confined to a CPU.
        scope.spawn(|| cost(event)).join().ok().and_then(io::Result::ok)
    });
    match measured {
        Some(sample_ns) if sample_ns.is_finite() && sample_ns > 0.0 => Cost {
            sample_ns,
            measured: true,
        },
        _ => Cost {
            sample_ns: GUESS_NS,
            measured: false,
        },
    }
}

fn cost(event: &LockEvent) -> io::Result<f64> {
    let allowed = affinity::allowed()?;
    let has_it = |cpu: &u32| event.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu));
    let cpu = allowed.into_iter().find(has_it).ok_or(io::ErrorKind::NotFound)?;
    affinity::confine(&[cpu])?;
    let often = Spec {
        rate: Rate::Every(match event.kind {
            SampleMeaning::Ops => 0x4000,
            SampleMeaning::Instructions | SampleMeaning::Speculative => LOCKED / 50,
        }),
        ..event.sampled
    };
    let opened = Event::of_this_thread(&often, Some(cpu))?;
    let mut ring = opened.ring(16)?;
    let mut bytes = Vec::new();
    let (mut off, mut costs) = (Vec::new(), Vec::new());
    locked_loop(event.exercise, LOCKED);
    for _ in 0..TURNS {
        off.push(timed(event));
        opened.enable()?;
        let on = timed(event);
        opened.disable()?;
        bytes.clear();
        ring.drain(&mut bytes);
        let samples = parse(&bytes)
            .iter()
            .filter(|r| matches!(r.record, Record::Sample(_)))
            .count();
        costs.push((on, samples));
    }
    // The least of each: whatever else the machine does makes a turn longer, and none shorter.
    let without = off.into_iter().min().unwrap_or_default().as_nanos() as f64;
    let costs = costs.into_iter().filter(|(_, samples)| *samples > 0);
    let (on, samples) = costs.min().ok_or(io::ErrorKind::NotFound)?;
    Ok((on.as_nanos() as f64 - without) / samples as f64)
}

fn timed(event: &LockEvent) -> Duration {
    let begun = Instant::now();
    locked_loop(event.exercise, LOCKED);
    begun.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_costly_sample_lowers_the_rate_and_never_to_nothing() {
        let at = |sample_ns| {
            Cost {
                sample_ns,
                measured: true,
            }
            .most_per_second()
        };
        assert_eq!(at(2_000.0), 10_000);
        assert_eq!(at(40_000.0), 500);
        assert_eq!(at(1e9), LOWEST);
        assert!(at(0.0) > 1_000_000);
        // The bound holds for a thread that is always on its CPU.
        assert!(at(40_000.0) as f64 * 40_000.0 <= BOUND * 1e9);
    }

    #[test]
    fn an_event_that_cannot_be_opened_is_reckoned_with_a_guess() {
        let mut event = crate::sampling::tests::stand_in();
        event.sampled.pmu = 0x7fff_0000;
        assert_eq!(
            calibrate(&event),
            Cost {
                sample_ns: GUESS_NS,
                measured: false
            }
        );
    }

    #[test]
    fn the_share_is_of_the_programs_time() {
        let overhead = Overhead {
            samples: 1000,
            sample_ns: 2000.0,
            measured: true,
            reading_ns: 1_000_000,
            program_ns: 1_000_000_000,
        };
        assert!((overhead.share() - 0.003).abs() < 1e-12);
        assert_eq!(
            Overhead {
                program_ns: 0,
                ..overhead
            }
            .share(),
            0.0
        );
    }
}
