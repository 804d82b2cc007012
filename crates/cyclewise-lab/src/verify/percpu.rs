//! Does a per-CPU addition ever get lost? Eight threads to a CPU add, and are moved, preempted and interrupted meanwhile.
//!
//! Each round starts fresh threads on fresh variables. Half of the threads move from CPU to CPU; all get signals whose
//! handler adds as well. At the end the sums must be exact. The twin is the same storm on words that are loaded and stored
//! without a sequence: it must lose some, or the storm proves nothing.

use super::{Check, SCHEMA, Verification};
use crate::error::Result;
use crate::runner::Progress;
use crate::sys::percpu::storm::{Counts, storm};
use cyclewise::percpu::backend;
use std::time::{Duration, Instant};

/// One round: long enough for every thread to be preempted, short enough for many.
const ROUND: Duration = Duration::from_millis(500);

/// Verifies for about `time` on `cpus` CPUs.
///
/// # Errors
/// Where threads cannot be made.
pub fn verify(cpus: &[u32], progress: &dyn Progress, time: Duration) -> Result<Verification> {
    let begun = Instant::now();
    let mut total = Counts::default();
    let (mut rounds, mut broken, mut bites) = (0, 0, 0);
    while rounds == 0 || begun.elapsed() < time {
        let round = storm(cpus, 8 * cpus.len(), ROUND.min(time))?;
        broken += usize::from(!round.is_exact());
        bites += usize::from(round.twin_lost > 0);
        total.add(&round);
        rounds += 1;
        let share = begun.elapsed().as_secs_f64() / time.as_secs_f64();
        progress.step(share.min(1.0), &format!("verify percpu: round {rounds}"));
    }
    let seen = format!(
        "{} additions by {} threads, {} by signal handlers, {} moves: {} by cpu_id lost, {} by mm_cid lost ({})",
        total.additions,
        8 * cpus.len(),
        total.by_handlers,
        total.moves,
        total.lost_by_cpu,
        total.lost_by_cid,
        backend()
    );
    Ok(Verification {
        schema: SCHEMA,
        what: "percpu",
        checks: vec![
            Check {
                name: "no-addition-is-lost",
                promise: "sums of per-CPU additions are exact under preemption, migration and signals",
                seen,
                tries: rounds,
                events: broken,
                holds: broken == 0,
            },
            Check {
                name: "the-storm-bites",
                promise: "the same additions without a sequence lose some, so that the check can fail",
                seen: format!(
                    "{} of {} lost, in {bites} of {rounds} rounds",
                    total.twin_lost, total.additions
                ),
                tries: rounds,
                events: bites,
                holds: bites > 0,
            },
        ],
        notes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::affinity;

    struct Silent;

    impl Progress for Silent {
        fn step(&self, _: f64, _: &str) {}
    }

    #[test]
    fn sums_are_exact_on_this_machine() {
        let v = verify(&affinity::allowed().unwrap(), &Silent, Duration::from_secs(1)).unwrap();
        assert!(v.checks[0].holds, "{}", v.checks[0].seen);
    }
}
