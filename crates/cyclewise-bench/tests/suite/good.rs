//! What a program measures, and how it is asked.

use super::{measured, run};
use cyclewise_bench::record::{Unit, Verdict};

#[test]
fn each_group_is_an_experiment_of_the_record() {
    let Some((ran, record)) = measured("good", &[]) else {
        return;
    };
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let [sum, vec, counter, long] = &record.experiments[..] else {
        panic!("{:?}", record.experiments.len())
    };
    assert_eq!(
        (&*sum.name, &*vec.name, &*counter.name, &*long.name),
        ("sum", "vec", "counter", "long")
    );
    assert_eq!((sum.unit, counter.unit), (Unit::TicksPerOp, Unit::OpsPerSecond));
    // Four times the work in the same rounds: however noisy the machine is, it is not the faster one.
    let compared = &sum.comparisons[0];
    assert_eq!((&*compared.a, &*compared.b), ("four-times", "iter"));
    assert_ne!(compared.verdict, Verdict::Faster);
    assert!(sum.variants[0].metrics["elements/s"].mean > 0.0 && sum.variants[0].batches.is_some());
    assert_eq!(vec.variants[0].metrics["allocations"].mean, 1.0);
    assert_eq!(vec.variants[0].metrics["allocated"].mean, 32.0);
    assert_eq!(
        vec.variants[1].metrics["allocations"].mean, 0.0,
        "its input is made outside"
    );
    let threads: Vec<&str> = counter.variants.iter().map(|v| &*v.name).collect();
    assert_eq!(threads, ["std/1", "std/2"]);
    let fairness = &counter.variants[1].metrics["fairness"].samples;
    assert!(fairness.iter().all(|jain| (0.5..=1.0).contains(jain)), "{fairness:?}");
    let ms = long.variants[0].median / record.machine.tsc_hz * 1e3;
    assert!(ms >= 3.9 && long.comparisons.is_empty(), "{ms}");
    // The sentences come first, then the tables.
    let at = |text: &str| {
        ran.stdout
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {}", ran.stdout))
    };
    assert!(
        at("sum: four-times") < at("\nsum\n") && at("long: sleep takes") < at("\nsum\n"),
        "{}",
        ran.stdout
    );
    assert_says!(ran.stdout, "elements/s", "million/s");
    assert!(!ran.stdout.contains('\x1b'), "no colour where there is no terminal");
}

#[test]
fn the_time_is_divided_over_processes_whose_rounds_are_judged_together() {
    for (processes, arguments) in [(5, &[][..]), (2, &["--runs", "2"]), (1, &["--runs", "1"])] {
        let Some((_, record)) = measured("good", &[&["sum"], arguments].concat()) else {
            return;
        };
        assert_eq!(record.runs.len(), processes);
        let seeds: Vec<u64> = record.runs.iter().map(|r| r.seed).collect();
        assert_eq!(seeds, (1..=processes as u64).collect::<Vec<_>>());
        let sum = &record.experiments[0];
        for v in &sum.variants {
            assert!(
                v.n + v.rejected >= 2 * processes && v.n == v.samples.len(),
                "{}: {}",
                v.name,
                v.n
            );
            assert!(v.batches.is_some(), "all of them run the same loops");
            let of_process = record.runs.iter().filter_map(|r| r.median("sum", &v.name)).count();
            assert_eq!(v.between.is_some(), processes > 1 && of_process > 0);
            let within = |ci: [Option<f64>; 2]| ci.map(|bound| bound.is_some()) == [true; 2];
            assert_eq!(
                v.between.as_ref().is_some_and(|b| within(b.ci95)),
                processes > 1 && of_process > 1
            );
        }
        let compared = &sum.comparisons[0];
        let agree = compared.tests.iter().any(|t| t.name == "every process agrees");
        assert!(agree || processes == 1 || !compared.verdict.is_claim(), "{compared:?}");
    }
}

#[test]
fn parameters_have_rows_and_an_exponent() {
    let Some((ran, record)) = measured("over", &[]) else {
        return;
    };
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let sizes = &record.experiments[0];
    assert_eq!(sizes.variants.len(), 10);
    let first = &sizes.comparisons[0];
    assert_eq!((&*first.a, &*first.b), ("of-vec/8", "sum/8"));
    // Where a row is not linear it has no cost, and leaves a size out.
    for law in sizes.growth.values() {
        assert!(law.exponent > 0.0 && law.sizes >= 4, "{law:?}");
    }
}

#[test]
fn rows_are_chosen_as_tests_are() {
    let list = |arguments: &[&str]| -> Vec<String> {
        let ran = run("good", &[&["--list"], arguments].concat());
        let rows = ran.stdout.lines().filter_map(|line| line.strip_suffix(": benchmark"));
        rows.map(|row| row.trim_start_matches("test program ... ").to_owned())
            .collect()
    };
    assert_eq!(list(&[]).len(), 7);
    assert_eq!(list(&["sum"]), ["sum/iter", "sum/four-times"]);
    assert_eq!(list(&["sum", "--skip", "four"]), ["sum/iter"]);
    assert_eq!(list(&["--exact", "sum"]), [""; 0]);
    assert_eq!(list(&["--exact", "counter/std/2"]), ["counter/std/2"]);
    let Some((_, record)) = measured("good", &["sum/four-times"]) else {
        return;
    };
    assert_eq!(record.experiments.len(), 1);
    assert!(record.experiments[0].comparisons.is_empty(), "its first is left out");
}

#[test]
fn without_bench_each_body_runs_once() {
    let ran = run("good", &["--nocapture"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_says!(ran.stdout, "test sum/iter ... ok", "test counter/std/2 ... ok");
    assert!(!ran.stdout.contains("takes"), "nothing is measured: {}", ran.stdout);
    // The twin: a body that panics fails the test.
    let ran = run("panics", &[]);
    assert_eq!(ran.status, Some(1));
    assert_says!(ran.stdout, "test some/bad ... FAILED", "test some/also-good ... ok");
}

#[test]
fn every_format_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [csv, bmf, markdown] = ["a.csv", "a.bmf.json", "a.md"].map(path);
    let files = ["--csv", &csv, "--bmf", &bmf, "--markdown", &markdown];
    let Some((ran, _)) = measured("good", &[&["sum"], &files[..]].concat()) else {
        return;
    };
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let [csv, bmf, markdown] = [csv, bmf, markdown].map(|path| std::fs::read_to_string(path).unwrap());
    assert!(csv.starts_with("experiment,variant,unit") && csv.contains("\nsum,iter,tick/op,"));
    assert_says!(bmf, "\"sum/iter\"", "\"latency\"");
    assert!(markdown.starts_with("## sum\n"), "{markdown}");
    assert_says!(markdown, "| row | ns |");
}
