//! The answer to made-up records: what it says, what it leaves out, and what it does not claim.

use super::*;
use crate::record::made_up::{bent, experiment_of};
use crate::record::{
    Comparison, Cycles, Figure, Interval, Linearity, Missing, Paired, PowerLaw, Probe, State, Unit, Variant, Verdict,
};

fn row(name: &str, cycles: f64) -> Variant {
    let ci = [cycles * 0.999, cycles * 1.001];
    Variant {
        name: name.to_owned(),
        n: 500,
        median: cycles,
        headline: Some(Figure {
            state: State::Quiet,
            n: 400,
            median: cycles,
            ci95: ci.map(Some),
            ..Figure::default()
        }),
        cycles: Some(Cycles {
            per_op: cycles,
            ci95: ci,
            ..Cycles::default()
        }),
        ..Variant::default()
    }
}

fn pair(a: &str, b: &str, verdict: Verdict, ratio: f64) -> Comparison {
    cyclewise_bench::answer::made_up::pair(a, b, verdict, ratio, 0.001)
}

fn near(ratio: f64) -> Interval {
    [Some(ratio * 0.999), Some(ratio * 1.001)]
}

fn experiment(name: &str, variants: Vec<Variant>, comparisons: Vec<Comparison>) -> Experiment {
    Experiment {
        unit: Unit::TicksPerOp,
        comparisons,
        ..experiment_of(name, variants)
    }
}

/// A record with every topic, measured on no machine.
pub fn record() -> Record {
    let mut inc = pair("lock-inc64", "ds-inc64", Verdict::Depends, 0.97);
    inc.states = vec![Paired {
        state: State::Busy,
        ratio: 1.32,
        ratio_ci95: near(1.32),
        ..Paired::default()
    }];
    let mut same = pair("lock-cmpxchg64", "ds-cmpxchg64", Verdict::Same, 1.001);
    same.reason = Some(crate::record::Reason::Other("within 1 %".to_owned()));
    let lock = experiment(
        "lock-prefix",
        vec![],
        vec![pair("lock-xadd64", "ds-xadd64", Verdict::Slower, 1.07), same, inc],
    );
    let popf = experiment(
        "popf",
        vec![row("push-popf", 13.0), row("test-branch", 0.7), row("soft-mask", 2.5)],
        vec![pair("test-branch", "push-popf", Verdict::Faster, 0.054)],
    );
    let kernel = experiment(
        "null-syscall",
        vec![row("getppid", 427.0), row("function-call", 5.0)],
        vec![pair("getppid", "function-call", Verdict::Slower, 85.2)],
    );
    let mut clock = experiment("clock", vec![], vec![pair("now", "std-instant", Verdict::Faster, 0.82)]);
    clock.probe = Some(Probe {
        rounds: vec![1.0; 4],
        states: "qbbm".to_owned(),
        levels: Vec::new(),
    });
    Record {
        experiments: vec![lock, popf, kernel, clock],
        missing: vec![Missing {
            experiment: "hackbench".to_owned(),
            variant: None,
            why: "fork was refused".to_owned(),
            possible: true,
        }],
        ..Record::default()
    }
}

#[test]
fn the_answer_as_people_read_it() {
    insta::assert_snapshot!(sentences(&record()).join("\n"));
}

/// A record with every row that a sentence rests on, in context too.
pub fn full() -> Record {
    let mut r = record();
    let faster = |a: &str, b: &str| pair(a, b, Verdict::Faster, 0.122);
    let slower = |a: &str, b: &str| pair(a, b, Verdict::Slower, 16.9);
    r.experiments[0].comparisons = vec![
        slower("lock-xadd64", "ds-xadd64"),
        slower("lock-cmpxchg64", "ds-cmpxchg64"),
        slower("lock-inc64", "ds-inc64"),
    ];
    let arc = vec![
        faster("arc-elided-vec", "arc-locked-vec"),
        slower("arc-locked-vec", "std-arc-vec"),
    ];
    let locks = ["parking-lot-cpus", "std-mutex-cpus", "spin-cpus"].map(|peer| faster("cyclewise-cpus", peer));
    let percpu = vec![slower("lock-inc-64", "rseq-add-64")];
    let width = ["cmpxchg8-mov8", "cmpxchg32-mov8"].map(|row| slower(row, "cmpxchg32-mov32"));
    let mut context = super::in_context::tests::record(&[14.0, 0.0, 9.13, 21.7])
        .experiments
        .remove(0);
    let matrix = context.body.matrix_mut().unwrap();
    let rows = [
        ["lock-prefix", "lock-xadd64"],
        ["lock-prefix", "lock-cmpxchg64"],
        ["popf", "push-popf"],
        ["clock", "now"],
        ["arc", "arc-locked"],
        ["percpu", "rseq-add"],
    ];
    for row in rows {
        let mut operation = matrix.operations[0].clone();
        operation.name = row.join("/");
        operation.loop_row = Some(row.map(str::to_owned));
        matrix.operations.push(operation);
    }
    r.experiments.extend([
        experiment("arc", vec![], arc),
        experiment("percpu", vec![], percpu),
        experiment("spinlock", vec![], locks.to_vec()),
        experiment("width", vec![], width.to_vec()),
        context,
    ]);
    r
}

#[test]
fn the_answer_of_a_whole_run() {
    let whole = Record {
        missing: vec![],
        ..full()
    };
    let all = sentences(&whole);
    insta::assert_snapshot!("full", all.join("\n"));
    assert_eq!(all.len(), 9, "every topic is told");
    assert_eq!(
        all.iter().map(|s| lines(s)).sum::<usize>(),
        MOST,
        "and there is no room left"
    );
    // What is missing is told in any case, and the last topic makes room.
    let cut = sentences(&full());
    assert_eq!(cut.len(), all.len());
    assert!(cut.iter().all(|s| !s.contains("8 free bits")));
    let popf = all.iter().find(|s| s.starts_with("POPF")).unwrap();
    assert_says!(popf, "ticks");
    assert_lacks!(popf, "cycles");
    // The twin: without a range in ticks, core cycles are what people know.
    assert!(
        sentences(&record())
            .iter()
            .any(|s| s.starts_with("POPF costs 13.0 cycles"))
    );
}

#[test]
fn a_sentence_without_its_rows_is_left_out() {
    let mut r = record();
    let all = sentences(&r).len();
    r.experiments.remove(1);
    let rest = sentences(&r);
    assert_eq!(rest.len(), all - 1);
    assert!(rest.iter().all(|s| !s.contains("POPF")), "{rest:?}");
    assert!(sentences(&Record::default()).is_empty());
}

#[test]
fn a_sentence_claims_no_more_than_its_verdict() {
    let mut r = record();
    for c in r.experiments.iter_mut().flat_map(|e| &mut e.comparisons) {
        c.verdict = Verdict::Undecided;
    }
    for sentence in sentences(&r)
        .iter()
        .filter(|s| s.starts_with("LOCK") || s.contains("clock"))
    {
        assert_says!(sentence, "undecided");
        assert_lacks!(sentence, "0.82×");
    }
    // The twin: with the verdicts that the figures deserve, there are claims.
    assert!(sentences(&record()).iter().any(|s| s.contains("0.820×")));
}

#[test]
fn a_slope_that_is_no_cost_is_not_quoted() {
    let mut r = record();
    r.experiments[1].variants[0].linearity = Some(Linearity {
        linear: Some(false),
        ..Linearity::default()
    });
    assert!(sentences(&r).iter().all(|s| !s.contains("POPF")), "{:?}", sentences(&r));
    // Where its costs by the loop around it are known, they are.
    r.experiments[1].variants[0] = bent("push-popf", [11.0, 14.0, 12.0], "");
    let said = sentences(&r);
    assert!(
        said.iter().any(|s| s.starts_with("POPF costs 11.0–14.0 ticks")),
        "{said:?}"
    );
}

#[test]
fn the_line_of_an_experiment_says_how_functions_grow() {
    let law = |exponent: f64| PowerLaw {
        exponent,
        ci95: [exponent - 0.05, exponent + 0.05],
        sizes: 5,
    };
    let mut e = experiment("sort", vec![], vec![]);
    e.growth = [("quick".to_owned(), law(1.1))].into();
    assert_eq!(line(&e), "quick grows as n^1.100 [1.050, 1.150] over 5 sizes");
    e.comparisons = vec![pair("merge", "quick", Verdict::Slower, 2.0)];
    assert!(
        line(&e).ends_with("; quick grows as n^1.100 [1.050, 1.150] over 5 sizes"),
        "{}",
        line(&e)
    );
    for member in ["a", "b", "c"] {
        e.growth.insert(member.to_owned(), law(2.0));
    }
    assert!(line(&e).ends_with("; and 1 more that grow"), "{}", line(&e));
    // The twin: without a fitted law nothing grows.
    e.growth.clear();
    assert_lacks!(line(&e), "grow");
}

#[test]
fn there_are_at_most_ten_and_what_is_missing_is_among_them() {
    let mut r = record();
    let command = |i: usize| pair(&format!("cmd{i}"), "cmd", Verdict::Slower, 2.0);
    r.experiments
        .push(experiment("time", vec![], (0..30).map(command).collect()));
    let all = sentences(&r);
    assert!(all.iter().map(|s| lines(s)).sum::<usize>() <= MOST, "{all:?}");
    assert!(all[0].ends_with("And 27 more."), "{all:?}");
    assert_says!(all.last().unwrap(), "hackbench (fork was refused)");
}

#[test]
fn a_whole_run_in_the_tree_has_room_for_the_width_of_a_lock() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../records/2026-11-23-epyc-turin-kvm.json.gz"
    );
    let all = sentences(&crate::record::load(path.as_ref()).unwrap());
    assert!(all.iter().any(|s| s.contains("8 free bits")), "{all:#?}");
    assert!(all.iter().map(|s| lines(s)).sum::<usize>() <= MOST, "{all:#?}");
}
