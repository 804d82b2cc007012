//! The CPU to pin to: the idlest one allowed, chosen by looking at where time went over a short interval.
//!
//! # Order of preference
//! 1. Performance cores, where cores differ.
//! 2. Own idle time.
//! 3. Idle time of the busiest SMT sibling.
//! 4. Not CPU 0, which takes most interrupts.
//! 5. The lower number.
//!
//! A preference yields to the next one where its candidates are nearer than /proc/stat can tell apart.

use super::stat::{self, Times};
use super::topology;
use crate::error::{Error, Result};
use crate::sys::procfs::Sysfs;
use std::time::Duration;

/// How long idleness is watched.
const INTERVAL: Duration = Duration::from_millis(100);
/// USER_HZ ticks by which two CPUs differ by chance: one at each end of the interval.
const CHANCE_TICKS: f64 = 2.0;

/// Idle share below which the chosen CPU itself is busy.
const BUSY: f64 = 0.5; // A guess: by then every other time slice is somebody else's.

/// The CPU chosen, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The CPU.
    pub cpu: u32,
    /// Why this one, as a sentence.
    pub reason: String,
}

/// What is known of one CPU before choosing.
#[derive(Clone, Debug)]
struct Candidate {
    cpu: u32,
    /// Share of the interval spent idle.
    idle: f64,
    /// The same of its busiest SMT sibling; 1 where it has none.
    sibling_idle: f64,
    /// Where cores differ, how strong it is; equal for all where they do not.
    strength: u64,
}

/// Watches the CPUs of `allowed` for 100 ms and chooses one.
///
/// Where /proc/stat cannot be read, the choice is the highest CPU, and the reason says so.
///
/// # Errors
/// `allowed` is empty.
pub fn idlest_cpu(allowed: &[u32]) -> Result<Choice> {
    idlest_cpu_in(&Sysfs::machine(), allowed, || std::thread::sleep(INTERVAL))
}

fn idlest_cpu_in(fs: &Sysfs, allowed: &[u32], wait: impl FnOnce()) -> Result<Choice> {
    let Some(highest) = allowed.iter().copied().max() else {
        return Err(Error::unsupported(
            "no CPU is allowed to this process (empty affinity mask); widen it with `taskset`",
        ));
    };
    if allowed.len() == 1 {
        return Ok(Choice {
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
    Ok(choose(&candidates).unwrap_or_else(|| Choice {
        cpu: highest,
        reason: format!("CPU {highest} is the highest allowed; idle times are not known ({after})."),
    }))
}

/// Readings are trimmed; the parser wants its last newline.
fn lines(text: &str) -> String {
    format!("{text}\n")
}

fn candidates(fs: &Sysfs, allowed: &[u32], before: &str, after: &str) -> Vec<Candidate> {
    let passed = |cpu| -> Option<Times> {
        let earlier = stat::of_cpu(before.as_bytes(), cpu)?;
        Some(stat::of_cpu(after.as_bytes(), cpu)?.since(earlier))
    };
    // A CPU that slept through the interval may show no tick at all: that is idle.
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

/// Chooses among candidates; `None` where there are none.
fn choose(candidates: &[Candidate]) -> Option<Choice> {
    let strongest = candidates.iter().map(|c| c.strength).max()?;
    let mut left: Vec<&Candidate> = candidates.iter().filter(|c| c.strength == strongest).collect();
    let weaker = candidates.len() - left.len();
    keep_best(&mut left, |c| c.idle);
    keep_best(&mut left, |c| c.sibling_idle);
    left.sort_by_key(|c| (c.cpu == 0, c.cpu));
    let best = *left.first()?;
    Some(Choice {
        cpu: best.cpu,
        reason: reason(best, candidates, weaker),
    })
}

/// Keeps those within chance of the best by `measure`.
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
    // Machines have hundreds; the runner-up is what a reader compares with.
    let others = candidates.iter().filter(|c| c.cpu != best.cpu);
    if let Some(next) = others.max_by(|a, b| a.idle.total_cmp(&b.idle)) {
        said += &format!(", CPU {} {}", next.cpu, percent(next.idle));
    }
    if best.sibling_idle < 1.0 {
        said += &format!("; its SMT sibling {} idle", percent(best.sibling_idle));
    }
    if weaker > 0 {
        said += &format!("; {weaker} weaker cores were passed over");
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

    fn choice(tree: &Tree, busy: &[u64]) -> Choice {
        let allowed: Vec<u32> = (0..busy.len() as u32).collect();
        tree.write("/proc/stat", &stat(busy, 0));
        idlest_cpu_in(&tree.fs(), &allowed, || tree.write("/proc/stat", &stat(busy, 1))).unwrap()
    }

    #[test]
    fn the_idlest_wins_and_the_reason_says_by_how_much() {
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
        assert!(chosen.reason.contains("1 weaker cores"), "{}", chosen.reason);
        let by_kind = Tree::new();
        by_kind.write("/sys/devices/cpu_core/cpus", "0");
        by_kind.write("/sys/devices/cpu_atom/cpus", "1-2");
        assert_eq!(choice(&by_kind, &[5, 0, 0]).cpu, 0);
    }

    #[test]
    fn a_busy_machine_is_said_to_be_busy() {
        let choice = choice(&Tree::new(), &[10, 10]);
        assert_eq!(choice.cpu, 1);
        assert!(
            choice.reason.ends_with("no CPU is idle, so expect preempted samples."),
            "{}",
            choice.reason
        );
    }

    #[test]
    fn absence_is_said() {
        let fs = Tree::new().fs();
        assert!(idlest_cpu_in(&fs, &[], || ()).is_err());
        assert_eq!(
            idlest_cpu_in(&fs, &[3], || ()).unwrap().reason,
            "CPU 3 is the only one allowed."
        );
        let blind = idlest_cpu_in(&fs, &[0, 5], || ()).unwrap();
        assert_eq!(blind.cpu, 5);
        assert!(blind.reason.contains("/proc/stat: ENOENT"), "{}", blind.reason);
    }

    #[test]
    fn a_real_choice_is_an_allowed_one() {
        let allowed = topology::allowed(&Sysfs::machine()).unwrap_or_else(|| vec![0]);
        assert!(allowed.contains(&idlest_cpu(&allowed).unwrap().cpu));
    }
}
