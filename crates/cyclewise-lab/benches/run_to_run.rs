//! How much does a figure change from one run to the next? The lab, criterion and a nanoBench-style minimum on the same
//! bodies, in one process, in turns: `cargo bench -p cyclewise-lab --bench run_to_run [-- RUNS]`.
//!
//! Each tool gets the same time for each body in each run. Criterion gets the body as a custom loop, which spares it
//! the closure call that its users pay for; its figure is the slope it prints, or the mean where it prints no slope.
//! The minimum is nanoBench's: the least of many batches of U and of 2U copies, and the slope between the two. The
//! table is the mean over bodies and runs of |xᵢ₊₁ − xᵢ| ÷ xᵢ.

use criterion::Criterion;
use cyclewise_lab::arch::{Arena, Body, Length, entry, stamp};
use cyclewise_lab::record::Unit;
use cyclewise_lab::runner::{Bench, Budget, Control, Guards, Heading, Progress, Runner, Setup, tick_rate};
use cyclewise_lab::{machine, stats, sys};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Time for each tool, body and run.
const TIME: Duration = Duration::from_secs(1);
/// Runs, unless the command line says otherwise.
const RUNS: usize = 20;
/// Iterations in a batch of the minimum: about 20 000 ticks for a body of 30 ticks an iteration.
const MINIMUM_ITERATIONS: u64 = 256;
/// Before every tool measures: criterion's own warm-up, and as much for the others.
const WARM_UP: Duration = Duration::from_millis(100);

/// Measures a body: its figure in ticks per copy, from the body, the counter's rate and the run's number.
type Tool = fn(Body, f64, u64) -> f64;

struct Silent;

impl Progress for Silent {
    fn step(&self, _: f64, _: &str) {}
}

#[cfg(target_arch = "x86_64")]
fn bodies() -> Vec<Body> {
    use cyclewise_lab::arch::{counter, lock_prefix, popf};
    let named = |all: &[Body], name: &str| all.iter().find(|b| b.name == name).copied();
    [
        named(&lock_prefix::BODIES, "plain-inc64"),
        named(&lock_prefix::BODIES, "lock-inc64"),
        named(&lock_prefix::BODIES, "lock-cmpxchg64"),
        named(&popf::BODIES, "push-popf"),
        named(&counter::BODIES, "rdtsc"),
        Some(entry::GETPPID),
        Some(entry::FUNCTION_CALL),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn bodies() -> Vec<Body> {
    vec![entry::GETPPID, entry::FUNCTION_CALL, entry::ADD_CHAIN]
}

fn main() {
    let runs = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(RUNS);
    let allowed = sys::affinity::allowed().expect("an affinity mask");
    let choice = machine::idlest_cpu(&allowed).expect("a CPU");
    sys::affinity::confine(&[choice.cpu]).expect("pinning to an allowed CPU");
    println!("{runs} runs, {TIME:?} each, pinned to {}", choice.reason);
    let hz = tick_rate(Duration::from_millis(200));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut figures: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    let tools: [(&str, Tool); 3] = [("cyclewise", ours), ("criterion", criterions), ("minimum", minimum)];
    for run in 0..runs {
        let mut turns: Vec<_> = tools
            .into_iter()
            .flat_map(|tool| bodies().into_iter().map(move |body| (tool, body)))
            .collect();
        turns.shuffle(&mut rng);
        for ((tool, measure), body) in turns {
            figures
                .entry((body.name, tool))
                .or_default()
                .push(measure(body, hz, run as u64));
        }
        eprintln!("run {} of {runs}", run + 1);
    }
    print(&figures);
}

fn print(figures: &BTreeMap<(&str, &str), Vec<f64>>) {
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    println!(
        "\n{:16} {:10} {:>10} {:>10} {:>24}",
        "body", "tool", "mean tick", "sd", "mean |run-to-run change|"
    );
    for ((body, tool), xs) in figures {
        let changes: Vec<f64> = xs.windows(2).map(|w| (w[1] / w[0] - 1.0).abs()).collect();
        if let (Some(s), Some(c)) = (stats::describe(xs), stats::describe(&changes)) {
            println!(
                "{body:16} {tool:10} {:10.4} {:10.4} {:22.3} %",
                s.mean,
                s.sd,
                100.0 * c.mean
            );
        }
        all.entry(tool).or_default().extend(changes);
    }
    for (tool, changes) in all {
        if let Some(c) = stats::describe(&changes) {
            let [low, high] = c.ci95.map(|x| 100.0 * x);
            println!(
                "{:16} {tool:10} {:21} {:22.3} %  (95 % {low:.3} … {high:.3}, median {:.3})",
                "all",
                "",
                100.0 * c.mean,
                100.0 * c.median
            );
        }
    }
}

const HEADING: Heading<'static> = Heading {
    name: "run-to-run",
    question: "",
    source: "",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
};

/// The lab's mean, in ticks per copy.
fn ours(body: Body, tsc_hz: f64, seed: u64) -> f64 {
    let mut bench = Bench::new();
    let mut setup = Setup {
        samplers: vec![bench.body(body)],
        compare: Vec::new(),
        control: Control::Split(0),
        notes: Vec::new(),
        ..Setup::default()
    };
    let runner = Runner {
        cpu: sys::affinity::current_cpu(),
        cpus: 1,
        tsc_hz,
        seed,
        parts: 1,
        turns: None,
        progress: &Silent,
    };
    let budget = Budget {
        least: 100,
        most: 5_000,
        target: 0.0,
        time: TIME,
    };
    let measured = runner.measure(HEADING, &mut setup, budget).expect("bodies do not fail");
    stats::describe(&measured.columns[0].kept()).map_or(f64::NAN, |s| s.mean)
}

/// Criterion's slope, in ticks per copy.
fn criterions(body: Body, tsc_hz: f64, _: u64) -> f64 {
    let folder = std::env::temp_dir().join(format!("cyclewise-criterion-{}", std::process::id()));
    let mut criterion = Criterion::default()
        .output_directory(&folder)
        .without_plots()
        .warm_up_time(WARM_UP)
        .measurement_time(TIME - WARM_UP);
    let mut arena = Arena::new();
    criterion.bench_function(body.name, |b| {
        b.iter_custom(|iterations| {
            let begun = Instant::now();
            body.run(Length::Once, iterations, &mut arena);
            begun.elapsed()
        });
    });
    let path = folder.join(body.name).join("new").join("estimates.json");
    let text = std::fs::read_to_string(&path).expect("criterion writes its estimates");
    let estimates: serde_json::Value = serde_json::from_str(&text).expect("estimates are JSON");
    let _ = std::fs::remove_dir_all(&folder);
    let of = |name: &str| estimates[name]["point_estimate"].as_f64();
    let nanos = of("slope").or_else(|| of("mean")).expect("criterion estimates a mean");
    nanos * tsc_hz / 1e9 / f64::from(body.copies)
}

/// nanoBench's slope of minima, in ticks per copy.
fn minimum(body: Body, _: f64, _: u64) -> f64 {
    let mut arena = Arena::new();
    let begun = Instant::now();
    let (mut once, mut twice) = (u64::MAX, u64::MAX);
    while begun.elapsed() < TIME {
        let start = stamp::start();
        body.run(Length::Once, MINIMUM_ITERATIONS, &mut arena);
        let middle = stamp::stop();
        once = once.min(middle - start);
        let start = stamp::start();
        body.run(Length::Twice, MINIMUM_ITERATIONS, &mut arena);
        twice = twice.min(stamp::stop() - start);
    }
    (twice as f64 - once as f64) / (MINIMUM_ITERATIONS * u64::from(body.copies)) as f64
}
