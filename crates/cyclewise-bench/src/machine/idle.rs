//! Chooses the CPU to pin to: the idlest allowed one over a short interval.
//!
//! # Order of preference
//! 1. Performance cores, where cores differ.
//! 2. Own idle time.
//! 3. Idle time of the busiest SMT sibling.
//! 4. Not CPU 0, which takes most interrupts.
//! 5. The lower number.
//!
//! Candidates that /proc/stat cannot tell apart by one criterion are compared by the next.

use super::stat::{self, Times};
use super::topology;
use crate::error::{Error, Result};
use crate::sys::procfs::Sysfs;
use std::time::Duration;

/// How long idle time is observed.
const INTERVAL: Duration = Duration::from_millis(100);
/// USER_HZ ticks by which two equally idle CPUs can differ: one at each end of the interval.
const CHANCE_TICKS: f64 = 2.0;

/// The chosen CPU is busy below this idle share.
const BUSY: f64 = 0.5; // A guess: every other time slice then belongs to other work.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdlestCpu {
    pub cpu: u32,
    /// The reason for the choice, as a sentence.
    pub reason: String,
}

#[derive(Clone, Debug)]
struct Candidate {
    cpu: u32,
    /// Share of the interval spent idle.
    idle: f64,
    /// The idle share of its busiest SMT sibling; 1 if it has none.
    sibling_idle: f64,
    /// Its performance relative to other kinds of cores; equal for all if there is one kind.
    strength: u64,
}

/// Observes the CPUs of `allowed` for 100 ms and chooses one.
///
/// If /proc/stat cannot be read, chooses the highest CPU, and the reason says so.
///
/// # Errors
/// `allowed` is empty.
pub fn idlest_cpu(allowed: &[u32]) -> Result<IdlestCpu> {
    idlest_cpu_in(&Sysfs::machine(), allowed, || std::thread::sleep(INTERVAL))
}

fn idlest_cpu_in(fs: &Sysfs, allowed: &[u32], wait: impl FnOnce()) -> Result<IdlestCpu> {
    let Some(highest) = allowed.iter().copied().max() else {
        return Err(Error::unsupported(
            "this process has no allowed CPU (empty affinity mask); widen the mask with `taskset`",
        ));
    };
    if allowed.len() == 1 {
        return Ok(IdlestCpu {
            cpu: highest,
            reason: format!("CPU {highest} is the only one allowed."),
        });
    }
    let before = fs.read("/proc/stat");
    wait();
    let after = fs.read("/proc/stat");
    let candidates = match (before.get(), after.get()) {
        (Some(before), Some(after)) => candidates(fs, allowed, &lines(before), &lines(after)),
        _ => Vec::new(),
    };
    Ok(choose(&candidates).unwrap_or_else(|| IdlestCpu {
        cpu: highest,
        reason: format!("CPU {highest} is the highest allowed; idle times are unknown ({after})."),
    }))
}

/// Restores the last newline, which readings lack and the parser needs.
fn lines(text: &str) -> String {
    format!("{text}\n")
}

fn candidates(fs: &Sysfs, allowed: &[u32], before: &str, after: &str) -> Vec<Candidate> {
    let passed = |cpu| -> Option<Times> {
        let earlier = stat::of_cpu(before.as_bytes(), cpu)?;
        Some(stat::of_cpu(after.as_bytes(), cpu)?.since(earlier))
    };
    // A CPU that slept through the whole interval may show no tick; it was idle.
    let idle = |cpu| passed(cpu).map(|t| t.share(t.idle).unwrap_or(1.0));
    let performance = topology::hybrid(fs).map(|(performance, _)| performance);
    let known = allowed.iter().filter_map(|&cpu| {
        let siblings = topology::siblings(fs, cpu).unwrap_or_default();
        Some(Candidate {
            cpu,
            idle: idle(cpu)?,
            sibling_idle: siblings.into_iter().filter_map(idle).fold(1.0, f64::min),
            strength: match &performance {
                Some(performance) => u64::from(performance.contains(&cpu)),
                None => topology::capacity(fs, cpu).unwrap_or(0),
            },
        })
    });
    known.collect()
}

/// Chooses among candidates; `None` if there are none.
fn choose(candidates: &[Candidate]) -> Option<IdlestCpu> {
    let strongest = candidates.iter().map(|c| c.strength).max()?;
    let mut left: Vec<&Candidate> = candidates.iter().filter(|c| c.strength == strongest).collect();
    let weaker = candidates.len() - left.len();
    keep_best(&mut left, |c| c.idle);
    keep_best(&mut left, |c| c.sibling_idle);
    let best = left.into_iter().min_by_key(|c| (c.cpu == 0, c.cpu))?;
    Some(IdlestCpu {
        cpu: best.cpu,
        reason: reason(best, candidates, weaker),
    })
}

/// Keeps the candidates that `measure` cannot tell from the best.
fn keep_best(left: &mut Vec<&Candidate>, measure: impl Fn(&Candidate) -> f64) {
    let chance = CHANCE_TICKS * 0.010 / INTERVAL.as_secs_f64(); // A USER_HZ tick is 10 ms.
    let best = left.iter().map(|c| measure(c)).fold(0.0, f64::max);
    left.retain(|c| measure(c) >= best - chance);
}

fn reason(best: &Candidate, candidates: &[Candidate], weaker: usize) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let mut said = format!(
        "CPU {}: {} idle over {} ms",
        best.cpu,
        percent(best.idle),
        INTERVAL.as_millis()
    );
    // Machines have hundreds of CPUs; show only the runner-up.
    let others = candidates.iter().filter(|c| c.cpu != best.cpu);
    if let Some(next) = others.max_by(|a, b| a.idle.total_cmp(&b.idle)) {
        said += &format!(", CPU {} {}", next.cpu, percent(next.idle));
    }
    if best.sibling_idle < 1.0 {
        said += &format!("; its SMT sibling {} idle", percent(best.sibling_idle));
    }
    if weaker > 0 {
        said += &format!("; skipped {weaker} weaker cores");
    }
    if best.idle < BUSY {
        said += "; no CPU is idle, so expect preempted samples";
    }
    said + "."
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    /// Each CPU's busy ticks of ten.
    fn stat(busy: &[u64], since: u64) -> String {
        let line = |(cpu, busy): (usize, &u64)| {
            format!(
                "cpu{cpu} {} 0 0 {} 0 0 0 0 0 0\n",
                100 + busy * since,
                500 + (10 - busy) * since
            )
        };
        let cpus: String = busy.iter().enumerate().map(line).collect();
        format!("cpu  1 1 1 1 1 1 1 1 0 0\n{cpus}intr 1\n")
    }

    fn choice(tree: &Tree, busy: &[u64]) -> IdlestCpu {
        let allowed: Vec<u32> = (0..busy.len() as u32).collect();
        tree.write("/proc/stat", &stat(busy, 0));
        idlest_cpu_in(&tree.fs(), &allowed, || tree.write("/proc/stat", &stat(busy, 1))).unwrap()
    }

    #[test]
    fn the_idlest_is_chosen_and_the_reason_has_the_idle_shares() {
        let choice = choice(&Tree::new(), &[1, 6, 9]);
        assert_eq!(choice.cpu, 0);
        assert_eq!(choice.reason, "CPU 0: 90 % idle over 100 ms, CPU 1 40 %.");
    }

    #[test]
    fn cpu_0_loses_ties() {
        assert_eq!(choice(&Tree::new(), &[0, 0, 0]).cpu, 1);
        assert_eq!(choice(&Tree::new(), &[0, 1, 5]).cpu, 1, "one tick is within chance");
    }

    #[test]
    fn an_idle_sibling_breaks_the_tie() {
        let tree = Tree::new();
        for (cpu, siblings) in [(0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")] {
            tree.write(
                &format!("{}/cpu{cpu}/topology/thread_siblings_list", topology::CPUS),
                siblings,
            );
        }
        let choice = choice(&tree, &[0, 0, 2, 10]);
        assert_eq!(choice.cpu, 2, "{}", choice.reason);
    }

    #[test]
    fn performance_cores_come_before_idle_ones() {
        let by_capacity = Tree::new();
        for (cpu, capacity) in [(0, "446"), (1, "1024"), (2, "1024")] {
            by_capacity.write(&format!("{}/cpu{cpu}/cpu_capacity", topology::CPUS), capacity);
        }
        let chosen = choice(&by_capacity, &[0, 9, 6]);
        assert_eq!(chosen.cpu, 2);
        assert_says!(chosen.reason, "1 weaker cores");
        let by_kind = Tree::new();
        by_kind.write("/sys/devices/cpu_core/cpus", "0");
        by_kind.write("/sys/devices/cpu_atom/cpus", "1-2");
        assert_eq!(choice(&by_kind, &[5, 0, 0]).cpu, 0);
    }

    #[test]
    fn the_reason_says_if_all_cpus_are_busy() {
        let choice = choice(&Tree::new(), &[10, 10]);
        assert_eq!(choice.cpu, 1);
        assert!(
            choice.reason.ends_with("no CPU is idle, so expect preempted samples."),
            "{}",
            choice.reason
        );
    }

    #[test]
    fn the_reason_says_if_idle_times_are_unknown() {
        let fs = Tree::new().fs();
        assert!(idlest_cpu_in(&fs, &[], || ()).is_err());
        assert_eq!(
            idlest_cpu_in(&fs, &[3], || ()).unwrap().reason,
            "CPU 3 is the only one allowed."
        );
        let blind = idlest_cpu_in(&fs, &[0, 5], || ()).unwrap();
        assert_eq!(blind.cpu, 5);
        assert_says!(blind.reason, "/proc/stat: ENOENT");
    }

    #[test]
    fn a_real_choice_is_an_allowed_one() {
        let allowed = topology::allowed(&Sysfs::machine()).unwrap_or_else(|| vec![0]);
        assert!(allowed.contains(&idlest_cpu(&allowed).unwrap().cpu));
    }
}
