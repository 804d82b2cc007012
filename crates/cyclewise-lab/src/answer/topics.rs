//! Sentences about what was measured, by topic. Each names the rows that it rests on.

use super::company;
use super::finding::Finding;
use crate::number::brief;
use crate::record::{Experiment, Record, Unit, Variant, Verdict, bounds};

/// The sentences whose rows the record contains, the most general first.
pub(super) fn all(record: &Record) -> Vec<String> {
    let topics: [fn(&Record) -> Option<String>; 8] =
        [lock_prefix, flags, kernel, clock, arc, per_cpu, spinlock, commands];
    topics.into_iter().filter_map(|topic| topic(record)).collect()
}

fn experiment<'a>(record: &'a Record, name: &str) -> Option<&'a Experiment> {
    record.experiments.iter().find(|e| e.name == name)
}

/// The finding of `a` against `b` in an experiment.
fn finding<'a>(record: &'a Record, name: &str, a: &str, b: &str) -> Option<Finding<'a>> {
    let e = experiment(record, name)?;
    let c = e.comparisons.iter().find(|c| c.a == a && c.b == b)?;
    Some(Finding::of(c, e.unit))
}

/// What a row costs, and in which unit: 13.0, cycles; `None` if it is missing, or if its slope is no cost.
fn cost(record: &Record, name: &str, variant: &str) -> Option<(String, &'static str)> {
    let e = experiment(record, name)?;
    let v = e.variants.iter().find(|v| v.name == variant && v.n > 0)?;
    (!v.is_not_linear()).then(|| figure(v, e.unit))
}

/// A row's figure and its unit: core cycles where they are known.
fn figure(v: &Variant, unit: Unit) -> (String, &'static str) {
    if let Some(c) = &v.cycles {
        return (brief(c.per_op, c.ci95), "cycles");
    }
    let (value, ci95) = v.value();
    let unit = match unit {
        Unit::TicksPerOp => "ticks",
        Unit::NanosPerOp => "ns",
        Unit::OpsPerSecond => "a second",
        Unit::Seconds => "s",
    };
    (brief(value, bounds(ci95)), unit)
}

/// `a, b and c`.
fn listed(parts: &[String]) -> Option<String> {
    match parts {
        [] => None,
        [one] => Some(one.clone()),
        [most @ .., last] => Some(format!("{} and {last}", most.join(", "))),
    }
}

fn lock_prefix(record: &Record) -> Option<String> {
    let pairs = [
        ("XADD", "lock-xadd64", "ds-xadd64"),
        ("CMPXCHG", "lock-cmpxchg64", "ds-cmpxchg64"),
        ("INC", "lock-inc64", "ds-inc64"),
    ];
    let mut costs = Vec::new();
    let mut others = String::new();
    for (what, a, b) in pairs {
        let Some(f) = finding(record, "lock-prefix", a, b) else {
            continue;
        };
        match f.cost() {
            Some(cost) => costs.push(format!("{cost} on {what}")),
            None => others.push_str(&format!("; on {what}: {}", f.verdict_in_short())),
        }
    }
    // Back to back is an upper bound, so the sentence says what programs pay.
    for (what, a, _) in pairs {
        others.push_str(&company::of_row(record, &format!("LOCK {what}"), ["lock-prefix", a]));
    }
    match (listed(&costs), others.strip_prefix("; ")) {
        (Some(costs), _) => Some(format!("Back to back, LOCK costs {costs}{others}.")),
        (None, Some(others)) => Some(format!("LOCK: {others}.")),
        (None, None) => None,
    }
}

fn flags(record: &Record) -> Option<String> {
    let (popf, unit) = cost(record, "popf", "push-popf")?;
    let others = [("a test and a branch", "test-branch"), ("the soft mask", "soft-mask")];
    let against: Vec<String> = others
        .iter()
        .filter_map(|(what, row)| {
            let (shown, _) = cost(record, "popf", row)?;
            let verdict = finding(record, "popf", row, "push-popf").map_or(String::new(), |f| match f.verdict {
                Verdict::Faster | Verdict::Slower => String::new(),
                _ => format!(" ({})", f.verdict()),
            });
            Some(format!(", {what} {shown}{verdict}"))
        })
        .collect();
    let company = company::of_row(record, "POPF", ["popf", "push-popf"]);
    Some(format!("POPF costs {popf} {unit}{}{company}.", against.concat()))
}

fn kernel(record: &Record) -> Option<String> {
    let (call, unit) = cost(record, "null-syscall", "getppid")?;
    let calls =
        finding(record, "null-syscall", "getppid", "function-call").map_or(String::new(), |f| match f.verdict {
            Verdict::Slower => format!(", {} calls of a function", brief(f.ratio, f.ci95)),
            _ => format!(", against a call of a function: {}", f.verdict()),
        });
    Some(format!("Entering the kernel costs {call} {unit}{calls}."))
}

fn clock(record: &Record) -> Option<String> {
    let std = finding(record, "clock", "now", "std-instant")?.takes("The ordered clock", "std's Instant");
    let company = company::of_row(record, "it", ["clock", "now"]);
    Some(format!("{std}{company}."))
}

fn arc(record: &Record) -> Option<String> {
    let elided =
        finding(record, "arc", "arc-elided-vec", "arc-locked-vec")?.takes("Cloning many Arcs without LOCK", "with it");
    let std = finding(record, "arc", "arc-locked-vec", "std-arc-vec")
        .map_or(String::new(), |f| format!("; {}", f.takes("with LOCK it", "std's")));
    let company = company::of_row(record, "a pair with LOCK", ["arc", "arc-locked"]);
    Some(format!("{elided}{std}{company}."))
}

fn per_cpu(record: &Record) -> Option<String> {
    let locked = finding(record, "percpu", "lock-inc-64", "rseq-add-64")?
        .takes("A locked addition", "one to the CPU's own copy (rseq)");
    let company = company::of_row(record, "the locked one", ["percpu", "lock-inc-64"]);
    Some(format!("{locked}{company}."))
}

fn spinlock(record: &Record) -> Option<String> {
    let peers = [
        ("parking_lot's", "parking-lot-cpus"),
        ("std's", "std-mutex-cpus"),
        ("spin's", "spin-cpus"),
    ];
    let against: Vec<String> = peers
        .iter()
        .filter_map(|(what, row)| {
            let share = finding(record, "spinlock", "cyclewise-cpus", row)?.share();
            Some(format!("{what} {share}"))
        })
        .collect();
    Some(format!(
        "The queued spinlock on all CPUs takes, of the time of others: {}.",
        listed(&against)?
    ))
}

/// Whole commands, each against the first.
fn commands(record: &Record) -> Option<String> {
    let e = experiment(record, "time")?;
    let said: Vec<String> = e
        .comparisons
        .iter()
        .map(|c| Finding::of(c, e.unit).sentence())
        .collect();
    (!said.is_empty()).then(|| said.join(" "))
}
