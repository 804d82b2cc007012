//! Tries an event on a loop of known locked instructions.

use super::{Exercise, LockEvent, Refusal, SampleMeaning, Tried};
use crate::sys::affinity;
use crate::sys::errno::Errno;
use crate::sys::perf_record::{Record, parse};
use crate::sys::perf_sampling::{Event, Rate, Spec};
use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Locked instructions in a trial: about half a millisecond.
const EXECUTED: u64 = 100_000;
/// Ops between two samples of a trial of IBS, whose hardware counts in sixteens.
const OPS: u64 = 0x1000;

/// Executes `count` locked instructions, and few other ones.
pub fn locked_loop(exercise: Exercise, count: u64) {
    let word = AtomicU64::new(0);
    for old in 0..count {
        let word = black_box(&word);
        // Relaxed: nobody else looks; the instruction is locked in any order. The old value is used, so that AArch64 loads it.
        match exercise {
            Exercise::Add => {
                black_box(word.fetch_add(1, Ordering::Relaxed));
            }
            Exercise::CompareExchange => {
                let _ = black_box(word.compare_exchange(old, old + 1, Ordering::Relaxed, Ordering::Relaxed));
            }
        }
    }
}

/// Tries `event`, on a thread of its own that stays on one of the event's CPUs.
pub(super) fn tried(mut event: LockEvent) -> Tried {
    let outcome = std::thread::scope(|scope| {
        let on_its_own = scope.spawn(|| outcome(&mut event));
        on_its_own.join().expect("a trial that does not panic")
    });
    Tried { event, outcome }
}

fn outcome(event: &mut LockEvent) -> Result<String, Refusal> {
    let refused = |e: io::Error| Refusal::Errno(Errno::of_error(&e));
    let allowed = affinity::allowed().map_err(refused)?;
    let has_it = |cpu: &u32| event.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu));
    let cpu = allowed
        .into_iter()
        .find(has_it)
        .ok_or(Refusal::Errno(Errno(libc::ENODEV)))?;
    affinity::confine(&[cpu]).map_err(refused)?;
    if event.kind == SampleMeaning::Ops {
        // What counts all locks may be missing; then samples alone are counted.
        event.total = event
            .total
            .filter(|spec| counted(spec, Exercise::Add).is_ok_and(|n| is_right(SampleMeaning::Instructions, n)));
        return ops(event, cpu);
    }
    let counting = Spec {
        rate: Rate::Count,
        precise: 0,
        ..event.sampled
    };
    let counted = counted(&counting, event.exercise).map_err(refused)?;
    if !is_right(event.kind, counted) {
        return Err(Refusal::Wrong {
            counted,
            executed: EXECUTED,
        });
    }
    // That it counts does not say that it samples: a guest may have no interrupt for it, or no PEBS.
    Event::of_this_thread(&event.sampled, Some(cpu)).map_err(refused)?;
    Ok(format!("it counted {counted} of {EXECUTED} locked instructions"))
}

/// Whether `counted` is what a true counter gives.
fn is_right(kind: SampleMeaning, counted: u64) -> bool {
    // Beside the loop's own there are a few in the calls that start and stop the counter.
    let most = match kind {
        SampleMeaning::Speculative => 2 * EXECUTED,
        _ => EXECUTED + EXECUTED / 50,
    };
    (EXECUTED..=most).contains(&counted)
}

fn counted(spec: &Spec, exercise: Exercise) -> io::Result<u64> {
    let event = Event::of_this_thread(spec, None)?;
    event.enable()?;
    locked_loop(exercise, EXECUTED);
    event.disable()?;
    event.total().map(|t| t.value)
}

fn ops(event: &LockEvent, cpu: u32) -> Result<String, Refusal> {
    let refused = |e: io::Error| Refusal::Errno(Errno::of_error(&e));
    let often = Spec {
        rate: Rate::Every(OPS),
        ..event.sampled
    };
    let opened = Event::of_this_thread(&often, Some(cpu)).map_err(refused)?;
    let mut ring = opened.ring(8).map_err(refused)?;
    opened.enable().map_err(refused)?;
    locked_loop(event.exercise, EXECUTED);
    opened.disable().map_err(refused)?;
    let mut bytes = Vec::new();
    ring.drain(&mut bytes);
    let [mut samples, mut locked] = [0; 2];
    for record in parse(&bytes) {
        if let Record::Sample(sample) = record.record {
            samples += 1;
            locked += u64::from(sample.ibs.is_some_and(|op| op.locked));
        }
    }
    if locked == 0 {
        return Err(Refusal::Wrong {
            counted: 0,
            executed: EXECUTED,
        });
    }
    let total = match event.total {
        Some(_) => "ls_locks counts them all",
        None => "no counter of all of them, so their number is estimated from samples",
    };
    Ok(format!("{locked} of {samples} sampled ops were locked; {total}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stand_in(kind: SampleMeaning) -> LockEvent {
        LockEvent {
            name: "task-clock".to_owned(),
            sampled: Spec {
                rate: Rate::PerSecond(1000),
                ..Spec::task_clock()
            },
            kind,
            exercise: Exercise::Add,
            total: None,
            instructions: Spec::task_clock(),
            cpus: None,
        }
    }

    #[test]
    fn an_event_that_counts_something_else_is_not_offered() {
        // Nanoseconds: more than one a locked instruction.
        let refused = tried(stand_in(SampleMeaning::Instructions)).outcome.unwrap_err();
        match refused {
            Refusal::Wrong { counted, executed } => assert!(counted > executed, "{refused}"),
            Refusal::Errno(errno) => println!("skipped: perf_event_open: {errno}"),
        }
        // Samples without the hardware's words.
        let refused = tried(stand_in(SampleMeaning::Ops)).outcome.unwrap_err();
        assert!(
            refused.to_string().contains("nothing") || matches!(refused, Refusal::Errno(_)),
            "{refused}"
        );
    }

    #[test]
    fn what_is_right_has_bounds() {
        assert!(
            is_right(SampleMeaning::Instructions, EXECUTED) && is_right(SampleMeaning::Instructions, EXECUTED + 40)
        );
        assert!(
            !is_right(SampleMeaning::Instructions, EXECUTED - 1)
                && !is_right(SampleMeaning::Instructions, EXECUTED * 3 / 2)
        );
        assert!(is_right(SampleMeaning::Speculative, EXECUTED * 3 / 2) && !is_right(SampleMeaning::Speculative, 0));
    }

    #[test]
    fn an_event_of_a_pmu_that_is_not_there_says_the_errno() {
        let mut event = stand_in(SampleMeaning::Instructions);
        event.sampled.pmu = 0x7fff_0000;
        assert!(matches!(tried(event).outcome, Err(Refusal::Errno(_))));
        // CPUs that are not ours.
        let mut event = stand_in(SampleMeaning::Instructions);
        event.cpus = Some(vec![8000]);
        assert_eq!(tried(event).outcome, Err(Refusal::Errno(Errno(libc::ENODEV))));
    }
}
