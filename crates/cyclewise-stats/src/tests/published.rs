//! Published figures, recomputed from their raw numbers.
//!
//! # References
//! - M. Desnoyers, "x86: alternatives : fix LOCK_PREFIX race with preemptible kernel and CPU hotplug", Linux kernel
//!   list, 2008: `make -j1 kernel/` twenty times with each prefix, and GraphPad's t-test of them.
//! - NIST Statistical Reference Datasets, univariate summary statistics: Lew, Mavro, NumAcc1 to NumAcc4.
//! - "Student", Biometrika 6(1), 1908, p. 20: hours of sleep, R's `sleep`; `t.test(extra ~ group, data = sleep)`.
//! - M. Hollander, D. A. Wolfe, "Nonparametric Statistical Methods", 1973, p. 69: R's `wilcox.test` example.
//! - Pingouin's documentation of `multicomp`: Holm's correction of five p-values.
//! - Figures beyond those printed: SciPy 1.17, `ttest_ind` and `mannwhitneyu`.

use super::super::ttest::pooled;
use super::super::*;

const SLEEP: [[f64; 10]; 2] = [
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
];

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

#[track_caller]
fn close(got: f64, want: f64, relative: f64) {
    assert!(
        (got - want).abs() <= relative * want.abs(),
        "{got:?} is not {want:?} within {relative}"
    );
}

#[test]
fn the_lock_prefix_t_test_to_every_printed_digit() {
    let ds = numbers(include_str!("data/lock_prefix_ds.txt"));
    let nop = numbers(include_str!("data/lock_prefix_nop.txt"));
    let (one, two) = (describe(&ds).unwrap(), describe(&nop).unwrap());
    let t = pooled(&ds, &nop).unwrap();
    let sem = |s: &Summary| s.sd / (s.n as f64).sqrt();
    let printed = format!(
        "{:.5} {:.5} | {:.5} {:.5} | {:.5} {:.5} | {} {} | P {:.4} | {:.5} from {:.5} to {:.5} | t {:.4} df {} se {:.3}",
        one.mean,
        two.mean,
        one.sd,
        two.sd,
        sem(&one),
        sem(&two),
        one.n,
        two.n,
        t.p,
        t.difference,
        t.ci95[0],
        t.ci95[1],
        t.t,
        t.df,
        t.se
    );
    assert_eq!(
        printed,
        "34.37815 34.37070 | 0.46108 0.51905 | 0.10310 0.11606 | 20 20 | P 0.9620 | \
         0.00745 from -0.30682 to 0.32172 | t 0.0480 df 38 se 0.155"
    );
}

#[test]
fn the_lock_prefix_data_by_welch_and_by_rank() {
    let ds = numbers(include_str!("data/lock_prefix_ds.txt"));
    let nop = numbers(include_str!("data/lock_prefix_nop.txt"));
    let t = welch(&ds, &nop).unwrap();
    close(t.t, 0.04798960905979207, 1e-10);
    close(t.df, 37.47916819632013, 1e-10);
    close(t.p, 0.9619793448028211, 1e-10);
    close(t.ci95[0], -0.3069643598011607, 1e-10);
    close(t.ci95[1], 0.32186435980115796, 1e-10);
    let [lo, hi] = t.ci(0.99);
    close(lo, -0.41380466959540635, 1e-10);
    close(hi, 0.4287046695954036, 1e-10);
    // 33.957 occurs twice in one group, so p is the normal approximation's.
    close(mann_whitney(&ds, &nop).unwrap(), 0.8604244940765768, 1e-9);
}

#[test]
fn sleep_by_welch() {
    let t = welch(&SLEEP[0], &SLEEP[1]).unwrap();
    assert_eq!(format!("{:.4} {:.3} {:.5}", t.t, t.df, t.p), "-1.8608 17.776 0.07939");
    assert_eq!(format!("{:.7} {:.7}", t.ci95[0], t.ci95[1]), "-3.3654832 0.2054832");
    close(t.p, 0.0793941401873583, 1e-10);
}

#[test]
fn sleep_by_rank_has_ties() {
    // R: W = 25.5, p-value = 0.06933, "cannot compute exact p-value with ties".
    let p = mann_whitney(&SLEEP[0], &SLEEP[1]).unwrap();
    assert_eq!(format!("{p:.5}"), "0.06933");
    close(p, 0.06932757543362658, 1e-9);
}

#[test]
fn hollander_and_wolfe_is_exact() {
    let x = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    let y = [1.15, 0.88, 0.90, 0.74, 1.21];
    // One-sided 0.1272 in the book; W = 35 of 50.
    let p = mann_whitney(&x, &y).unwrap();
    assert_eq!(format!("{:.4}", p / 2.0), "0.1272");
    close(p, 0.2544122544122544, 1e-14);
}

#[test]
fn nist_certified_means_and_deviations() {
    let alternating = |first: f64, low: f64, high: f64| {
        let mut v = vec![first];
        (0..500).for_each(|_| v.extend([low, high]));
        v
    };
    // Name, samples, mean, deviation, relative error allowed: what the decimals lose on becoming doubles.
    let certified: [(&str, Vec<f64>, f64, f64, f64); 6] = [
        (
            "Lew",
            numbers(include_str!("data/lew.txt")),
            -177.435,
            277.332168044316,
            1e-14,
        ),
        (
            "Mavro",
            numbers(include_str!("data/mavro.txt")),
            2.001856,
            0.000429123454003053,
            1e-12,
        ),
        (
            "NumAcc1",
            vec![10000001.0, 10000003.0, 10000002.0],
            10000002.0,
            1.0,
            0.0,
        ),
        ("NumAcc2", alternating(1.2, 1.1, 1.3), 1.2, 0.1, 1e-14),
        (
            "NumAcc3",
            alternating(1000000.2, 1000000.1, 1000000.3),
            1000000.2,
            0.1,
            1e-9,
        ),
        (
            "NumAcc4",
            alternating(10000000.2, 10000000.1, 10000000.3),
            10000000.2,
            0.1,
            1e-8,
        ),
    ];
    for (name, samples, mean, sd, allowed) in certified {
        let s = describe(&samples).unwrap();
        assert!((s.mean / mean - 1.0).abs() < 1e-15, "{name}: {}", s.mean);
        assert!((s.sd / sd - 1.0).abs() <= allowed, "{name}: {}", s.sd);
    }
}

#[test]
fn the_textbook_formula_fails_the_same_data() {
    // The twin: mean of squares less square of the mean, on NumAcc4, has lost every digit that mattered.
    let samples: Vec<f64> = (0..1000).map(|i| [10000000.1, 10000000.3][i % 2]).collect();
    let n = samples.len() as f64;
    let (sum, squares) = samples.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    let textbook = ((squares - sum * sum / n) / (n - 1.0)).max(0.0).sqrt();
    assert!((textbook / 0.1 - 1.0).abs() > 1e-3, "{textbook}");
    assert!((describe(&samples).unwrap().sd / 0.1 - (n / (n - 1.0)).sqrt()).abs() < 1e-8);
}

#[test]
fn holm_as_pingouin_prints_it() {
    let adjusted = holm(&[0.50, 0.003, 0.32, 0.054, 0.0003]);
    for (got, want) in adjusted.iter().zip([0.64, 0.012, 0.64, 0.162, 0.0015]) {
        close(*got, want, 1e-14);
    }
}

#[test]
fn holm_worked_by_hand() {
    // 5 · 0.01, 4 · 0.02, 3 · 0.03, then 2 · 0.04 and 0.05 held up by the step before.
    let adjusted = holm(&[0.05, 0.01, 0.03, 0.02, 0.04]);
    for (got, want) in adjusted.iter().zip([0.09, 0.05, 0.09, 0.08, 0.09]) {
        close(*got, want, 1e-14);
    }
}
