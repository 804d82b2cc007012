//! The tables as people read them, at 80 columns, at 100 and without a limit.

use super::*;
use crate::record::made_up::{bent, experiment_of, in_context, record_of};
use crate::record::{
    BetweenRuns, Cgroup, Comparison, Control, Cycles, Figure, FigureKind, Linearity, Metric, Mode, Paired, Probe, Unit,
    Variant, Verdict,
};

fn strip(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn figure(state: State, median: f64, half: f64) -> Figure {
    Figure {
        state,
        n: 300,
        median,
        ci95: [Some(median - half), Some(median + half)],
        ..Figure::default()
    }
}

fn row(name: &str, median: f64, kind: FigureKind) -> Variant {
    Variant {
        name: name.to_owned(),
        n: 500,
        mean: median * 1.1,
        sd: median / 9.0,
        median: median * 1.01,
        min: median * 0.98,
        ci95: [median * 1.05, median * 1.15],
        code_bytes: Some(5),
        cycles: Some(Cycles {
            per_op: median * 1.2,
            ci95: [median * 1.19, median * 1.21],
            ..Cycles::default()
        }),
        kind: Some(kind),
        headline: Some(figure(State::Quiet, median, median / 500.0)),
        states: vec![figure(State::Busy, median * 1.3, median / 50.0)],
        ..Variant::default()
    }
}

fn pair(a: &str, b: &str, verdict: Verdict, ratio: f64, reason: Option<&str>) -> Comparison {
    let paired = |state, ratio: f64| Paired {
        state,
        n: 300,
        difference: ratio - 1.0,
        ci95: [Some(ratio - 1.002), Some(ratio - 0.998)],
        ratio,
        ratio_ci95: [Some(ratio * 0.998), Some(ratio * 1.002)],
        p: 1e-9,
        verdict,
        ..Paired::default()
    };
    Comparison {
        a: a.to_owned(),
        b: b.to_owned(),
        headline: Some(paired(State::Quiet, ratio)),
        states: vec![paired(State::Busy, ratio * 1.3)],
        verdict,
        reason: reason.map(|why| why.to_owned().into()),
        ..Comparison::default()
    }
}

/// A record with every verdict, mark and kind of row.
fn every() -> Record {
    let mut bent = row("refcount-elided-of-a-long-name", 17.6, FigureKind::Latency);
    bent.linearity = Some(Linearity {
        copies: [4.0, 8.0, 16.0],
        per_copy: [1.76, 9.69, 9.7],
        slopes: [17.6, 9.7],
        linear: Some(false),
        why: "two copies take more than twice the time of one".to_owned(),
        ..Linearity::default()
    });
    let mut modes = row("soft-mask", 1.5, FigureKind::Throughput);
    modes.headline.as_mut().unwrap().modes = vec![
        Mode {
            value: 1.5,
            share: 0.52,
        },
        Mode {
            value: 16.1,
            share: 0.48,
        },
    ];
    let mut unbounded = row("few", 3.0, FigureKind::Throughput);
    unbounded.headline.as_mut().unwrap().ci95 = [None, None];
    unbounded.min = -7.29;
    unbounded.rejected = 400;
    let mut lost = row("lost", 1.0, FigureKind::Latency);
    lost.n = 0;
    let mut several = row("several-runs", 5.0, FigureKind::Latency);
    several.between = Some(BetweenRuns {
        runs: 5,
        value: 5.123,
        ci95: [Some(5.0), Some(5.25)],
    });
    several.metrics.insert(
        "user".to_owned(),
        Metric {
            unit: "s".to_owned(),
            mean: 1.25,
            sd: 0.02,
            samples: Vec::new(),
        },
    );
    let e = Experiment {
        name: "lock-prefix".to_owned(),
        question: "What does an uncontended LOCK prefix cost, and is a DS prefix in its place as cheap as a NOP?"
            .to_owned(),
        source: "a mail of 2008".to_owned(),
        unit: Unit::TicksPerOp,
        rounds: 500,
        control: Some(Control {
            of: "soft-mask".to_owned(),
            floor: 0.003,
            ..Control::default()
        }),
        variants: vec![
            row("lock-inc64", 6.34, FigureKind::Latency),
            bent,
            modes,
            unbounded,
            lost,
            several,
        ],
        probe: Some(Probe {
            rounds: vec![0.8; 4],
            states: "qqbm".to_owned(),
            levels: vec![crate::record::Level {
                state: State::Quiet,
                median: 0.8,
                share: 0.5,
            }],
        }),
        comparisons: vec![
            pair("lock-inc64", "ds-inc64", Verdict::Slower, 1.26, None),
            pair("lock-inc64", "plain-inc64", Verdict::Same, 1.0, Some("within 1 %")),
            pair(
                "refcount-elided-of-a-long-name",
                "plain",
                Verdict::None,
                17.0,
                Some("not linear"),
            ),
            pair("soft-mask", "sigmask", Verdict::Faster, 0.0016, None),
            pair("soft-mask", "push-popf", Verdict::Depends, 0.9, None),
            pair("several-runs", "few", Verdict::Undecided, 1.7, None),
        ],
        notes: vec![
            "one word that stays in this core's L1 and is not contended, which is the cheapest case ".repeat(2),
        ],
        ..Experiment::default()
    };
    let mut r = Record {
        experiments: vec![e],
        ..crate::answer::tests::record()
    };
    r.machine.cpu_model = "Example CPU of 32 cores with a name that is longer than most @ 2.40GHz".to_owned();
    r.machine.cpus = 2;
    r.machine.kernel = "6.1.0-example".to_owned();
    r.machine.tsc_hz = 2.4e9;
    r.machine.clocksource = "tsc".to_owned();
    r.machine.warnings = vec![
        "the hypervisor took 2.8 % of this machine's CPU time during the run (/proc/stat steal); "
            .repeat(2)
            .into(),
    ];
    r
}

fn shown(columns: u16, wide: bool) -> String {
    strip(&record(&every(), Look::new(Some(columns), wide)))
}

#[test]
fn the_tables_as_people_read_them() {
    insta::assert_snapshot!("at_100", shown(250, false));
    insta::assert_snapshot!("at_80", shown(80, false));
    insta::assert_snapshot!("wide", shown(80, true));
}

#[test]
fn metrics_that_say_nothing_are_left_out() {
    let mut r = every();
    let metric = |mean: f64| Metric {
        unit: "1".to_owned(),
        mean,
        sd: mean / 10.0,
        samples: Vec::new(),
    };
    let variants = &mut r.experiments[0].variants;
    variants[5].metrics.insert("faults".to_owned(), metric(0.0));
    variants[0].metrics.insert("switches".to_owned(), metric(0.0));
    variants[5].metrics.insert("switches".to_owned(), metric(7.0));
    let shown = strip(&runs::metrics(&r.experiments[0], Look::new(None, false)));
    assert_lacks!(shown, "faults", "± 0 ");
    assert_says!(shown, "switches");
    assert_lacks!(shown, "soft-mask");
    let zero = shown.lines().find(|l| l.contains("lock-inc64")).unwrap();
    assert!(zero.ends_with(" 0"), "{shown}");
    // The twin: nothing but zeros is no table.
    for v in &mut r.experiments[0].variants {
        v.metrics.retain(|name, _| name == "faults");
    }
    assert_eq!(runs::metrics(&r.experiments[0], Look::new(None, false)), "");
}

#[test]
fn figures_of_no_interval_have_two_digits() {
    let mut v = row("few", 38.507, FigureKind::Latency);
    v.ci95 = [38.506, 38.508];
    v.headline.as_mut().unwrap().ci95 = [None, None];
    assert_eq!(crate::export::row::median(&v), "39");
    // The twin: a record without a figure of paired rounds has only the interval of the mean.
    v.headline = None;
    assert!(crate::export::row::median(&v).len() > 4);
}

#[test]
fn the_hypervisor_has_the_name_that_people_know() {
    let mut r = every();
    let first = |r: &Record| {
        strip(&record(r, Look::new(None, true)))
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    for (signature, name) in [
        ("KVMKVMKVM", "under KVM,"),
        ("Microsoft Hv", "under Hyper-V,"),
        ("Other", "under Other,"),
    ] {
        r.machine.hypervisor = Some(signature.to_owned());
        assert!(first(&r).contains(name), "{}", first(&r));
    }
}

#[test]
fn the_answer_of_a_whole_run_is_at_most_ten_lines() {
    for record in [crate::answer::tests::record(), crate::answer::tests::full()] {
        let said = crate::answer::sentences(&record);
        let lines: usize = said
            .iter()
            .map(|s| wrapped(s, Look::new(None, false), 0, 2).lines().count())
            .sum();
        assert!(lines <= 10, "{lines}: {said:#?}");
    }
}

#[test]
fn no_line_is_wider_than_asked() {
    for columns in [60, 80, 100, 250] {
        let most = usize::from(columns).min(grid::MOST_COLUMNS);
        for line in shown(columns, false).lines() {
            assert!(line.chars().count() <= most, "{columns}: {line}");
        }
    }
    // The twin: all columns are wider than that.
    assert!(shown(100, true).lines().any(|l| l.chars().count() > 100));
}

#[test]
fn records_of_older_versions_are_shown_within_the_width() {
    for text in [
        include_str!("../../../../../records/2026-11-21-epyc-genoa-kvm.json"),
        include_str!("../../../../../records/2026-11-21-epyc-genoa-kvm-percpu.json"),
    ] {
        let old = crate::record::from_str("old", text).unwrap();
        let shown = strip(&record(&old, Look::new(None, false)));
        for line in shown.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn a_slope_that_is_no_cost_shows_no_figure_and_a_negative_minimum_is_none() {
    let wide = shown(100, true);
    let line = |name: &str| {
        wide.lines()
            .find(|l| l.trim_start().starts_with(name))
            .unwrap()
            .to_owned()
    };
    assert!(!line("refcount-elided").contains("17.6"), "{wide}");
    assert_says!(wide, "1.76, 9.69, 9.70 a copy");
    assert_lacks!(wide, "7.29");
    // The twin: the same rows, linear and with a positive minimum, show both.
    let mut r = every();
    r.experiments[0].variants[1].linearity = None;
    r.experiments[0].variants[3].min = 2.9;
    let wide = strip(&record(&r, Look::new(None, true)));
    assert_says!(wide, "17.6", "2.9");
}

#[test]
fn a_row_that_is_not_linear_says_its_range_and_what_it_adds_among_others() {
    let e = experiment_of("e", vec![bent("a", [1.4, 6.8, 2.0], "")]);
    let mut r = record_of(vec![e, in_context(&[("adds-30", 0.0, 1.0), ("loads-32", 2.1, 1.0)])]);
    let shown_of = |r: &Record| strip(&record(r, Look::new(None, false)));
    let shown = shown_of(&r);
    assert_says!(shown, "1.40–6.80");
    let mark = "not linear: 1.40, 6.80, 2.00 a copy at 4, 8, 16 copies; adds 0 to 2.1 among other instructions";
    let unwrapped = |shown: &str| shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped(&shown).contains(mark), "{shown}");
    // The twin: a row that no operation repeats says nothing of others.
    r.experiments[0].variants[0].name = "c".to_owned();
    let shown = shown_of(&r);
    assert_says!(shown, "16 copies");
    assert_lacks!(shown, "among other");
}

#[test]
fn bounds_that_do_not_exist_are_dashes_in_every_column() {
    let mut r = every();
    for c in &mut r.experiments[0].comparisons {
        c.headline = None;
        c.difference = f64::MIN;
        c.ci95 = [f64::MIN, f64::MAX];
        c.ratio_ci95 = [Some(f64::MIN), Some(f64::MAX)];
    }
    for wide in [false, true] {
        let shown = strip(&record(&r, Look::new(None, wide)));
        let long = shown
            .split_whitespace()
            .find(|w| w.chars().filter(char::is_ascii_digit).count() > 12);
        assert_eq!(long, None, "{shown}");
        assert!(shown.contains('—'));
    }
}

/// A comparison of two records, with every verdict.
fn compared() -> crate::record::compare::CompareReport {
    use crate::record::compare::{CompareExperiment, CompareReport, CompareRow, RecordHead, SCHEMA, Side};
    use crate::record::{Basis, Tool};
    let side = Side {
        n: 500,
        mean: 6.4,
        sd: 0.3,
        ci95: [6.37, 6.43],
    };
    let row = |variant: &str, verdict, ratio: f64, reason: Option<&str>| CompareRow {
        lengths: Vec::new(),
        variant: variant.to_owned(),
        base: 0,
        other: 1,
        base_stats: side,
        other_stats: side,
        difference: 0.1,
        ci95: [0.0, 0.2],
        ratio,
        ratio_ci95: [Some(ratio * 0.99), Some(ratio * 1.01)],
        basis: Basis {
            state: State::Quiet,
            base_runs: 3,
            other_runs: 3,
            base: 6.3,
            other: 6.3 * ratio,
            spread: 0.004,
            p: Some(0.001),
            seen: "3 runs each".to_owned(),
        },
        t: 1.0,
        df: 10.0,
        p: 0.3,
        p_rank: 0.3,
        p_holm: 1.0,
        verdict,
        reason: reason.map(|why| why.to_owned().into()),
        base_samples: Vec::new(),
        other_samples: Vec::new(),
    };
    let head = |kernel: &str| {
        let mut machine = every().machine;
        machine.kernel = kernel.to_owned();
        RecordHead {
            label: "/some/where/before.json".to_owned(),
            runs: 3,
            created: "2026-11-21T10:00:00Z".to_owned(),
            tool: Tool::this(),
            machine,
            seed: 1,
        }
    };
    CompareReport {
        schema: SCHEMA.to_owned(),
        records: vec![head("6.1.0"), head("6.6.9")],
        warnings: vec!["the kernel differs: 6.1.0 in A, 6.6.9 in B".to_owned()],
        experiments: vec![CompareExperiment {
            name: "lock-prefix".to_owned(),
            question: "What does a LOCK prefix cost?".to_owned(),
            unit: Unit::TicksPerOp,
            floor: Some(0.003),
            rows: vec![
                row("lock-inc64", Verdict::Slower, 1.3, None),
                row("ds-inc64", Verdict::Faster, 0.9, None),
                row("plain-inc64", Verdict::Same, 1.0, Some("within 1 %")),
                row("xchg64", Verdict::Undecided, 1.02, None),
                row("refcount-elided", Verdict::None, 17.0, Some("not linear in A")),
            ],
            notes: Vec::new(),
        }],
        fleet: None,
    }
}

#[test]
fn a_comparison_answers_first_and_names_machines() {
    let narrow = strip(&comparison(&compared(), Look::new(None, false)));
    assert_lacks!(narrow, "before.json");
    assert!(narrow.lines().all(|l| l.chars().count() <= 100), "{narrow}");
    insta::assert_snapshot!("compared", narrow);
    let wide = strip(&comparison(&compared(), Look::new(None, true)));
    assert!(wide.contains("p (Welch)") && wide.contains("3 runs each") && !narrow.contains("p (Welch)"));
}

#[test]
fn a_node_of_a_fleet_is_named_above_the_tables_and_described_below() {
    let mut record = Record::default();
    record.machine.cpu_model = "AMD EPYC".to_owned();
    record.machine.tsc_hz = 1e9;
    let look = Look::new(Some(100), false);
    let plain = strip(&super::record(&record, look));
    assert_lacks!(plain, "node", "control group");
    record.machine.identity = Identity {
        node: Some("n17".to_owned()),
        microcode: Some("0xa0011d1".to_owned()),
        instance_type: Some("m6a.large".to_owned()),
        cgroup: Some(Cgroup::default()),
        ..Identity::default()
    };
    let text = strip(&super::record(&record, look));
    assert!(text.lines().next().unwrap().ends_with(", node n17"), "{text}");
    assert_says!(text, "\nm6a.large; microcode 0xa0011d1; control group: no limit\n");
}
