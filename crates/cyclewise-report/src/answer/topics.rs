//! Sentences about what was measured, by topic. Each names the rows that it rests on.

use super::in_context::{self, Row};
use super::{Finding, fitting, listed};
use crate::number::{brief, cost_range};
use crate::record::{Experiment, Record, Unit, Variant, Verdict, bounds};

/// The sentences whose rows the record contains: the user's own commands, then the most general first.
pub(super) fn all(record: &Record) -> Vec<String> {
    let topics: [fn(&Record) -> Option<String>; 9] = [
        commands,
        lock_prefix,
        flags,
        kernel,
        clock,
        arc,
        per_cpu,
        spinlock,
        width,
    ];
    topics.into_iter().filter_map(|topic| topic(record)).collect()
}

fn experiment<'a>(record: &'a Record, name: &str) -> Option<&'a Experiment> {
    record.experiments.iter().find(|e| e.name == name)
}

/// The finding of `a` against `b` in an experiment.
fn finding<'a>(record: &'a Record, name: &str, a: &str, b: &str) -> Option<Finding<'a>> {
    let e = experiment(record, name)?;
    let c = e.comparisons.iter().find(|c| c.a == a && c.b == b)?;
    Some(Finding::of_comparison(c, e.unit))
}

/// What a row costs, and in which unit: 13.0, cycles; of a row that is not linear the range by the loop around it, in the experiment's unit.
/// `None` if it is missing, or if that range is not known.
fn cost(record: &Record, name: &str, variant: &str, as_what: As) -> Option<(String, &'static str)> {
    let e = experiment(record, name)?;
    let v = e.variants.iter().find(|v| v.name == variant && v.n > 0)?;
    if v.is_not_linear() {
        return Some((cost_range(v.cost_range()?, 1.0), figure(v, e.unit, As::Unit).1));
    }
    Some(figure(v, e.unit, as_what))
}

/// The unit of a sentence's figures.
#[derive(Clone, Copy, PartialEq)]
enum As {
    /// Core cycles where they are known.
    Cycles,
    /// The experiment's unit, so that it is one with a range over surroundings.
    Unit,
}

/// A row's figure and its unit.
fn figure(v: &Variant, unit: Unit, as_what: As) -> (String, &'static str) {
    if let Some(c) = v.cycles.as_ref().filter(|_| as_what == As::Cycles) {
        return (brief(c.per_op, c.ci95), "cycles");
    }
    let (value, ci95) = v.value();
    let unit = match unit {
        Unit::TicksPerOp => "ticks",
        Unit::NanosPerOp => "ns",
        Unit::OpsPerSecond => "a second",
        Unit::Seconds | Unit::Milliseconds | Unit::Microseconds | Unit::Nanoseconds => unit.as_str(),
    };
    (brief(value, bounds(ci95)), unit)
}

/// A sentence with what its operations add in context: with the surroundings in which that is nothing, where there is room.
fn with_context(said: &str, record: &Record, rows: &[(&str, Row)]) -> String {
    fitting([true, false].map(|counts| format!("{said}{}.", in_context::of_rows(record, rows, counts))))
}

const XADD: Row = ["lock-prefix", "lock-xadd64"];
const CMPXCHG: Row = ["lock-prefix", "lock-cmpxchg64"];
const INC: Row = ["lock-prefix", "lock-inc64"];
const POPF: Row = ["popf", "push-popf"];
const NOW: Row = ["clock", "now"];
const ARC: Row = ["arc", "arc-locked"];
const RSEQ: Row = ["percpu", "rseq-add"];

/// The rows whose cost in context is told.
pub const IN_CONTEXT: [Row; 7] = [XADD, CMPXCHG, INC, POPF, NOW, ARC, RSEQ];

fn lock_prefix(record: &Record) -> Option<String> {
    let pairs = [
        ("XADD", XADD, "ds-xadd64"),
        ("CMPXCHG", CMPXCHG, "ds-cmpxchg64"),
        ("INC", INC, "ds-inc64"),
    ];
    let mut costs = Vec::new();
    let mut others = String::new();
    for (what, [e, a], b) in pairs {
        let Some(f) = finding(record, e, a, b) else {
            continue;
        };
        match f.cost() {
            Some(cost) if costs.is_empty() => costs.push(format!("{what} {cost} slower")),
            Some(cost) => costs.push(format!("{what} {cost}")),
            None => others.push_str(&format!("; on {what}: {}", f.verdict_in_short())),
        }
    }
    let said = match (listed(&costs), others.strip_prefix("; ")) {
        (Some(costs), _) => format!("Back to back, LOCK makes {costs}{others}"),
        (None, Some(others)) => format!("LOCK: {others}"),
        (None, None) => return None,
    };
    // Back to back is mostly an upper bound, so the sentence says what programs pay.
    let rows = [("LOCK XADD", XADD), ("CMPXCHG", CMPXCHG), ("INC", INC)];
    Some(with_context(&said, record, &rows))
}

fn flags(record: &Record) -> Option<String> {
    let context = in_context::cost(record, POPF);
    // Ranges over surroundings are in ticks, and a sentence has one unit.
    let as_what = if context.is_some() { As::Unit } else { As::Cycles };
    let (popf, unit) = cost(record, "popf", "push-popf", as_what)?;
    let others = [("a test and branch", "test-branch"), ("a soft mask", "soft-mask")];
    let against: Vec<String> = others
        .iter()
        .filter_map(|(what, row)| {
            let (shown, its) = cost(record, "popf", row, as_what)?;
            let its = if its == unit { String::new() } else { format!(" {its}") };
            let verdict = finding(record, "popf", row, "push-popf").map_or(String::new(), |f| match f.verdict {
                Verdict::Faster | Verdict::Slower => String::new(),
                _ => format!(" ({})", f.verdict()),
            });
            Some(format!("; {what} {shown}{its}{verdict}"))
        })
        .collect();
    let context = context.map_or(String::new(), |cost| format!(", {cost}"));
    Some(format!("POPF costs {popf} {unit}{context}{}.", against.concat()))
}

fn kernel(record: &Record) -> Option<String> {
    let (call, unit) = cost(record, "null-syscall", "getppid", As::Cycles)?;
    let calls =
        finding(record, "null-syscall", "getppid", "function-call").map_or(String::new(), |f| match f.verdict {
            Verdict::Slower => format!(", {} calls of a function", brief(f.ratio, f.ci95)),
            _ => format!(", against a call of a function: {}", f.verdict()),
        });
    Some(format!("Entering the kernel costs {call} {unit}{calls}."))
}

fn clock(record: &Record) -> Option<String> {
    let std = finding(record, "clock", "now", "std-instant")?.takes("The ordered clock", "std's Instant");
    Some(with_context(&std, record, &[("it", NOW)]))
}

fn arc(record: &Record) -> Option<String> {
    let elided = finding(record, "arc", "arc-elided-vec", "arc-locked-vec")?.takes("Cloning Arcs elided", "locked");
    let std = finding(record, "arc", "arc-locked-vec", "std-arc-vec")
        .map_or(String::new(), |f| format!("; {}", f.takes("locked", "std's")));
    let rows = [("a locked pair", ARC)];
    Some(fitting([
        with_context(&format!("{elided}{std}"), record, &rows),
        with_context(&elided, record, &rows),
    ]))
}

fn per_cpu(record: &Record) -> Option<String> {
    let locked = finding(record, "percpu", "lock-inc-64", "rseq-add-64")?;
    let said = [
        (
            "A locked addition",
            "one to the CPU's own copy (rseq)",
            "the locked one",
            "the own copy",
        ),
        ("A locked add", "rseq's", "it", "rseq's"),
    ];
    Some(fitting(said.map(|(what, whose, it, own)| {
        with_context(&locked.takes(what, whose), record, &[(it, INC), (own, RSEQ)])
    })))
}

fn spinlock(record: &Record) -> Option<String> {
    let peers = [
        ("parking_lot's", "parking-lot-cpus"),
        ("std's", "std-mutex-cpus"),
        ("spin's", "spin-cpus"),
    ];
    let (mut claims, mut others) = (Vec::new(), Vec::new());
    let mut short = Vec::new();
    for (whose, row) in peers {
        let found = finding(record, "spinlock", "cyclewise-cpus", row);
        if let Some(f) = &found {
            short.push(match f.verdict_in_short().split(':').next() {
                _ if f.verdict.is_claim() => format!("{} {whose}", f.times()),
                verdict => format!("{whose}: {}", verdict.unwrap_or_default()),
            });
        }
        match found {
            Some(f) if f.verdict.is_claim() && claims.is_empty() => {
                claims.push(format!("{} the time of {whose}", f.times()));
            }
            Some(f) if f.verdict.is_claim() => claims.push(format!("{} of {whose}", f.times())),
            Some(f) => others.push(format!("against {whose}: {}", f.verdict_in_short())),
            None => {}
        }
    }
    let claims = listed(&claims).map(|all| format!(" takes {all}"));
    let said: Vec<String> = claims
        .into_iter()
        .chain([others.join("; ")])
        .filter(|s| !s.is_empty())
        .collect();
    let said = match (said.first(), others.is_empty()) {
        (None, _) => return None,
        (Some(first), _) if said.len() == 1 && !others.is_empty() => format!(" {first}"),
        _ => said.join("; "),
    };
    Some(fitting([
        format!("With a thread on each CPU the queued spinlock{said}."),
        format!("On all CPUs the queued lock{}.", said.replace("× of ", "× ")),
        format!("On all CPUs the queued lock's time is {}.", short.join(", ")),
    ]))
}

/// The rows of `width` on each architecture: a lock of one byte, one of a word, and one of a word that is given back as a byte.
pub const WIDTHS: [[&str; 3]; 2] = [
    ["cmpxchg8-mov8", "cmpxchg32-mov32", "cmpxchg32-mov8"],
    ["cas8-stlr8", "cas32-stlr32", "cas32-stlr8"],
];

/// A free lock by the width of its word, and by that of the store that gives it back.
fn width(record: &Record) -> Option<String> {
    WIDTHS.into_iter().find_map(|[byte, word, mixed]| {
        let of_byte = finding(record, "width", byte, word)?.takes("Locking and unlocking 8 free bits", "32 bits");
        let mixed = finding(record, "width", mixed, word).map_or(String::new(), |f| match f.verdict {
            Verdict::Faster | Verdict::Slower => format!("; 32 given back as 8: {}", f.times()),
            _ => format!("; 32 given back as 8: {}", f.verdict_in_short()),
        });
        Some(fitting([format!("{of_byte}{mixed}."), format!("{of_byte}.")]))
    })
}

/// The most whole commands that are told.
const MOST_COMMANDS: usize = 3;

/// Whole commands, each against the first.
fn commands(record: &Record) -> Option<String> {
    let e = experiment(record, "time")?;
    let shown = e.comparisons.iter().take(MOST_COMMANDS);
    let mut said: Vec<String> = shown.map(|c| Finding::of_comparison(c, e.unit).sentence()).collect();
    if e.comparisons.len() > MOST_COMMANDS {
        said.push(format!("And {} more.", e.comparisons.len() - MOST_COMMANDS));
    }
    let other = e.timing.as_ref().map(|t| t.by.as_str()).filter(|by| *by != "wall");
    let quantity = other.map_or(String::new(), |by| format!("Of {by} time: "));
    (!said.is_empty()).then(|| format!("{quantity}{}", said.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::{compared, record_of};
    use cyclewise_bench::answer::made_up::pair;

    #[test]
    fn a_matrix_without_the_rows_back_to_back_makes_no_sentence() {
        let mut r = in_context::tests::record(&[4.5, 0.3, 2.0]);
        assert_eq!(lock_prefix(&r), None);
        // The twin: with them it says both.
        let inc = pair("lock-inc64", "ds-inc64", Verdict::Slower, 1.3, 0.01);
        r.experiments.push(compared("lock-prefix", vec![inc]));
        assert_eq!(
            lock_prefix(&r).unwrap(),
            "Back to back, LOCK makes INC 1.30 times slower; in context INC adds 0.30 to 4.5 ticks."
        );
    }

    #[test]
    fn widths_of_both_architectures_are_told_and_no_more_than_is_claimed() {
        let said = |names: [&str; 3], verdict, ratio: f64| {
            let pair = |a: &str| pair(a, names[1], verdict, ratio, 0.001);
            width(&record_of(vec![compared(
                "width",
                vec![pair(names[0]), pair(names[2])],
            )]))
        };
        for names in WIDTHS {
            assert_eq!(
                said(names, Verdict::Slower, 1.8).unwrap(),
                "Locking and unlocking 8 free bits takes 1.80× the time of 32 bits; 32 given back as 8: 1.80×."
            );
            let same = said(names, Verdict::Same, 1.0).unwrap();
            assert!(
                same.starts_with("Locking and unlocking 8 free bits takes as long as 32 bits"),
                "{same}"
            );
            assert_lacks!(said(names, Verdict::Undecided, 1.8).unwrap(), "takes");
        }
        assert_eq!(said(["a", "b", "c"], Verdict::Slower, 1.8), None);
    }

    #[test]
    fn the_spinlock_says_what_is_undecided_apart() {
        let pair = |b: &str, verdict, ratio: f64| pair("cyclewise-cpus", b, verdict, ratio, 0.1);
        let said = |comparisons| spinlock(&record_of(vec![compared("spinlock", comparisons)]));
        let some = said(vec![
            pair("std-mutex-cpus", Verdict::Faster, 0.2),
            pair("spin-cpus", Verdict::Undecided, 1.0),
        ]);
        assert_eq!(
            some.unwrap(),
            "On all CPUs the queued lock takes 0.200× the time of std's; against spin's: undecided (0.90–1.10)."
        );
        let none = said(vec![pair("spin-cpus", Verdict::Undecided, 1.0)]).unwrap();
        assert_says!(none, "queued spinlock against spin's: undecided");
        assert_eq!(said(Vec::new()), None);
    }
}
