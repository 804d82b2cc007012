//! The variant of each experiment that answers its question: the row by which machines are compared.

/// Of each experiment the variants that answer its question, the first that a fleet has is its headline; in the order of a run.
///
/// Each is the operation that the experiment is about, alone: under contention a figure depends on the number of CPUs, and the
/// baselines beside it (an empty loop, a plain addition) are near zero on some machines, where a share says little. `in-context` has a
/// matrix and no variants, so it has no headline.
pub const HEADLINES: &[(&str, &[&str])] = &[
    ("lock-prefix", &["lock-inc64"]),
    ("popf", &["push-popf"]),
    ("rdtsc", &["lfence-rdtsc"]),
    ("null-syscall", &["getppid"]),
    ("percpu", &["rseq-add", "lock-inc"]),
    ("popf-ring0", &["save-cli-popf"]),
    ("percpu-ring0", &["gs-around-tls"]),
    ("lock-prefix-ring0", &["lock-inc64"]),
    ("rdtsc-ring0", &["lfence-rdtsc"]),
    ("arc", &["arc-locked"]),
    ("atomics", &["inc-locked"]),
    ("refcount", &["refcount"]),
    ("static-key", &["key-disabled"]),
    ("patch", &["elide-all"]),
    ("clock", &["now"]),
    ("core-to-core", &["fetch-add-t2", "fetch-add-t1"]),
    ("width", &["cmpxchg32-mov32"]),
    ("spinlock", &["cyclewise"]),
    ("lockref", &["lockref"]),
    ("percpu-lists", &["free-list"]),
    ("percpu-shared", &["percpu-arc"]),
    ("read-sides", &["rcu"]),
    ("hackbench", &["processes-socketpair"]),
    ("open-read-close", &["p1"]),
];

/// The place of an experiment in a run; unknown ones come last.
pub(super) fn place(experiment: &str) -> usize {
    HEADLINES
        .iter()
        .position(|(name, _)| *name == experiment)
        .unwrap_or(HEADLINES.len())
}

/// Which of an experiment's variants is its headline. `variants` are those that the fleet has, each with the number of records of
/// which it is the first; of an experiment that is not known here it is the one that is first most often.
pub(super) fn headline<'a>(experiment: &str, variants: &[(&'a str, usize)]) -> Option<&'a str> {
    let known = HEADLINES.iter().find(|(name, _)| *name == experiment);
    let answers = known.map_or([].as_slice(), |(_, answers)| answers);
    let named = answers
        .iter()
        .find_map(|answer| variants.iter().find(|(name, _)| name == answer));
    let first = || variants.iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)));
    named.or_else(first).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_experiment_has_its_first_variant_and_none_has_none() {
        assert_eq!(headline("new", &[("a", 1), ("b", 7), ("c", 7)]), Some("b"));
        assert_eq!(headline("percpu", &[("plain", 9), ("lock-inc", 0)]), Some("lock-inc"));
        assert_eq!(headline("percpu", &[("plain", 9)]), Some("plain"));
        assert_eq!(headline("new", &[]), None);
        assert!(place("new") > place("open-read-close"));
    }
}
