//! Measurements and output of `run`, on a machine that may be too busy to measure.

use super::documents::files;
use super::signals::ended_by;
use super::*;
use cyclewise_lab::record::Record;
use std::os::unix::process::ExitStatusExt;

/// Whether the machine was too busy to keep two samples of a variant, as it was told; any other refusal is a failure. The
/// other rows may have been written.
pub(crate) fn too_busy(output: &Output) -> bool {
    if output.status.code() == Some(0) {
        return false;
    }
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_says!(said, "samples were usable");
    true
}

/// What a measurement printed; `None`, with the reason, where this machine is too busy for one.
fn measurement(command: &mut Command) -> Option<Output> {
    for _ in 0..5 {
        let output = command.output().unwrap();
        if !too_busy(&output) {
            return Some(output);
        }
    }
    println!("skipped: other work leaves this machine no sample undisturbed");
    None
}

fn run_null_syscall() -> Command {
    command(&words("run null-syscall --quick --time 0.3"))
}

/// In one process: each has to start and to find out what the machine is.
fn run_one_process() -> Command {
    let mut command = run_null_syscall();
    command.args(["--runs", "1"]);
    command
}

#[test]
fn with_json_on_stdout_the_record_is_alone_there_and_whole() {
    let Some(output) = measurement(run_one_process().args(["--json", "-"])) else {
        return;
    };
    let record: Record = record::from_str("stdout", &stdout(&output)).unwrap();
    assert_eq!(record.experiments.len(), 1);
    let e = &record.experiments[0];
    assert_eq!(e.name, "null-syscall");
    let getppid = e.variants.iter().find(|v| v.name == "getppid").unwrap();
    let call = e.variants.iter().find(|v| v.name == "function-call").unwrap();
    for v in [getppid, call] {
        assert!(v.n >= 2 && v.samples.len() == v.n && v.n + v.rejected == e.rounds);
        assert!(v.min <= v.median && v.ci95[0] <= v.mean && v.mean <= v.ci95[1], "{v:?}");
        assert!(v.code_bytes.is_some_and(|b| b > 0));
    }
    // A control that lost its samples to other work cannot serve, and then there is no verdict.
    let control = e.control.as_ref();
    assert!(control.is_none_or(|c| c.of == "getppid" && c.floor >= 0.0 && (2..=c.samples.len()).contains(&c.n)));
    let entry = e
        .comparisons
        .iter()
        .find(|c| c.a == "getppid" && c.b == "function-call")
        .unwrap();
    // The figures depend on the machine; they must be consistent.
    assert!((entry.ratio * call.mean / getppid.mean - 1.0).abs() < 1e-9, "{entry:?}");
    assert!((entry.difference + call.mean - getppid.mean).abs() < 1e-6 * getppid.mean.abs());
    assert!(record.machine.tsc_hz > 1e6 && record.machine.cpus > 0 && record.machine.pinned_cpu.is_some());
    let rate = record.machine.core_cycles_per_tick;
    assert!(rate.is_none_or(|r| r.value > 0.0 && r.ci95[0] <= r.value && r.value <= r.ci95[1] && !r.why.is_empty()));
}

#[test]
fn the_documents_go_where_they_are_told() {
    let folder = Folder::new();
    let names = ["r.json", "r.csv", "b.json", "r.html"].map(|n| folder.name(n));
    let mut command = run_one_process();
    command.args(["--seed", "7", "--json", &names[0], "--csv", &names[1]]);
    command.args(["--bmf", &names[2], "--html", &names[3]]);
    let Some(output) = measurement(&mut command) else {
        return;
    };
    let table = stdout(&output);
    assert!(!table.contains('\x1b'), "{table}");
    assert_says!(table, "getppid", "noise floor");

    let record = record::load(&folder.path("r.json")).unwrap();
    assert_eq!(record.seed, 7);
    let csv = std::fs::read_to_string(&names[1]).unwrap();
    let header = "experiment,variant,unit,n,rejected,mean,sd,median,min,ci95_low,ci95_high,code_bytes,core_cycles,instructions,cycles_source,";
    // Later versions add columns at the end.
    assert!(csv.starts_with(header), "{csv}");
    assert!(csv.lines().any(|l| l.starts_with("null-syscall,getppid,tick/op,")));
    let bmf: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&names[2]).unwrap()).unwrap();
    let latency = &bmf["null-syscall/getppid"]["latency"];
    let nanos = record.experiments[0].variants[0].value().0 * 1e9 / record.machine.tsc_hz;
    assert!((latency["value"].as_f64().unwrap() / nanos - 1.0).abs() < 1e-9);
    assert!(latency["lower_value"].as_f64() <= latency["value"].as_f64());
    let html = std::fs::read_to_string(&names[3]).unwrap();
    assert_says!(html, "<svg", "getppid");
}

#[test]
fn without_named_outputs_run_writes_new_files_and_changes_none() {
    // A run that lost a row writes its files too, so each attempt has a folder of its own.
    if !(0..5).any(|_| two_runs_write_new_files(&Folder::new())) {
        println!("skipped: other work leaves this machine no sample undisturbed");
    }
}

/// Whether two runs in this folder found the machine calm enough, and then wrote new files and changed none.
fn two_runs_write_new_files(folder: &Folder) -> bool {
    let mut written = Vec::new();
    for runs in 1..=2 {
        let output = run_one_process().current_dir(folder.path("")).output().unwrap();
        if too_busy(&output) {
            return false;
        }
        let (pages, records): (Vec<_>, Vec<_>) = files(folder).into_iter().partition(|name| name.ends_with(".html"));
        assert_eq!((records.len(), pages.len()), (runs, runs), "{records:?} {pages:?}");
        for name in &records {
            let record = record::load(&folder.path(name)).unwrap();
            let day: String = record.created[..10].split('-').collect();
            assert!(name.starts_with("cyclewise-") && name.contains(&day), "{name}");
            let text = folder.read(name);
            match written.iter().find(|(known, _)| known == name) {
                Some((_, before)) => assert_eq!(*before, text),
                None => {
                    assert_says!(stderr(&output), &format!("wrote {name}"));
                    written.push((name.clone(), text));
                }
            }
        }
    }
    true
}

#[test]
fn a_run_says_what_it_measured_and_what_it_did_not() {
    // One CPU has no other to hand a flag to; null-syscall runs anywhere.
    let run = |names: &[&str]| {
        let mut taskset = Command::new("taskset");
        taskset.args(["-c", &one_cpu(), env!("CARGO_BIN_EXE_cyclewise")]);
        taskset
            .args(words("run --quick --time 1 --runs 1 --json -"))
            .args(names)
            .output()
    };
    let Ok(output) = run(&["core-to-core"]) else {
        return println!("skipped: there is no taskset");
    };
    assert_eq!(output.status.code(), Some(3));
    assert_says!(
        stderr(&output),
        "0 of 1 experiments measured; missing: core-to-core (needs two CPUs"
    );
    assert!(output.stdout.is_empty());
    let output = run(&["null-syscall", "core-to-core"]).unwrap();
    if !stderr(&output).contains("1 of 2 experiments measured; missing: core-to-core (needs two CPUs") {
        assert_says!(stderr(&output), "samples were usable");
        return println!("skipped: other work leaves this machine no sample undisturbed");
    }
    assert_eq!(output.status.code(), Some(3), "it was named");
    let record = record::from_str("stdout", &stdout(&output)).unwrap();
    assert_eq!((record.experiments.len(), record.missing.len()), (1, 1));
    assert!(!record.missing[0].possible && record.missing[0].variant.is_none());
}

/// A CPU that this process may use.
fn one_cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"))
        .unwrap();
    list.trim().split([',', '-']).next().unwrap().to_string()
}

#[test]
fn several_processes_are_one_record_with_the_figures_of_each() {
    let folder = Folder::new();
    let json = folder.name("r.json");
    let mut command = run_null_syscall();
    command.args(["--runs", "2", "--seed", "5", "--json", &json]);
    let Some(output) = measurement(&mut command) else {
        return;
    };
    let said = stderr(&output);
    assert_says!(said, "process 1 of 2", "process 2 of 2");
    let record = record::load(&folder.path("r.json")).unwrap();
    assert_eq!(record.runs.iter().map(|r| r.seed).collect::<Vec<_>>(), [5, 6]);
    let line = format!("run null-syscall --quick --time 0.3 --runs 2 --seed 5 --json {json}");
    assert_eq!(record.command, words(&line));
    let row = &record.experiments[0].variants[0];
    let between = row.between.as_ref().unwrap();
    let medians: Vec<f64> = record
        .runs
        .iter()
        .filter_map(|r| r.median("null-syscall", &row.name))
        .collect();
    assert!(between.runs == 2 && (between.value.powi(2) / (medians[0] * medians[1]) - 1.0).abs() < 1e-9);
    // The samples are of both, and of three where nobody says.
    let experiment = &record.experiments[0];
    assert!(
        experiment.rounds >= row.n && row.n >= 4,
        "{} of {}",
        row.n,
        experiment.rounds
    );
    for (runs, args) in [(1, &["--runs", "1"][..]), (3, &[])] {
        let json = folder.name("other.json");
        if measurement(run_null_syscall().args(args).args(["--json", &json])).is_some() {
            let record = record::load(&folder.path("other.json")).unwrap();
            assert_eq!(
                (record.runs.len(), record.experiments[0].variants[0].between.is_some()),
                (runs, runs > 1)
            );
        }
    }
}

/// What is measured without a target of precision, too: a matrix.
#[test]
fn the_processes_of_a_matrix_are_one_record() {
    let folder = Folder::new();
    let json = folder.name("r.json");
    let output = cyclewise(&words(&format!(
        "run in-context --quick --time 1 --runs 2 --json {json}"
    )));
    let said = stderr(&output);
    if said.contains("no record") || output.status.code() != Some(0) {
        assert_lacks!(said, "earlier parts");
        return println!("skipped: other work leaves this machine no sample undisturbed: {said}");
    }
    let record = record::load(&folder.path("r.json")).unwrap();
    assert!(
        record.runs.len() == 2 && record.experiments[0].matrix().is_some(),
        "{said}"
    );
}

#[test]
fn an_interrupt_keeps_the_rounds_of_the_experiment_that_it_ends() {
    let folder = Folder::new();
    let json = folder.name("r.json");
    let output = ended_by("INT", ": round ", &["run", "--quick", "--json", &json]);
    let said = stderr(&output);
    assert_eq!(output.status.signal(), Some(2), "{said}");
    assert_says!(said, " experiments measured; missing: ");
    assert_says!(said, " (not begun before Ctrl-C)");
    if !said.contains("rounds, which are kept") {
        return println!("skipped: the experiment ended meanwhile, or lost its samples to other work");
    }
    let record = record::load(&folder.path("r.json")).unwrap();
    let cut = record.missing.iter().find(|m| m.why.contains("cut short")).unwrap();
    let kept = record.experiments.iter().find(|e| e.name == cut.experiment).unwrap();
    assert_says!(cut.why, &format!("after {} rounds", kept.rounds));
    assert!(kept.rounds > 0 && kept.variants.iter().any(|v| v.n > 0) && cut.possible);
}

#[test]
fn an_interrupt_keeps_the_processes_before_it() {
    let folder = Folder::new();
    let json = folder.name("r.json");
    let args = ["run", "null-syscall", "--quick", "--runs", "50", "--json", &json];
    let output = ended_by("INT", "process 2 of 50", &args);
    let said = stderr(&output);
    // A run without a sample ends before the signal comes.
    if said.contains("samples were usable") {
        return println!("skipped: other work leaves this machine no sample undisturbed");
    }
    assert_eq!(output.status.signal(), Some(2), "{said}");
    let record = record::load(&folder.path("r.json")).unwrap();
    assert!((1..=2).contains(&record.runs.len()), "{said}");
    let why = |run: &str| {
        record
            .missing
            .iter()
            .find(|m| m.experiment == run)
            .map(|m| m.why.as_str())
    };
    let rest = record
        .missing
        .iter()
        .find(|m| m.experiment.ends_with(" to 50"))
        .unwrap();
    assert_eq!(rest.why, "not begun before Ctrl-C", "{said}");
    assert_eq!(why("process 1 of 50"), None);
}
