//! `submit` and the records' scripts with made-up commands of Slurm: what they are given, and what comes of their refusals.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// A folder for PATH with programs that note their arguments.
fn commands(folder: &Folder, programs: &[(&str, &str)]) -> String {
    let bin = folder.path("bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, script) in programs {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

fn run(path: &str, dir: &Path, script: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new("sh");
    command
        .arg(dir.join(script))
        .env("PATH", path)
        .envs(environment.iter().copied());
    command.output().unwrap()
}

/// Notes each call, and prints an id that grows.
const SBATCH: &str = r#"echo "$PWD: $*" >>"$CALLS"; echo "$(($(wc -l <"$CALLS") + 40));cluster""#;

fn plan(dir: &str, options: &[&str], planned: &[&str]) {
    printed(&[&["fleet", "plan", "--into", dir], options, planned].concat());
}

const SWEEP_OF_2240: [&str; 8] = [
    "simulate",
    "lockref",
    "--machine",
    "thunderx2",
    "--threads",
    "1..224",
    "--retry-limit",
    "1,2,3,4,5,6,7,8,9,none",
];

#[test]
fn submit_gives_the_array_and_then_the_join_that_waits_for_it() {
    let folder = Folder::new();
    let config = "echo 'MaxArraySize            = 1001'";
    let path = commands(&folder, &[("scontrol", config), ("sbatch", SBATCH)]);
    let dir = folder.path("a b");
    plan(&folder.name("a b"), &["--shards", "64"], &SWEEP_OF_2240);
    let calls = folder.name("calls");
    let output = run(&path, &dir, "submit", &[("CALLS", &calls)]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let at = fs::canonicalize(&dir).unwrap().display().to_string();
    let expected = format!(
        "{at}: --parsable --array=1-64 array.sbatch +0\n{at}: --parsable --dependency=afterany:41 join.sbatch\n"
    );
    assert_eq!(folder.read("calls"), expected);
    let said = text(&output.stdout);
    assert!(
        said.contains("shards 1 to 64: job 41\n") && said.contains("join: job 42;"),
        "{said}"
    );
}

#[test]
fn more_shards_than_an_array_has_are_several_arrays() {
    let folder = Folder::new();
    let path = commands(
        &folder,
        &[("scontrol", "echo 'MaxArraySize = 5001'"), ("sbatch", SBATCH)],
    );
    plan(&folder.name("job"), &["--shards", "2100"], &SWEEP_OF_2240);
    let calls = folder.name("calls");
    let output = run(&path, &folder.path("job"), "submit", &[("CALLS", &calls)]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let given: Vec<String> = folder
        .read("calls")
        .lines()
        .map(|l| l.rsplit("--parsable ").next().unwrap().into())
        .collect();
    assert_eq!(
        given,
        [
            "--array=1-1000 array.sbatch +0",
            "--array=1-1000 array.sbatch +1000",
            "--array=1-100 array.sbatch +2000",
            "--dependency=afterany:41:42:43 join.sbatch",
        ]
    );
    // What the script makes of such an argument.
    let program = commands(
        &folder,
        &[(
            "noted",
            "echo \"$*\" >>\"$CALLS\"; echo \"threads $RAYON_NUM_THREADS\" >>\"$CALLS\"",
        )],
    );
    plan(
        &folder.name("noting"),
        &["--shards", "2100", "--program", "noted"],
        &SWEEP_OF_2240,
    );
    let mut task = Command::new("sh");
    task.args(["array.sbatch", "+2000"])
        .current_dir(folder.path("noting"))
        .env("PATH", &program);
    let calls = folder.name("tasks");
    task.env("CALLS", &calls)
        .env("SLURM_ARRAY_TASK_ID", "7")
        .env("SLURM_CPUS_PER_TASK", "3")
        .env("SLURM_CPUS_ON_NODE", "8");
    assert!(task.output().unwrap().status.success());
    assert!(
        task.env_remove("SLURM_CPUS_PER_TASK")
            .output()
            .unwrap()
            .status
            .success()
    );
    assert!(task.env_remove("SLURM_CPUS_ON_NODE").output().unwrap().status.success());
    let said = folder.read("tasks");
    assert!(
        said.contains("--shard 2007/2100 --shard-by cost --json shards/2007.json --if-missing\nthreads 3\n"),
        "{said}"
    );
    assert!(said.contains("threads 8\n") && said.ends_with("threads 1\n"), "{said}");
}

#[test]
fn a_cluster_that_refuses_is_quoted_and_nothing_more_is_submitted() {
    let folder = Folder::new();
    plan(&folder.name("job"), &["--shards", "64"], &SWEEP_OF_2240);
    let calls = folder.name("calls");
    let small = commands(&folder, &[("scontrol", "echo 'MaxArraySize = 64'"), ("sbatch", SBATCH)]);
    let output = run(&small, &folder.path("job"), "submit", &[("CALLS", &calls)]);
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stderr);
    assert!(
        said.contains("MaxArraySize=64") && said.contains("--shards 63"),
        "{said}"
    );
    assert!(!folder.path("calls").exists());
    let refuses = commands(
        &folder,
        &[
            ("scontrol", "echo 'MaxArraySize = 1001'"),
            ("sbatch", "echo 'sbatch: error: invalid partition' >&2; exit 1"),
        ],
    );
    let output = run(&refuses, &folder.path("job"), "submit", &[("CALLS", &calls)]);
    assert!(!output.status.success() && text(&output.stderr).contains("invalid partition"));
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
}

#[test]
fn scripts_outside_their_folder_say_so() {
    let folder = Folder::new();
    plan(&folder.name("job"), &["--shards", "2"], &SWEEP_OF_2240);
    let script = folder.path("job/array.sbatch");
    let output = Command::new("sh")
        .arg(&script)
        .arg("1")
        .current_dir("/")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("has no plan.json"),
        "{}",
        text(&output.stderr)
    );
    let output = Command::new("sh")
        .arg(&script)
        .current_dir(folder.path("job"))
        .env_remove("SLURM_ARRAY_TASK_ID")
        .output();
    assert!(text(&output.unwrap().stderr).contains("start this with sh submit"));
}

/// A program that writes what it was given where `--json` says.
const RECORDS: &str =
    r#"case "$1" in doctor) echo "{\"given\": \"$*\"}" ;; run) for last; do :; done; echo "$*" >"$last" ;; esac"#;

#[test]
fn a_node_writes_its_record_once_and_what_doctor_says() {
    let folder = Folder::new();
    let hosts = "case $2 in hostnames) printf 'n1\\nn2\\n' ;; esac";
    let path = commands(
        &folder,
        &[
            ("scontrol", hosts),
            ("srun", "echo \"$*\" >>\"$CALLS\""),
            ("noted", RECORDS),
        ],
    );
    let dir = folder.path("job");
    plan(
        &folder.name("job"),
        &["--nodes", "2", "--program", "noted"],
        &["run", "popf", "--quick"],
    );
    let calls = folder.name("calls");
    let job = [
        ("CALLS", calls.as_str()),
        ("SLURM_JOB_ID", "77"),
        ("SLURM_JOB_NODELIST", "n[1-2]"),
    ];
    let mut batch = Command::new("sh");
    batch
        .arg("records.sbatch")
        .current_dir(&dir)
        .env("PATH", &path)
        .envs(job);
    let output = batch.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(folder.read("job/nodes/77"), "n1\nn2\n");
    assert_eq!(
        folder.read("calls"),
        "--no-kill --kill-on-bad-exit=0 --wait=0 --cpu-bind=none sh ./record-node\n"
    );
    let task = [("SLURM_JOB_ID", "77"), ("SLURMD_NODENAME", "n2")];
    let output = run(&path, &dir, "record-node", &task);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let record = "job/records/n2-77.json.gz";
    assert_eq!(folder.read(record), "run popf --quick --json records/n2-77.json.gz\n");
    assert_eq!(folder.read("job/doctor/n2-77.json"), "{\"given\": \"doctor --json\"}\n");
    folder.with(record, "kept");
    assert!(run(&path, &dir, "record-node", &task).status.success());
    assert_eq!(folder.read(record), "kept");
}

#[test]
fn nodes_without_a_record_are_named_and_the_printed_line_makes_them() {
    let folder = Folder::new();
    plan(
        &folder.name("job"),
        &["--nodes", "3"],
        &["run", "null-syscall", "--quick"],
    );
    fs::write(folder.path("job/nodes/77"), "n1\nn2\nn3\n").unwrap();
    let mut measured = Command::new("sh");
    measured
        .arg(folder.path("job/record-node"))
        .envs([("SLURM_JOB_ID", "77"), ("SLURMD_NODENAME", "n2")]);
    let measured = measured.output().unwrap();
    assert!(
        [Some(0), Some(3)].contains(&measured.status.code()),
        "{}",
        text(&measured.stderr)
    );
    let output = cyclewise(&["fleet", "join", &folder.name("job")]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with("1 records of 1 nodes, and 1 reports of doctor\n"),
        "{said}"
    );
    for node in ["n1", "n3"] {
        assert!(
            said.contains(&format!("missing: {node}: job 77 ran on this node")),
            "{said}"
        );
    }
    assert!(!said.contains("missing: n2"), "{said}");
    assert!(
        said.contains("sbatch --nodes=2 --nodelist='n1,n3' records.sbatch"),
        "{said}"
    );
    assert!(text(&output.stderr).contains("2 nodes have no record"));
    // What is there is joined nevertheless, and again to the same bytes.
    let lines = folder.read("job/fleet.jsonl");
    assert_eq!(lines.lines().count(), 3, "{lines}");
    cyclewise(&["fleet", "join", &folder.name("job")]);
    assert_eq!(folder.read("job/fleet.jsonl"), lines);
    fs::write(folder.path("job/nodes/77"), "n2\n").unwrap();
    assert_eq!(
        cyclewise(&["fleet", "join", &folder.name("job")]).status.code(),
        Some(0)
    );
}

#[test]
fn an_anonymous_job_has_no_name_of_a_node_in_its_files() {
    let folder = Folder::new();
    let key = folder.with("key", "0123456789abcdef0123456789abcdef\n");
    let hosts = "case $2 in hostnames) printf 'secret1\\nsecret2\\n' ;; esac";
    let path = commands(&folder, &[("scontrol", hosts), ("srun", "exit 0")]);
    let dir = folder.path("job");
    plan(
        &folder.name("job"),
        &["--nodes", "2"],
        &["run", "null-syscall", "--quick", "--anonymous", &key],
    );
    fs::remove_file(&key).unwrap();
    assert_eq!(
        fs::metadata(dir.join("anonymous.key")).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let job = [
        ("SLURM_JOB_ID", "4711"),
        ("SLURM_JOB_NODELIST", "secret[1-2]"),
        ("SLURMD_NODENAME", "secret1"),
    ];
    let mut batch = Command::new("sh");
    batch
        .arg("records.sbatch")
        .current_dir(&dir)
        .env("PATH", &path)
        .envs(job);
    let output = batch.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = run(&path, &dir, "record-node", &job);
    // A machine may lack what the experiment needs.
    assert!(
        [Some(0), Some(3)].contains(&output.status.code()),
        "{}",
        text(&output.stderr)
    );
    let names = printed(&[
        "fleet",
        "names",
        "--key",
        &folder.name("job/anonymous.key"),
        "secret1",
        "secret2",
    ]);
    let listed = fs::read_dir(dir.join("nodes"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect::<Vec<_>>();
    assert_eq!(fs::read_to_string(&listed[0]).unwrap(), names);
    let one = names.lines().next().unwrap();
    let mut files = 0;
    for room in ["nodes", "doctor", "records"] {
        for entry in fs::read_dir(dir.join(room)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let text = cyclewise_lab::record::read(&path).unwrap();
            assert!(!name.contains("secret") && !name.contains("4711"), "{name}");
            assert!(!text.contains("secret") && !text.contains("4711"), "{name}");
            if room != "nodes" {
                assert!(name.starts_with(one) && text.contains(one), "{name}");
            }
            files += 1;
        }
    }
    assert_eq!(files, 3);
}

#[test]
fn without_slurm_hosts_are_reached_by_ssh_in_the_same_folder() {
    let folder = Folder::new();
    let ssh = r#"shift; host=$1; shift; SLURMD_NODENAME=$host sh -c "cd / && $*""#;
    let path = commands(&folder, &[("ssh", ssh), ("noted", RECORDS)]);
    let dir = folder.path("it's $HOME");
    plan(
        &folder.name("it's $HOME"),
        &["--nodes", "2", "--program", "noted"],
        &["run", "popf"],
    );
    let mut local = Command::new("sh");
    local
        .arg(dir.join("local"))
        .args(["h1", "h2"])
        .env("PATH", &path)
        .env("SLURM_JOB_ID", "j");
    local.output().unwrap();
    for host in ["h1", "h2"] {
        assert!(dir.join(format!("records/{host}-j.json.gz")).exists(), "{host}");
    }
}
