//! Guards: which samples were disturbed, and by what.
//!
//! # Invariants
//! 1. A guard never sees the sample's value: rejection depends on the kernel's accounts, not on the result.
//! 2. The accounts are read before the sample's first instruction and after its last.
//!
//! # Cost
//! Two getrusage and two CPU-time system calls and four vDSO calls a sample, about 2 µs, outside the stamps.
//!
//! # References
//! The thread's CPU time excludes stolen time if the kernel has CONFIG_PARAVIRT_TIME_ACCOUNTING
//! (linux kernel/sched/core.c, update_rq_clock_task), so wall time minus CPU time is the time the thread lost. Without
//! it, the steal column of /proc/stat still grows, by ticks of 10 ms.

use super::Guards;
use super::timer::Anchor;
use crate::machine::{StealWatch, ThrottleWatch};
use crate::sys::{affinity, clock, usage};
use serde::{Deserialize, Serialize};

/// Lost time counts as steal if it exceeds this share of the sample …
const LOST_SHARE: f64 = 0.01;
/// … and this many nanoseconds, several times the clocks' own disagreement.
const LOST_NS: f64 = 2_000.0;
/// The two clocks may disagree by this share …
const JUMP_SHARE: f64 = 1e-3;
/// … and this many nanoseconds (an interrupt between the two reads).
const JUMP_NS: f64 = 20_000.0;
/// Something was left to the sample, which ended.
const MOST_STOLEN: f64 = 0.999;
/// Steal is accounted in USER_HZ ticks, 100 a second on every Linux.
const STEAL_TICK_NS: f64 = 1e7;

/// Why a sample was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Rejection {
    /// The scheduler ran another thread on this CPU.
    Preempted,
    /// The thread ended on another CPU.
    Migrated,
    /// The hypervisor, or an interrupt the kernel accounts for, took time.
    Stolen,
    /// The time stamp counter and CLOCK_MONOTONIC_RAW disagree.
    Clock,
    /// Sampling failed, and the variant dropped out.
    Failed,
    /// What was sampled came to an end, and not to a good one.
    Unsuccessful,
}

impl Rejection {
    /// The word the record uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Rejection::Preempted => "preempted",
            Rejection::Migrated => "migrated",
            Rejection::Stolen => "stolen",
            Rejection::Clock => "clock",
            Rejection::Failed => "failed",
            Rejection::Unsuccessful => "unsuccessful",
        }
    }
}

/// The kernel's accounts at one instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    switches: u64,
    cpu: u32,
    cpu_ns: u64,
    at: Anchor,
    steal: Option<u64>,
    throttled_s: Option<f64>,
}

/// Reads the accounts, and finds what happened between two readings.
pub(super) struct Guard {
    kind: Guards,
    ticks_per_ns: f64,
    steal: Option<StealWatch>,
    throttle: ThrottleWatch,
    cpus: f64,
}

impl Guard {
    /// A guard of this kind. `tsc_hz` is the counter's rate, `cpus` how many CPUs the sample may use.
    pub(super) fn new(kind: Guards, tsc_hz: f64, cpus: usize) -> Self {
        let steal = StealWatch::open().ok();
        Self {
            kind,
            ticks_per_ns: tsc_hz / 1e9,
            steal,
            throttle: ThrottleWatch::open(),
            cpus: cpus as f64,
        }
    }

    pub(super) fn read(&mut self) -> Account {
        match self.kind {
            Guards::ThisThread => Account {
                switches: usage::context_switches(),
                cpu: affinity::current_cpu(),
                cpu_ns: clock::thread_cpu_ns(),
                at: Anchor::quick(),
                steal: None,
                throttled_s: None,
            },
            Guards::WholeMachine => Account {
                switches: 0,
                cpu: 0,
                cpu_ns: 0,
                throttled_s: self.throttle.read().map(|t| t.seconds),
                at: Anchor::quick(),
                steal: self.steal.as_mut().and_then(StealWatch::read),
            },
        }
    }

    /// Ticks of steal on `cpu` so far: for several samples rather than one.
    pub(super) fn steal_ticks(&mut self, cpu: u32) -> Option<u64> {
        self.steal.as_mut()?.read_cpu(cpu)
    }

    /// The share of the time of all CPUs of the sample that the hypervisor took, and that of its wall time for which a quota stopped it;
    /// `None` for one thread, of which it is known for several samples only, and where the kernel does not tell.
    pub(super) fn stolen(&self, before: &Account, after: &Account) -> Option<f64> {
        let wall = (after.at.raw_ns - before.at.raw_ns) as f64;
        let ticks = after
            .steal
            .zip(before.steal)
            .map(|(after, before)| after.saturating_sub(before));
        let stolen = ticks.map(|ticks| ticks as f64 * STEAL_TICK_NS / (wall * self.cpus));
        let seconds = after
            .throttled_s
            .zip(before.throttled_s)
            .map(|(after, before)| after - before);
        let throttled = seconds.map(|seconds| throttled_share(seconds * 1e9 / wall));
        if wall <= 0.0 || stolen.is_none() && throttled.is_none() {
            return None;
        }
        Some((stolen.unwrap_or(0.0) + throttled.unwrap_or(0.0)).min(MOST_STOLEN))
    }

    /// What disturbed a sample between `before` and `after`; `None` if nothing did.
    pub(super) fn disturbance(&self, before: &Account, after: &Account) -> Option<Rejection> {
        let wall = (after.at.raw_ns - before.at.raw_ns) as f64;
        let counted = after.at.ticks.wrapping_sub(before.at.ticks) as f64 / self.ticks_per_ns;
        if (counted - wall).abs() > JUMP_NS.max(JUMP_SHARE * wall) {
            return Some(Rejection::Clock);
        }
        match self.kind {
            Guards::ThisThread => {
                if after.switches != before.switches {
                    return Some(Rejection::Preempted);
                }
                if after.cpu != before.cpu {
                    return Some(Rejection::Migrated);
                }
                let lost = wall - (after.cpu_ns - before.cpu_ns) as f64;
                (lost > LOST_NS.max(LOST_SHARE * wall)).then_some(Rejection::Stolen)
            }
            // Of long samples on several CPUs some time is always stolen on a shared host: they are kept with their share.
            Guards::WholeMachine => None,
        }
    }
}

/// The share of a sample's wall time for which it was stopped, from the sum over the CPUs on which it waited: as few as explain the sum.
fn throttled_share(sum: f64) -> f64 {
    sum.max(0.0) / sum.ceil().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(kind: Guards) -> Guard {
        Guard {
            kind,
            ticks_per_ns: 1.0,
            steal: None,
            throttle: ThrottleWatch::default(),
            cpus: 2.0,
        }
    }

    fn account(ns: u64) -> Account {
        Account {
            switches: 5,
            cpu: 1,
            cpu_ns: ns,
            at: Anchor { ticks: ns, raw_ns: ns },
            steal: Some(7),
            throttled_s: None,
        }
    }

    #[test]
    fn an_undisturbed_sample_is_kept() {
        for kind in [Guards::ThisThread, Guards::WholeMachine] {
            assert_eq!(guard(kind).disturbance(&account(0), &account(60_000)), None);
        }
    }

    #[test]
    fn each_disturbance_is_named() {
        let judge = |after| guard(Guards::ThisThread).disturbance(&account(0), &after);
        let quiet = account(60_000);
        assert_eq!(judge(Account { switches: 6, ..quiet }), Some(Rejection::Preempted));
        assert_eq!(judge(Account { cpu: 0, ..quiet }), Some(Rejection::Migrated));
        assert_eq!(
            judge(Account {
                cpu_ns: 55_000,
                ..quiet
            }),
            Some(Rejection::Stolen)
        );
        let jump = Anchor {
            ticks: 160_000,
            raw_ns: 60_000,
        };
        assert_eq!(judge(Account { at: jump, ..quiet }), Some(Rejection::Clock));
    }

    #[test]
    fn a_sample_of_the_whole_machine_is_kept_with_its_stolen_share() {
        let guard = guard(Guards::WholeMachine);
        let quiet = account(60_000_000);
        let busy = Account {
            switches: 900,
            cpu: 0,
            cpu_ns: 0,
            steal: Some(9),
            ..quiet
        };
        assert_eq!(guard.disturbance(&account(0), &busy), None);
        // Two ticks of 10 ms, of 60 ms on two CPUs.
        assert_eq!(guard.stolen(&account(0), &busy), Some(1.0 / 6.0));
        assert_eq!(guard.stolen(&account(0), &quiet), Some(0.0));
        // A clock that jumps spoils it all the same.
        let jump = Account {
            at: Anchor {
                ticks: 160_000_000,
                raw_ns: 60_000_000,
            },
            ..busy
        };
        assert_eq!(guard.disturbance(&account(0), &jump), Some(Rejection::Clock));
    }

    #[test]
    fn time_that_a_quota_took_is_stolen_time() {
        let guard = guard(Guards::WholeMachine);
        let of = |seconds: f64, steal: Option<u64>| {
            let before = Account {
                throttled_s: Some(1.0),
                ..account(0)
            };
            let after = Account {
                throttled_s: Some(1.0 + seconds),
                steal,
                ..account(800_000_000)
            };
            guard.stolen(&before, &after).unwrap()
        };
        // 0.165 s of work under a fifth of a CPU, one thread; then two threads.
        assert!((of(0.635, Some(7)) - 0.79375).abs() < 1e-9);
        assert!((of(2.0 * 0.635, Some(7)) - 0.79375).abs() < 1e-9);
        assert_eq!(of(0.0, Some(7)), 0.0);
        assert!(of(0.8, None) <= MOST_STOLEN, "known without the hypervisor's account");
        assert!(
            (of(0.4, Some(7 + 16)) - 0.6).abs() < 1e-9,
            "half by the quota, a tenth by the hypervisor"
        );
    }

    #[test]
    fn a_share_that_the_kernel_does_not_tell_is_unknown_and_not_zero() {
        let guard = guard(Guards::WholeMachine);
        let untold = Account {
            steal: None,
            ..account(60_000_000)
        };
        assert_eq!(guard.stolen(&account(0), &untold), None);
        assert_eq!(guard.disturbance(&account(0), &untold), None);
        assert_eq!(guard.stolen(&account(0), &account(0)), None, "no time, no share");
    }

    #[test]
    fn a_sleep_inside_the_sample_is_caught_for_real() {
        let a = Anchor::now();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let mut guard = Guard::new(Guards::ThisThread, a.rate_to(Anchor::now()), 1);
        let before = guard.read();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let after = guard.read();
        assert!(after.switches > before.switches);
        // If other work disturbed the measurement of the rate, the clocks disagree first.
        let reason = guard.disturbance(&before, &after);
        assert!(
            matches!(reason, Some(Rejection::Preempted | Rejection::Clock)),
            "{reason:?}"
        );
    }
}
