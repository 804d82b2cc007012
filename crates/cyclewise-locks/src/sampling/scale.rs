//! From sums of counters to executions: what a sample stands for, and whose the instructions are.

use super::image::Image;
use super::session::Role;
use super::tally::Tally;
use super::totals::Totals;
use cyclewise_bench::machine::lock_event::LockEvent;
use cyclewise_bench::sys::perf_record::Task;
use cyclewise_bench::sys::perf_sampling::Total;
use std::collections::HashMap;

/// Locked instructions for a sample's unit of weight, by event.
pub(super) fn factors(tally: &Tally, totals: &Totals, events: &[LockEvent]) -> Vec<f64> {
    let of = |index: usize| {
        let weight = tally.weights.get(&index).copied().unwrap_or(0) as f64;
        match totals.locked[index] {
            Some(total) if weight > 0.0 => scaled(total) / weight,
            _ => 1.0,
        }
    };
    (0..events.len()).map(of).collect()
}

/// A count of an event that had a counter only part of the time.
fn scaled(total: Total) -> f64 {
    total.value as f64 * shortfall(total)
}

/// By how much a count is too small because the event had no counter for a part of the time.
pub(super) fn shortfall(total: Total) -> f64 {
    if total.running_ns == 0 {
        return 1.0;
    }
    (total.enabled_ns as f64 / total.running_ns as f64).max(1.0)
}

/// Instructions of each thread of each image.
///
/// The kernel counts a thread from its beginning to its end, through every program that it executes: where there are several, each gets its
/// share of the time. What ended with no count (it runs on) shares what is left of the total, by time too.
pub(super) fn instructions(tally: &Tally, totals: &Totals) -> Vec<Vec<u64>> {
    let factor = shortfall(totals.instructions);
    let mut time: HashMap<Task, f64> = HashMap::new();
    let length = |image: &Image, thread: usize| {
        let seen = &image.threads[thread];
        let until = seen.ended_ns.unwrap_or(tally.last_ns());
        (
            Task {
                pid: image.pid,
                tid: seen.tid,
            },
            until.saturating_sub(seen.begun_ns) as f64 + 1.0,
        )
    };
    let all = || {
        tally
            .images
            .iter()
            .flat_map(|i| (0..i.threads.len()).map(move |t| (i, t)))
    };
    for (image, thread) in all() {
        let (task, ns) = length(image, thread);
        *time.entry(task).or_default() += ns;
    }
    let counted = |task: &Task| tally.counts.get(&(Role::Instructions, *task)).copied();
    let known: u64 = tally
        .counts
        .iter()
        .filter(|((role, _), _)| *role == Role::Instructions)
        .map(|(_, n)| n)
        .sum();
    let rest = totals.instructions.value.saturating_sub(known) as f64;
    let open: f64 = time
        .iter()
        .filter(|(task, _)| counted(task).is_none())
        .map(|(_, ns)| ns)
        .sum();
    let of = |image: &Image, thread: usize| {
        let (task, ns) = length(image, thread);
        let value = match counted(&task) {
            Some(n) => n as f64 * ns / time[&task],
            None => rest * ns / open,
        };
        (value * factor).round() as u64
    };
    tally
        .images
        .iter()
        .map(|image| (0..image.threads.len()).map(|t| of(image, t)).collect())
        .collect()
}
