//! What a run's counts leave out, and why, a line each.

use super::scale::shortfall;
use super::tally::Tally;
use super::totals::Totals;
use crate::counts::End;
use cyclewise_bench::machine::lock_event::{LockEvent, SampleMeaning};
use std::collections::BTreeSet;

/// What was not found while sites were made.
#[derive(Default)]
pub(super) struct Unfound {
    /// Executions for which no instruction was found.
    pub(super) unplaced: f64,
    pub(super) placed: f64,
    /// There was generated code.
    pub(super) generated: bool,
    /// Files whose code could not be read.
    pub(super) files: BTreeSet<String>,
}

pub(super) fn lines(tally: &Tally, totals: &Totals, events: &[LockEvent], unfound: Unfound) -> Vec<String> {
    let mut lines: Vec<String> = unfound.files.into_iter().collect();
    let mut say = |line: String| lines.push(line);
    let all = unfound.placed + unfound.unplaced;
    if unfound.unplaced > 0.0 {
        let share = 100.0 * unfound.unplaced / all;
        say(format!(
            "{share:.1} % of the samples: no locked instruction at or before them in their function"
        ));
    }
    if unfound.generated {
        say("code of generated code: it is in no file".to_owned());
    }
    for (index, event) in events.iter().enumerate() {
        if totals.locked[index].is_none() {
            say(format!(
                "{}: the number of locked instructions is estimated from samples of ops",
                event.name
            ));
        }
        if event.kind == SampleMeaning::Speculative {
            say(format!("{}: it counts executions that were undone, too", event.name));
        }
    }
    let names = |part| events.iter().any(|e| e.name.contains(part));
    if events.iter().any(|e| e.kind == SampleMeaning::Speculative) && !names("STREX") {
        say(
            "exclusive loops: their event could not be tried, as this program's own atomics are no exclusives"
                .to_owned(),
        );
    }
    let shortfall = shortfall(totals.instructions);
    if shortfall > 1.01 {
        say(format!(
            "{:.0} % of the time: the counters were shared with another user; counts are scaled",
            100.0 * (1.0 - 1.0 / shortfall)
        ));
    }
    for (count, what) in [
        (tally.lost, "records: the ring was full"),
        (tally.malformed, "records: they could not be read"),
        (
            tally.throttled,
            "times the kernel stopped sampling for a while (perf_cpu_time_max_percent)",
        ),
        (tally.homeless, "samples: of processes that are not known"),
        (tally.images_left_out, "process images: the run has too many"),
        (u64::from(totals.unread), "counters: they could not be read"),
        (
            tally.images.iter().map(|i| i.mappings_left_out).sum(),
            "mappings: a process has too many",
        ),
        (
            tally.images.iter().map(|i| i.places_left_out).sum(),
            "samples: a process has too many places",
        ),
    ] {
        if count > 0 {
            say(format!("{count} {what}"));
        }
    }
    if tally.images.iter().any(|i| i.end == End::Executed) {
        say("instructions of each program that one process executed: the process's, by time".to_owned());
    }
    say("fences that are no locked instruction (MFENCE, DMB): the event does not count them".to_owned());
    say(
        "system calls, distances between locked instructions, and which threads used a word: a counter does not tell"
            .to_owned(),
    );
    lines
}
