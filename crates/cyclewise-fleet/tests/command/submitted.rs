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
        said.starts_with("simulate --shard 2007/2100 --shard-by cost --json shards/2007.json --if-missing lockref"),
        "{said}"
    );
    assert!(said.contains("none\nthreads 3\n"), "{said}");
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
const RECORDS: &str = r#"case "$1" in doctor) echo "{\"given\": \"$*\"}" ;; run) echo "$*" >"$3" ;; esac"#;

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
    let [name] = &names(&dir.join("records"))[..] else {
        panic!("one record")
    };
    let record = format!("job/records/{name}");
    assert!(name.starts_with("n2-77-") && name.ends_with(".json.gz"), "{name}");
    assert_eq!(
        folder.read(&record),
        format!("run --json records/{name} popf --quick\n")
    );
    let doctor = format!("job/doctor/{}", name.trim_end_matches(".gz"));
    assert_eq!(folder.read(&doctor), "{\"given\": \"doctor --json\"}\n");
    folder.with(&record, "kept");
    assert!(run(&path, &dir, "record-node", &task).status.success());
    assert_eq!(folder.read(&record), "kept");
    assert_eq!(names(&dir.join("records")).len(), 1);
    // Another node, whose name begins with this one's, has a record of its own.
    for node in ["n2-77", "n2"] {
        let other = [("SLURM_JOB_ID", "77"), ("SLURMD_NODENAME", node)];
        assert!(run(&path, &dir, "record-node", &other).status.success());
    }
    assert_eq!(names(&dir.join("records")).len(), 2);
}

/// The files of a folder in the order of their names.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn two_hosts_of_one_name_have_a_record_each() {
    let folder = Folder::new();
    let programs = [("noted", RECORDS), ("uname", "echo twin"), ("date", "echo now")];
    let path = commands(&folder, &programs);
    let dir = folder.path("job");
    plan(
        &folder.name("job"),
        &["--nodes", "2", "--program", "noted"],
        &["run", "popf"],
    );
    for _ in 0..2 {
        let mut node = Command::new("sh");
        node.arg(dir.join("record-node"))
            .env("PATH", &path)
            .env_remove("SLURM_JOB_ID");
        assert!(node.output().unwrap().status.success());
    }
    assert_eq!(names(&dir.join("records")).len(), 2);
    assert_eq!(names(&dir.join("doctor")).len(), 2);
    assert_eq!(folder.read("job/nodes/local-twin"), "twin\n");
}

#[test]
fn nodes_without_a_record_are_named_and_the_printed_line_makes_them() {
    let folder = Folder::new();
    plan(
        &folder.name("job"),
        &["--nodes", "3"],
        &["run", "--quick", "--", "null-syscall"],
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
    // Nodes that the job was never given are in no list.
    fs::write(folder.path("job/nodes/77"), "n2\n").unwrap();
    let fewer = cyclewise(&["fleet", "join", &folder.name("job")]);
    let said = text(&fewer.stderr);
    assert!(
        fewer.status.code() == Some(1)
            && said.contains("for 3 nodes or more, and 1 nodes of different names have a record"),
        "{said}"
    );
    let plan = folder.read("job/plan.json").replace("\"nodes\": 3", "\"nodes\": 1");
    folder.with("job/plan.json", &plan);
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
        ("SLURM_JOB_ID", "4711z"),
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
    // In the order of the hashes, which says nothing of the nodes'.
    let mut sorted: Vec<&str> = names.lines().collect();
    sorted.sort_unstable();
    let list = fs::read_to_string(&listed[0]).unwrap();
    assert_eq!(list.lines().collect::<Vec<_>>(), sorted);
    let one = names.lines().next().unwrap();
    let mut files = 0;
    for room in ["nodes", "doctor", "records"] {
        for entry in fs::read_dir(dir.join(room)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let text = cyclewise_bench::record::read(&path).unwrap();
            assert!(!name.contains("secret") && !name.contains("4711z"), "{name}");
            assert!(!text.contains("secret") && !text.contains("4711z"), "{name}");
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
    let ssh = r#"shift 2; host=$1; shift; SLURMD_NODENAME=$host exec sh -c "cd / && $*""#;
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
        let records = names(&dir.join("records"));
        assert!(
            records.iter().any(|name| name.starts_with(&format!("{host}-j-"))),
            "{records:?}"
        );
    }
}

#[test]
fn a_host_that_is_not_reached_is_named_until_it_is_measured() {
    let folder = Folder::new();
    let ssh = r#"shift 2; host=$1; shift
[ "$host" = "$BAD" ] && exit 255
SLURM_JOB_ID=1 SLURMD_NODENAME=node-$host exec sh -c "$*""#;
    let path = commands(&folder, &[("ssh", ssh)]);
    plan(
        &folder.name("job"),
        &["--nodes", "2"],
        &["run", "null-syscall", "--quick"],
    );
    let local = |hosts: &[&str], bad: &str| {
        let mut local = Command::new("sh");
        local
            .arg(folder.path("job/local"))
            .args(hosts)
            .env("PATH", &path)
            .env("BAD", bad);
        local.output().unwrap()
    };
    let output = local(&["good", "bad"], "bad");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("missing: bad: it was to be measured") && said.contains("sh local bad\n"),
        "{said}"
    );
    assert!(!said.contains("missing: node-good"), "{said}");
    // Its own name is known once it is reached.
    let output = local(&["bad"], "none");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(folder.read("job/nodes/local-bad"), "node-bad\n");
}

#[test]
fn an_end_of_local_ends_what_it_started() {
    let folder = Folder::new();
    let ssh = r#"shift 3; exec sh -c "$*""#;
    let noted = r#"case $1 in run) echo "$$" >>"$CALLS"; exec sleep 300 ;; esac"#;
    let path = commands(&folder, &[("ssh", ssh), ("noted", noted)]);
    plan(
        &folder.name("job"),
        &["--nodes", "2", "--program", "noted"],
        &["run", "popf"],
    );
    for hosts in [&["h1", "h2"][..], &[]] {
        let calls = folder.with("calls", "");
        let mut local = Command::new("sh");
        local
            .arg(folder.path("job/local"))
            .args(hosts)
            .env("PATH", &path)
            .env("CALLS", &calls);
        let mut local = local.spawn().unwrap();
        let started = hosts.len().max(1);
        while folder.read("calls").lines().count() < started {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let kill = Command::new("kill").args(["-TERM", &local.id().to_string()]).status();
        assert!(kill.unwrap().success());
        assert_eq!(local.wait().unwrap().code(), Some(130));
        for process in folder.read("calls").lines() {
            assert!(!Path::new("/proc").join(process).exists(), "{process} is still there");
        }
    }
}

#[test]
fn a_task_that_a_signal_ends_does_not_end_the_others() {
    let folder = Folder::new();
    let noted = r#"case $* in *"--shard 1/"*) kill -9 "$$" ;; esac; echo "$*" >>"$CALLS""#;
    let path = commands(&folder, &[("noted", noted)]);
    plan(
        &folder.name("job"),
        &["--shards", "4", "--program", "noted"],
        &SWEEP_OF_2240,
    );
    let calls = folder.name("calls");
    let mut local = Command::new("sh");
    local
        .arg(folder.path("job/local"))
        .arg("1")
        .env("PATH", &path)
        .env("CALLS", &calls);
    local.output().unwrap();
    let said = folder.read("calls");
    assert_eq!(said.lines().filter(|l| l.contains("--shard ")).count(), 3, "{said}");
    assert!(said.ends_with("fleet join .\n"), "{said}");
}

/// Refuses its third call and those after, until a file is there.
const SBATCH_OF_TWO: &str = r#"[ -e "$CALLS.more" ] || [ "$(cat "$CALLS" 2>/dev/null | wc -l)" -lt "$TAKES" ] || exit 1
echo "$PWD: $*" >>"$CALLS"; echo "$(($(wc -l <"$CALLS") + 40));cluster""#;

#[test]
fn a_submission_that_fails_in_the_middle_says_what_runs_and_the_rest() {
    let folder = Folder::new();
    let path = commands(
        &folder,
        &[("scontrol", "echo 'MaxArraySize = 1001'"), ("sbatch", SBATCH_OF_TWO)],
    );
    plan(&folder.name("it's"), &["--shards", "2100"], &SWEEP_OF_2240);
    plan(&folder.name("records"), &["--nodes", "2"], &["run", "popf"]);
    // Arrays, the join of arrays, the join of records.
    for (job, takes, rest) in [
        (
            "it's",
            2,
            [
                "--array=1-100 array.sbatch +2000",
                "--dependency=afterany:41:42:43 join.sbatch",
            ]
            .as_slice(),
        ),
        ("it's", 3, &["--dependency=afterany:41:42:43 join.sbatch"]),
        ("records", 1, &["--dependency=afterany:41 join.sbatch"]),
    ] {
        let calls = folder.with("calls", "");
        let takes = takes.to_string();
        let output = run(
            &path,
            &folder.path(job),
            "submit",
            &[("CALLS", &calls), ("TAKES", &takes)],
        );
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let line = said.lines().find(|l| l.starts_with("    cd ")).expect(&said);
        let before = folder.read("calls").lines().count();
        folder.with("calls.more", "");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .env("PATH", &path)
            .env("CALLS", &calls)
            .env("TAKES", &takes);
        let done = shell.output().unwrap();
        assert!(done.status.success(), "{line}: {}", text(&done.stderr));
        fs::remove_file(folder.path("calls.more")).unwrap();
        let calls = folder.read("calls");
        let given: Vec<&str> = calls.lines().skip(before).collect();
        assert_eq!(given.len(), rest.len(), "{calls}");
        for (given, rest) in given.iter().zip(rest) {
            assert!(given.ends_with(rest), "{given}: {rest}");
        }
    }
}
