//! A row of a group: calibrated, then a sampler of the runner.
//!
//! How a row is sampled depends on what a call takes:
//! - below [`UNROLLED_BELOW_NS`]: a slope over unrolled calls, unless each has an input;
//! - up to [`SLOPE_BELOW_NS`], or [`INPUTS_SLOPE_BELOW_NS`] where calls have inputs: a slope over numbers of calls in one loop;
//! - longer: the time of as many calls as take [`SPAN_NS`], down to one;
//! - on several threads: operations in a span of time.

use super::body::Body;
use super::caught::caught;
use super::together::Together;
use super::watch;
use crate::arch::Length;
use crate::error::{Error, Result};
use crate::record::{TimedCommand, Variant};
use crate::runner::crowd::Crowd;
use crate::runner::{Bench, Loops, Sample, Sampler};
use crate::sys::allocations::{self, Allocated};
use crate::sys::usage;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Longer calls are not unrolled: the loop around one is a hundredth of them, and the compiler may inline a longer function into
/// four copies and not into eight, which are two functions and not one cost.
const UNROLLED_BELOW_NS: f64 = 40.0;

/// Calls that take longer are no slope: 140 of them, which a slope needs, would take a millisecond.
const SLOPE_BELOW_NS: f64 = 7_000.0;

/// The same of calls with inputs: a loop of four times the calls holds four times the inputs, which a cache may hold no longer, so that
/// its calls cost more. All samples of such a row hold equally many, unless so many take longer than [`MAKING`].
const INPUTS_SLOPE_BELOW_NS: f64 = 400.0;

/// The least time of a sample that is no slope: the stamps are a thousandth of it.
const SPAN_NS: f64 = 50_000.0;

/// A sample that takes longer is preempted sooner or later wherever it runs, so preemption must not reject it.
const LONG_NS: f64 = 3_000_000.0;

/// The most inputs that exist at once for the shortest loop; the longest has four times as many.
const MOST_INPUTS: u64 = 256;

/// Making the inputs of a batch may take this long.
const MAKING: Duration = Duration::from_millis(2);

/// The first calls, whose quickest is what a call takes: the first of all faults pages in, and any may lose its CPU for milliseconds.
const FIRST_CALLS: usize = 3;

/// No further first call begins after this time: calls are long.
const FIRST_TIME: Duration = Duration::from_millis(50);

/// How long threads work for a sample.
const CROWD_SPAN: Duration = Duration::from_millis(10);

pub(super) enum Work<'b> {
    /// On the measuring thread.
    Alone(Box<dyn Body + 'b>),
    /// On this many threads.
    Crowd(Rc<dyn Together + 'b>, usize),
}

/// A row before it is measured.
pub(super) struct Row<'b> {
    pub(super) name: String,
    pub(super) member: String,
    /// The function's parameter, or its number of threads.
    pub(super) parameter: Option<usize>,
    pub(super) work: Work<'b>,
}

impl<'b> Row<'b> {
    pub(super) fn new(member: String, parameter: Option<usize>, work: Work<'b>) -> Self {
        Self {
            name: parameter.map_or_else(|| member.clone(), |n| format!("{member}/{n}")),
            member,
            parameter,
            work,
        }
    }
}

/// A row whose cost is roughly known.
pub(super) struct Calibrated<'b> {
    pub(super) work: Work<'b>,
    /// Whether a sample loses its CPU wherever it runs, so that this must not reject it: it takes long, or its calls block.
    pub(super) long: bool,
    pub(super) way: Way,
    /// What a call allocates, if allocations are counted.
    pub(super) allocated: Option<[f64; 2]>,
}

/// How a row is sampled. All processes of a run do it as the first: other numbers of calls touch other caches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Way {
    /// A slope over unrolled calls, of loops of this many iterations.
    Unrolled(u64),
    /// A slope over numbers of calls, of which the least is this.
    Slope(u64),
    /// The time of this many calls.
    Calls(u64),
    /// Threads for a while.
    Crowd,
}

/// Runs one call of the row, and nothing else.
pub(super) fn once(work: &mut Work<'_>, name: &str) -> std::result::Result<Allocated, String> {
    watch::row(name);
    let call = || match work {
        Work::Alone(body) => body.once(),
        Work::Crowd(together, _) => {
            together.once();
            Allocated::default()
        }
    };
    watch::watched(|| caught(call))
}

/// Finds out how to sample a row.
pub(super) fn calibrate<'b>(
    mut work: Work<'b>,
    name: &str,
    bench: &Bench,
    tsc_hz: f64,
) -> std::result::Result<Calibrated<'b>, String> {
    let Work::Alone(body) = &mut work else {
        once(&mut work, name)?;
        return Ok(Calibrated {
            work,
            long: true,
            way: Way::Crowd,
            allocated: None,
        });
    };
    watch::row(name);
    let (mut call_ns, mut with_input_ns, mut waits) = (f64::INFINITY, f64::INFINITY, u64::MAX);
    let first = Instant::now();
    for _ in 0..FIRST_CALLS {
        let (begun, waited) = (Instant::now(), usage::voluntary_switches());
        let ticks = watch::watched(|| caught(|| body.repeat(1)))?;
        waits = waits.min(usage::voluntary_switches() - waited);
        with_input_ns = with_input_ns.min(begun.elapsed().as_nanos() as f64);
        call_ns = call_ns.min(ticks as f64 * 1e9 / tsc_hz);
        if first.elapsed() > FIRST_TIME {
            break;
        }
    }
    let way = match calls(call_ns, body.has_inputs().then_some(with_input_ns)) {
        Some(calls) => Way::Calls(calls),
        None => watch::watched(|| caught(|| slope(&mut **body, bench, tsc_hz)))?,
    };
    // The making of inputs counts: it is part of a sample, though not of its time.
    let blocks = waits > 0;
    let long = blocks || matches!(way, Way::Calls(calls) if calls as f64 * call_ns > LONG_NS);
    let allocated = match allocations::are_counted() {
        true => {
            let used = once(&mut work, name)?;
            Some([used.calls as f64, used.bytes as f64])
        }
        false => None,
    };
    Ok(Calibrated {
        work,
        long,
        way,
        allocated,
    })
}

/// The calls of a sample that is no slope, of calls that take so long alone and with the making of their input; `None` for a slope.
fn calls(call_ns: f64, with_input_ns: Option<f64>) -> Option<u64> {
    let calls = ((SPAN_NS / call_ns.max(1.0)).ceil() as u64).next_power_of_two();
    let fit = with_input_ns.is_some_and(|ns| calls as f64 * ns < MAKING.as_nanos() as f64);
    let slope_below = if fit { INPUTS_SLOPE_BELOW_NS } else { SLOPE_BELOW_NS };
    (call_ns > slope_below).then_some(calls)
}

/// The slope of a short call.
fn slope(body: &mut dyn Body, bench: &Bench, tsc_hz: f64) -> Way {
    let calls = iterations(body, bench);
    let call_ns = body.repeat(calls) as f64 * 1e9 / tsc_hz / calls as f64;
    match body.copies() > 0 && call_ns < UNROLLED_BELOW_NS {
        true => Way::Unrolled(bench.iterations(1 << 40, &mut |length, n| body.batch(length, n))),
        false => Way::Slope(calls),
    }
}

/// Iterations of the shortest loop; fewer than long enough where the inputs are many, or take long to make.
fn iterations(body: &mut dyn Body, bench: &Bench) -> u64 {
    let mut late = false;
    let most = if body.has_inputs() { MOST_INPUTS } else { 1 << 40 };
    bench.iterations(most, &mut |_, n| {
        let begun = Instant::now();
        let ticks = body.repeat(n);
        late |= body.has_inputs() && begun.elapsed() > MAKING;
        if late { u64::MAX } else { ticks }
    })
}

/// Rows whose costs are alike get the same number of iterations, so that a row against itself runs the same loops.
pub(super) fn align(ways: &mut [Way]) {
    let known: Vec<u64> = ways
        .iter()
        .filter_map(|way| match way {
            Way::Unrolled(n) | Way::Slope(n) | Way::Calls(n) => Some(*n),
            Way::Crowd => None,
        })
        .collect();
    for way in ways {
        if let Way::Unrolled(n) | Way::Slope(n) = way
            && known.contains(&(2 * *n))
        {
            *n *= 2;
        }
    }
}

/// The rows that panicked in a sample, by their names in the group.
pub(super) type Panicked = Rc<RefCell<Vec<String>>>;

pub(super) fn sampler<'b>(
    name: String,
    Calibrated { work, way, .. }: Calibrated<'b>,
    bench: &mut Bench,
    cpus: &[u32],
) -> Box<dyn Sampler + 'b> {
    match (work, way) {
        (Work::Alone(mut body), Way::Unrolled(iterations)) => {
            let copies = body.copies();
            let run = move |length: Length, n| body.batch(length, n);
            bench.of_batches(name, copies, true, iterations, run)
        }
        (Work::Alone(mut body), Way::Slope(calls)) => {
            let counted = !body.has_inputs();
            bench.of_batches(name, 0, counted, calls, move |_, n| body.repeat(n))
        }
        (Work::Alone(body), way) => Box::new(Calls {
            name,
            body,
            calls: match way {
                Way::Calls(n) => n,
                _ => 1,
            },
        }),
        (Work::Crowd(together, threads), _) => Box::new(OnThreads {
            name,
            together,
            crowd: Crowd {
                cpus: cpus.to_vec(),
                threads,
                pinned: threads <= cpus.len(),
                span: CROWD_SPAN,
            },
        }),
    }
}

/// Makes a panic of a row of `group` an error, notes it in `panicked`, and limits a call's time.
pub(super) fn guarded<'b>(group: &str, inner: Box<dyn Sampler + 'b>, panicked: Panicked) -> Box<dyn Sampler + 'b> {
    Box::new(Caught {
        full_name: format!("{group}/{}", inner.name()),
        inner,
        panicked,
    })
}

/// The time of a number of calls.
struct Calls<'b> {
    name: String,
    body: Box<dyn Body + 'b>,
    calls: u64,
}

impl Sampler for Calls<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        Ok(Sample::new(self.body.repeat(self.calls) as f64 / self.calls as f64))
    }
}

/// Operations a second of several threads.
struct OnThreads<'b> {
    name: String,
    together: Rc<dyn Together + 'b>,
    crowd: Crowd,
}

impl Sampler for OnThreads<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        self.together.run(&self.name, &self.crowd)
    }
}

/// A sampler whose panics are errors, and whose calls have a limit.
struct Caught<'b> {
    inner: Box<dyn Sampler + 'b>,
    full_name: String,
    panicked: Panicked,
}

impl Sampler for Caught<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn code_bytes(&self) -> Option<u32> {
        self.inner.code_bytes()
    }

    fn loops(&self) -> Option<Loops> {
        self.inner.loops()
    }

    fn sample(&mut self) -> Result<Sample> {
        watch::row(&self.full_name);
        watch::watched(|| caught(|| self.inner.sample())).unwrap_or_else(|why| {
            self.panicked.borrow_mut().push(self.inner.name().to_string());
            Err(Error::check(why))
        })
    }

    fn spoils_the_others(&self) -> bool {
        self.inner.spoils_the_others()
    }

    fn timed(&self) -> Option<TimedCommand> {
        self.inner.timed()
    }

    fn finding(&self, all: &[Variant]) -> Option<String> {
        self.inner.finding(all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::body::{WithInputs, plain};
    use super::*;
    use crate::runner::tick_rate;

    fn calibrated<'a>(body: Box<dyn Body + 'a>) -> std::result::Result<Calibrated<'a>, String> {
        let tsc_hz = tick_rate(Duration::from_millis(20));
        calibrate(Work::Alone(body), "row", &Bench::new(), tsc_hz)
    }

    #[test]
    fn a_short_call_is_a_slope_and_a_long_one_is_timed_alone() {
        assert_eq!([1.0, 6_999.0].map(|ns| calls(ns, None)), [None; 2]);
        assert_eq!([7_001.0, 60_000.0].map(|ns| calls(ns, None)), [Some(8), Some(1)]);
        // How short a machine's calls are is its own affair.
        let short = calibrated(plain(|| 7u64)).unwrap();
        assert!(
            matches!(short.way, Way::Unrolled(n) | Way::Slope(n) if n > 1),
            "{:?}",
            short.way
        );
        let long = calibrated(plain(|| std::thread::sleep(Duration::from_millis(4)))).unwrap();
        assert_eq!(long.way, Way::Calls(1));
        assert!(long.long);
    }

    #[test]
    fn calls_that_block_are_not_taken_for_preempted_ones() {
        let blocks = calibrated(plain(|| std::thread::sleep(Duration::from_micros(100)))).unwrap();
        assert!(blocks.long);
        // The twin takes as long and never waits.
        let spins = calibrated(plain(|| {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_micros(100) {}
        }));
        assert!(!spins.unwrap().long);
    }

    #[test]
    fn calls_with_inputs_hold_equally_many_of_them_in_every_sample() {
        assert_eq!(calls(1_000.0, Some(2_000.0)), Some(64));
        assert_eq!(calls(399.0, Some(400.0)), None, "so short that stamps count");
        assert_eq!(calls(1_000.0, Some(3e6)), None, "so many would take long to make");
        // The twin has no inputs.
        assert_eq!(calls(1_000.0, None), None);
    }

    #[test]
    fn a_panic_is_the_rows_error_at_any_call() {
        let why = calibrated(plain(|| -> u64 { panic!("at once") })).err().unwrap();
        assert!(why.contains("at once"), "{why}");
        // The twin panics in a sample, after calibration has seen nothing.
        let armed = std::cell::Cell::new(false);
        let row = calibrated(plain(|| assert!(!armed.get(), "later"))).unwrap();
        let panicked = Panicked::default();
        let row = sampler("row".to_string(), row, &mut Bench::new(), &[]);
        let mut sampler = guarded("group", row, Rc::clone(&panicked));
        assert!(sampler.sample().is_ok());
        armed.set(true);
        assert!(sampler.sample().unwrap_err().message.contains("later"));
        assert_eq!(*panicked.borrow(), ["row"]);
    }

    #[test]
    fn inputs_are_bounded_where_they_take_long_to_make() {
        let body = WithInputs {
            make: || std::thread::sleep(Duration::from_millis(3)),
            run: |()| 7u64,
        };
        let Calibrated { way, long, .. } = calibrated(Box::new(body)).unwrap();
        assert!(long, "making them blocks");
        // On a slow machine, or after a sleep, even this call is a long one.
        assert!(matches!(way, Way::Slope(1) | Way::Calls(..=8)), "{way:?}");
    }

    #[test]
    fn rows_that_are_alike_have_as_many_iterations() {
        let mut ways = [Way::Slope(64), Way::Slope(128), Way::Slope(16), Way::Calls(4)];
        align(&mut ways);
        assert_eq!(ways, [Way::Slope(128), Way::Slope(128), Way::Slope(16), Way::Calls(4)]);
    }
}
