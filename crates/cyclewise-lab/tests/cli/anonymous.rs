//! `--anonymous`: what a record and a doctor's report say of their machine, and what they keep to themselves.

use super::*;
use cyclewise_lab::record::{Record, doctor};

const KEY: &str = "0123456789abcdef0123456789abcdef\n";

/// A machine's names, where the kernel says them, and those of the job below.
fn names() -> Vec<String> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let host = read("/proc/sys/kernel/hostname");
    let boot = read("/proc/sys/kernel/random/boot_id");
    let jobs = ["slurm-node-9", "/users/alice", "4711"].map(str::to_owned);
    let mut names: Vec<String> = jobs.into_iter().chain((!boot.is_empty()).then_some(boot)).collect();
    // A machine may be called `vm` or `quick`, which stands in every record.
    match host.chars().any(|c| c.is_ascii_digit()) && host.len() > 5 {
        true => names.push(host),
        false => println!("skipped: the host's name {host:?} may be a word"),
    }
    names
}

/// The command in a job of Slurm, for a user whose home folder is /users/alice.
fn in_a_job(args: &[&str]) -> Output {
    let mut command = command(args);
    command
        .env("HOME", "/users/alice")
        .env("SLURM_JOB_ID", "4711")
        .env("SLURM_PROCID", "3");
    command.env("SLURMD_NODENAME", "slurm-node-9").output().unwrap()
}

fn given_away(document: &str) -> Vec<String> {
    // In samples, a job's number may stand as digits by chance.
    let is_in = |name: &String| document.contains(name.as_str()) && !is_only_digits(document, name);
    names().into_iter().filter(is_in).collect()
}

/// Whether `name` is only ever a part of numbers: as a string of its own it would be between quotes.
fn is_only_digits(document: &str, name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_digit()) && !document.contains(&format!("\"{name}\""))
}

fn run(folder: &Folder, args: &[&str]) -> (Record, String) {
    let path = folder.name("record.json");
    let args = [
        &["run", "null-syscall", "--quick", "--time", "0.3", "--json", &path],
        args,
    ]
    .concat();
    let output = in_a_job(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = std::fs::read_to_string(&path).unwrap();
    (record::from_str("r", &text).unwrap(), text)
}

#[test]
fn an_anonymous_record_does_not_name_its_machine() {
    let folder = Folder::new();
    let key = folder.with("key", KEY);
    let (named, text) = run(&folder, &["--runs", "1"]);
    let identity = &named.machine.identity;
    assert_eq!(identity.node.as_deref(), Some("slurm-node-9"));
    assert_eq!(
        identity
            .job
            .as_ref()
            .map(|j| (j.engine.as_str(), j.id.as_str(), j.task)),
        Some(("slurm", "4711", Some(3)))
    );
    // The twin: what the search below has to find.
    let found = given_away(&text);
    assert!(
        found.contains(&"slurm-node-9".to_owned()) && found.contains(&"4711".to_owned()),
        "{found:?}"
    );

    let (hidden, text) = run(&folder, &["--anonymous", &key, "--runs", "2"]);
    assert_eq!(given_away(&text), [""; 0], "{}", &text[..2000.min(text.len())]);
    assert!(!text.contains(&folder.name("")), "a path is in {:?}", hidden.command);
    let identity = &hidden.machine.identity;
    let node = identity.node.as_ref().unwrap();
    assert!(
        node.starts_with("anonymous-") && node.len() == "anonymous-".len() + 12,
        "{node}"
    );
    let job = identity.job.as_ref().unwrap();
    assert!(
        job.engine == "slurm" && job.task.is_some_and(|task| task != 3) && job.id.starts_with("anonymous-"),
        "{job:?}"
    );
    assert_eq!(hidden.runs.len(), 2, "the runs keep the identity of their machine");

    // A doctor's report with the same key is of the same node.
    let report = in_a_job(&["doctor", "--json", "--anonymous", &key]);
    let text = stdout(&report);
    assert_eq!(given_away(&text), [""; 0]);
    let report = doctor::from_str("d", &text).unwrap();
    assert_eq!(report.checkup("d.json").node, *node);
    assert_eq!(
        (&report.machine.cpu_id, &report.machine.kernel),
        (&hidden.machine.cpu_id, &hidden.machine.kernel)
    );
    let named = stdout(&in_a_job(&["doctor", "--json"]));
    assert!(given_away(&named).len() >= 2 && doctor::from_str("d", &named).unwrap().machine.identity.node.is_some());
    assert_eq!(
        given_away(&stdout(&in_a_job(&["doctor", "--anonymous", &key]))),
        [""; 0],
        "the table"
    );
}

#[test]
fn timed_commands_are_the_users_own_words() {
    let folder = Folder::new();
    let key = folder.with("key", KEY);
    let options = format!("time -r 5 -i --anonymous {key} --json -");
    let output = in_a_job(&with(&options, &["true /users/alice", "true"]));
    if output.status.code() == Some(3) {
        println!("skipped: {}", stderr(&output));
        return;
    }
    let text = stdout(&output);
    assert_eq!(given_away(&text), ["/users/alice"]);
    let record = record::from_str("r", &text).unwrap();
    assert_eq!(record.experiments[0].variants[0].name, "true /users/alice");
    assert!(record.machine.identity.node.unwrap().starts_with("anonymous-"));
}

#[test]
fn a_key_that_is_none_is_refused_before_anything_is_measured() {
    let folder = Folder::new();
    let short = folder.with("short", "secret\n");
    let key = folder.with("key", KEY);
    for (args, says) in [
        (&words("run null-syscall --anonymous no/such/key")[..], "No such file"),
        (&["time", "true", "--anonymous", &short], "at least 16 bytes"),
        (&["doctor", "--json", "--anonymous", &short], "at least 16 bytes"),
        (
            &["run", "null-syscall", "--anonymous", &key, "--json", &key],
            "input file",
        ),
        (&["run", "null-syscall", "--anonymous"], "a value is required"),
    ] {
        let (status, line) = refused(args);
        assert!(status == 2 && line.contains(says), "{args:?}: {line}");
    }
    assert_eq!(folder.read("key"), KEY);
}
