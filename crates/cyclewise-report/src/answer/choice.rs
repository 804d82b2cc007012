//! What to use, for the questions that people bring: which clock, which lock, which shared pointer.
//!
//! One of ours is chosen unless a comparison says that it is slower than another one. What is not decided is called that.

use super::{Finding, listed};
use crate::number::significant;
use crate::record::{Experiment, Unit, Variant, Verdict};

/// What something is needed for, and the variants that do it: ours first. Each other one is compared with ours in the experiment.
struct Need {
    what: &'static str,
    /// The variant, and what a program calls it.
    variants: &'static [(&'static str, &'static str)],
}

/// Writes the needs of each experiment, each with its variants as `"variant" as "what a program calls it"`.
macro_rules! needs {
    ($($experiment:literal {$($what:literal: $($variant:literal as $name:literal),+;)+})+) => {
        [$(($experiment, &[$(Need { what: $what, variants: &[$(($variant, $name)),+] }),+])),+]
    };
}

const NEEDS: [(&str, &[Need]); 3] = needs! {
    "clock" {
        "For intervals inside one thread": "task-now" as "clock::Instant::<PerTask>::read", "quanta" as "quanta";
        "For stamps that threads compare":
            "now" as "clock::Instant::now", "std-instant" as "std's Instant", "vdso-monotonic" as "clock_gettime";
        "For a time that may be old": "recent" as "clock::Instant::recent", "coarsetime" as "coarsetime";
    }
    "spinlock" {
        "For a lock that is mostly free":
            "cyclewise" as "lock::SpinLock", "parking-lot" as "parking_lot", "std-mutex" as "std's Mutex",
            "spin" as "spin", "spin-ticket" as "spin's ticket lock";
        "For short sections and a thread on each CPU":
            "cyclewise-cpus" as "lock::SpinLock", "parking-lot-cpus" as "parking_lot",
            "std-mutex-cpus" as "std's Mutex", "spin-cpus" as "spin", "spin-ticket-cpus" as "spin's ticket lock";
        "For short sections and eight threads a CPU":
            "cyclewise-8x" as "lock::SpinLock", "parking-lot-8x" as "parking_lot", "std-mutex-8x" as "std's Mutex",
            "spin-8x" as "spin", "spin-ticket-8x" as "spin's ticket lock";
    }
    "arc" {
        "For references that threads share": "arc-locked" as "refs::Arc", "std-arc" as "std's Arc";
        "For references while the process has one thread":
            "arc-elided" as "refs::Arc after enable_single!", "rc" as "std's Rc";
    }
};

/// A shorter wait is told from this factor on.
const MUCH: f64 = 2.0;

/// A sentence for each need that the experiment decides, in nanoseconds.
pub fn choices(e: &Experiment, tsc_hz: f64) -> Vec<String> {
    let needs = NEEDS.iter().find(|(name, _)| *name == e.name);
    let ns = 1e9 / tsc_hz;
    if e.unit != Unit::TicksPerOp || !ns.is_finite() {
        return Vec::new();
    }
    let needs = needs.into_iter().flat_map(|(_, needs)| needs.iter());
    needs.filter_map(|need| need.choice(e, ns)).collect()
}

/// A variant that was measured.
struct Candidate<'a> {
    name: &'static str,
    variant: &'a Variant,
    /// Ours compared with it; none of ours.
    finding: Option<Finding<'a>>,
}

impl Need {
    fn choice(&self, e: &Experiment, ns: f64) -> Option<String> {
        let ours = self.variants[0].0;
        let candidate = |&(variant, name): &(&'static str, &'static str)| {
            let of_it = |v: &&Variant| v.name == variant && v.n > 0 && !v.is_not_linear();
            let compared = e.comparisons.iter().find(|c| c.a == ours && c.b == variant);
            Some(Candidate {
                name,
                variant: e.variants.iter().find(of_it)?,
                finding: compared.map(|c| Finding::of_comparison(c, e.unit)),
            })
        };
        let mut all: Vec<Candidate<'_>> = self.variants.iter().filter_map(candidate).collect();
        // Without ours there is nothing that the others are compared with.
        let is_ours = |c: &Candidate<'_>| c.variant.name == ours;
        if !all.first().is_some_and(is_ours) {
            return None;
        }
        all.retain(|c| is_ours(c) || c.finding.is_some());
        let cost = |c: &Candidate<'_>| c.variant.value().0;
        let beats = |c: &&Candidate<'_>| c.finding.as_ref().is_some_and(|f| f.verdict == Verdict::Slower);
        let best = all.iter().filter(beats).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        let chosen = best.unwrap_or(&all[0]);
        let mut said = format!("{}: {}, {}", self.what, chosen.name, figures(chosen.variant, ns));
        said.push_str(&against(chosen, &all));
        if let Some(calmer) = calmer(chosen, &all, ns) {
            said.push_str(&calmer);
        }
        Some(said + ".")
    }
}

/// What it costs, at the median, in the tail and at worst. A single read is timed between two stamps, whose part is in the least of its
/// figures too: what the tail has above that is added to the median.
fn figures(v: &Variant, ns: f64) -> String {
    let cost = v.value().0;
    let least = v.metrics.get("read-p50").map(|m| m.mean);
    let alone = |ticks: f64| time((cost + (ticks - least.unwrap_or(cost)).max(0.0)) * ns);
    let parts = [
        Some(time(cost * ns)),
        v.metrics.get("read-p99.9").map(|m| format!("p99.9 {}", alone(m.mean))),
        most(v, "read-max").map(|ticks| format!("at worst {}", alone(ticks))),
        most(v, "longest").map(|ms| format!("longest wait {}", time(ms * 1e6))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// How the chosen one compares with the others: claims, then what is the same, then what is not decided.
fn against(chosen: &Candidate<'_>, all: &[Candidate<'_>]) -> String {
    if let Some(finding) = &chosen.finding {
        return format!("; {} takes {} its time", all[0].name, finding.times());
    }
    let (mut faster, mut same, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for (name, finding) in all.iter().filter_map(|c| Some((c.name, c.finding.as_ref()?))) {
        match finding.verdict {
            Verdict::Faster if faster.is_empty() => faster.push(format!("{} the time of {name}", finding.times())),
            Verdict::Faster => faster.push(format!("{} that of {name}", finding.times())),
            Verdict::Same => same.push(name.to_owned()),
            _ => open.push(name.to_owned()),
        }
    }
    let take = if same.len() > 1 { "take" } else { "takes" };
    let parts = [
        listed(&faster).map(|all| format!("; it takes {all}")),
        listed(&same).map(|all| format!("; {all} {take} as long")),
        listed(&open).map(|all| format!("; no verdict against {all}")),
    ];
    parts.into_iter().flatten().collect()
}

/// The lock whose longest wait is the shortest, where that is much shorter than that of the chosen one.
fn calmer(chosen: &Candidate<'_>, all: &[Candidate<'_>], ns: f64) -> Option<String> {
    let limit = most(chosen.variant, "longest")? / MUCH;
    let waits = all.iter().filter_map(|c| Some((most(c.variant, "longest")?, c)));
    let (least, c) = waits.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (least < limit).then(|| {
        let cost = time(c.variant.value().0 * ns);
        format!(
            "; where the longest wait counts, {}: {}, at {cost}",
            c.name,
            time(least * 1e6)
        )
    })
}

/// The most that any sample saw of what was measured beside the time.
fn most(v: &Variant, metric: &str) -> Option<f64> {
    let m = v.metrics.get(metric)?;
    Some(m.samples.iter().copied().fold(m.mean, f64::max))
}

/// A time with the unit that fits.
fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns => (ns / 1e6, "ms"),
    };
    format!("{}\u{a0}{unit}", significant(value, 3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Figure, Metric};
    use cyclewise_bench::answer::made_up::pair;

    fn variant(name: &str, ticks: f64, metrics: &[(&str, f64)]) -> Variant {
        let metric = |&(name, mean): &(&str, f64)| {
            let metric = Metric {
                mean,
                samples: vec![mean, 2.0 * mean],
                ..Metric::default()
            };
            (name.to_owned(), metric)
        };
        Variant {
            name: name.to_owned(),
            n: 9,
            headline: Some(Figure {
                median: ticks,
                n: 9,
                ..Figure::default()
            }),
            metrics: metrics.iter().map(metric).collect(),
            ..Variant::default()
        }
    }

    fn said(name: &str, variants: Vec<Variant>, verdicts: &[(&str, Verdict)]) -> Vec<String> {
        let ours = variants[0].name.clone();
        let value = |name: &str| variants.iter().find(|v| v.name == name).unwrap().value().0;
        let compared = |&(b, verdict): &(&str, Verdict)| {
            let ratio = value(&ours) / value(b);
            pair(&ours, b, verdict, ratio, 0.001)
        };
        let comparisons = verdicts.iter().map(compared).collect();
        let e = Experiment {
            name: name.to_owned(),
            comparisons,
            variants,
            ..Experiment::default()
        };
        // Two ticks are a nanosecond.
        choices(&e, 2e9)
    }

    #[test]
    fn ours_is_chosen_with_its_tail_and_what_it_is_compared_with() {
        let tails = [("read-p50", 104.0), ("read-p99.9", 190.0), ("read-max", 3000.0)];
        let variants = vec![
            variant("now", 44.0, &tails),
            variant("std-instant", 60.0, &tails),
            variant("vdso-monotonic", 44.1, &tails),
        ];
        let verdicts = [("std-instant", Verdict::Faster), ("vdso-monotonic", Verdict::Same)];
        assert_eq!(
            said("clock", variants, &verdicts),
            [
                "For stamps that threads compare: clock::Instant::now, 22.0\u{a0}ns, p99.9 65.0\u{a0}ns, at worst 2.97\u{a0}µs; \
              it takes 0.733× the time of std's Instant; clock_gettime takes as long."
            ]
        );
    }

    #[test]
    fn what_is_faster_than_ours_is_chosen_and_what_waits_less_is_named() {
        let variants = || {
            vec![
                variant("cyclewise-8x", 20.0, &[("longest", 15.0)]),
                variant("parking-lot-8x", 46.0, &[("longest", 1.1)]),
                variant("spin-8x", 18.0, &[("longest", 15.0)]),
            ]
        };
        let faster = [("parking-lot-8x", Verdict::Faster), ("spin-8x", Verdict::Slower)];
        assert_eq!(
            said("spinlock", variants(), &faster),
            [
                "For short sections and eight threads a CPU: spin, 9.00\u{a0}ns, longest wait 30.0\u{a0}ms; lock::SpinLock takes 1.11× its time; \
              where the longest wait counts, parking_lot: 2.20\u{a0}ms, at 23.0\u{a0}ns."
            ]
        );
        // The twin: what is not decided chooses nobody else, and is called that.
        let open = [("parking-lot-8x", Verdict::Faster), ("spin-8x", Verdict::Undecided)];
        let said = said("spinlock", variants(), &open).remove(0);
        assert_says!(said, "a CPU: lock::SpinLock, 10.0");
        assert_says!(said, "it takes 0.435× the time of parking_lot; no verdict against spin");
    }

    #[test]
    fn without_ours_or_without_the_experiment_nothing_is_chosen() {
        assert!(said("arc", vec![variant("std-arc", 27.0, &[])], &[]).is_empty());
        assert!(said("popf", vec![variant("now", 27.0, &[])], &[]).is_empty());
        assert_eq!(said("arc", vec![variant("arc-locked", 27.0, &[])], &[]).len(), 1);
    }
}
