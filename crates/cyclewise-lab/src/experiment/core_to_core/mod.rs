//! `core-to-core`: the transfer time of a cache line for every pair of CPUs, and the cost of contention.
//!
//! A pair's figure is half a round trip of a flag that two pinned threads pass to each other by compare-and-exchange,
//! the method of the published matrices. For many threads the figure is the time from one addition to the next on one
//! counter, by any thread: by one instruction, by a loop of exchanges, on Arm by exclusives, and under textbook spinlocks. What is
//! needed to read them is measured with them: the length of a core cycle while as many threads run, and the cost of the instructions
//! that waiting loops execute. `simulate fit` makes a machine file from all of these.
//!
//! # References
//! N. Viennot, core-to-core-latency (MIT), 2022: its first bench, and the figures of its gallery. T. Downs, "A concurrency
//! cost hierarchy", 2020, and concurrency-hierarchy-bench (public domain).

mod counter;
mod cycle;
mod home;
mod lock_row;
mod locks;
mod pairs;
mod ping;
mod published;
mod waits;

use super::{Definition, Mode, Options};
use crate::error::{Error, Result};
use crate::machine::{self, CpuTopology};
use crate::record::Unit;
use crate::record::core_to_core::{NAME, Pair};
use crate::runner::crowd::Crowd;
use crate::runner::{Guards, Sampler, Setup};
use std::time::Duration;

pub(super) static DEFINITION: Definition = Definition {
    name: NAME,
    question: "How long does a cache line take from one CPU to another, and what does a counter shared by all CPUs cost?",
    source: "Nicolas Viennot, core-to-core-latency, 2022; Travis Downs, \"A concurrency cost hierarchy\", 2020",
    unit: Unit::NanosPerOp,
    guards: Guards::WholeMachine,
    published: &published::FIGURES,
    setup,
};

/// The amount of work in a mode.
struct Plan {
    /// The most pairs.
    pairs: usize,
    round_trips: u64,
    /// How long a sample of a counter lasts.
    span: Duration,
}

impl Plan {
    fn of_mode(mode: Mode) -> Self {
        let (pairs, round_trips, ms) = match mode {
            Mode::Quick => (15, 2_000, 5),     // all pairs of six CPUs
            Mode::Normal => (120, 10_000, 20), // of sixteen
            Mode::Full => (usize::MAX, 50_000, 100),
        };
        Self {
            pairs,
            round_trips,
            span: Duration::from_millis(ms),
        }
    }
}

fn setup(options: &Options) -> Result<Setup> {
    let cpus = options.cpus()?;
    if let [only] = cpus[..] {
        return Err(Error::unsupported(format!(
            "needs two CPUs, but only CPU {only} is allowed (sched_getaffinity); allow another with `taskset` or in \
             the cpuset, or use a machine with more"
        )));
    }
    let plan = Plan::of_mode(options.mode);
    let places = machine::cpu_topology(&cpus);
    let all = pairs::all(&places);
    let chosen = pairs::chosen(&all, plan.pairs);
    let notes = notes(&plan, &all, &chosen);
    let mut samplers: Vec<Box<dyn Sampler>> = Vec::new();
    for pair in chosen {
        samplers.push(Box::new(ping::PingPong::new(pair, plan.round_trips)));
    }
    for homed in home::chosen(&places, &all) {
        samplers.push(Box::new(ping::PingPong::homed(homed, plan.round_trips)));
    }
    samplers.extend(waits::rows());
    // A thread on each core before a second on any: the published rows have distinct cores.
    let order: Vec<u32> = machine::cores_first(&places).iter().map(CpuTopology::cpu).collect();
    let mut compare = Vec::new();
    for count in counts(order.len()) {
        let crowd = Crowd {
            cpus: order.clone(),
            threads: count,
            pinned: true,
            span: plan.span,
        };
        compare.push((format!("fetch-add-t{count}"), format!("cas-loop-t{count}")));
        samplers.push(counter::add(format!("fetch-add-t{count}"), &crowd));
        samplers.push(counter::cas(format!("cas-loop-t{count}"), &crowd));
        #[cfg(target_arch = "aarch64")]
        {
            compare.push((format!("fetch-add-t{count}"), format!("ll-sc-t{count}")));
            samplers.push(counter::exclusives(format!("ll-sc-t{count}"), &crowd));
        }
        samplers.extend(lock_row::rows(&crowd));
        // The clock differs most between one core and all.
        if count == 1 || count == order.len() {
            samplers.push(Box::new(cycle::Cycle::new(&crowd)));
        }
    }
    // The compared row that other load on the machine affects most.
    let control = super::index(&samplers, "fetch-add-t2").unwrap_or(0);
    let compare: Vec<(&str, &str)> = compare.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    Ok(Setup {
        compare: super::pairs(&samplers, &compare),
        control: options.control(control),
        notes,
        samplers,
        ..Setup::default()
    })
}

/// 1, 2, 3 and 4 as in the published rows, then doubled each time, and all CPUs.
fn counts(cpus: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(8), |n| Some(2 * n));
    let mut counts: Vec<usize> = (1..=4).chain(doubled.take_while(|n| *n < cpus)).collect();
    counts.retain(|n| *n < cpus);
    counts.push(cpus);
    counts
}

fn notes(plan: &Plan, all: &[Pair], chosen: &[Pair]) -> Vec<String> {
    let mut notes = vec![
        format!(
            "sibling-, cluster-, socket-, remote-A-B: half a round trip of a flag between CPU A and CPU B by compare-and-exchange, \
             the least of three medians of {} batches of {} round trips",
            ping::BATCHES,
            plan.round_trips / ping::ALL_BATCHES as u64
        ),
        format!(
            "-tN: N threads, each on its own CPU, on distinct cores first, add to one counter for {} ms; the figure is the time from \
             one addition to the next by any thread; retries are failed exchanges per addition",
            plan.span.as_millis()
        ),
    ];
    notes.push(
        "lock-: the same counter, incremented by a load and a store under a lock, with nothing between two sections: \
         test-and-test-and-set, without and with PAUSE or YIELD between looks; a ticket lock and an MCS lock, without"
            .to_owned(),
    );
    notes.push(format!(
        "{}-tN: a dependent addition, which takes one core cycle, while N threads execute such chains; {}: one instruction, by a slope over \
         copies",
        cycle::NAME,
        crate::arch::wait::BODIES.map(|body| body.name).join(", ")
    ));
    #[cfg(target_arch = "aarch64")]
    notes.push(match std::arch::is_aarch64_feature_detected!("lse") {
        true => "fetch-add is LDADD and cas-loop is CAS (LSE); ll-sc is LDXR and STXR".to_owned(),
        false => "this CPU has no LSE: fetch-add, cas-loop and ll-sc are all loops of exclusives".to_owned(),
    });
    if chosen.len() < all.len() {
        notes.push(format!(
            "{} of {} pairs were measured, evenly spread over all distances; --full measures all",
            chosen.len(),
            all.len()
        ));
    }
    notes
}

#[cfg(test)]
mod tests;
