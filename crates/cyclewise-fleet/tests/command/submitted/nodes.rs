//! The records' scripts: each node writes its record once.

use super::*;
use std::os::unix::fs::PermissionsExt;

/// Starts the job of records as Slurm does: in the job's folder.
fn batch(path: &str, dir: &Path, job: &[(&str, &str)]) {
    let mut batch = Command::new("sh");
    batch.arg("records.sbatch").current_dir(dir).env("PATH", path);
    assert_done(&batch.envs(job.iter().copied()).output().unwrap());
}

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
    batch(&path, &dir, &job);
    assert_eq!(folder.read("job/nodes/77"), "n1\nn2\n");
    assert_eq!(
        folder.read("calls"),
        "--no-kill --kill-on-bad-exit=0 --wait=0 --cpu-bind=none sh ./record-node\n"
    );
    let task = [("SLURM_JOB_ID", "77"), ("SLURMD_NODENAME", "n2")];
    let output = run(&path, &dir, "record-node", &task);
    assert_done(&output);
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
        said.starts_with("1 record of 1 node, and 1 report of doctor\n"),
        "{said}"
    );
    for node in ["n1", "n3"] {
        assert_says!(said, &format!("missing: {node}: job 77 ran on this node"));
    }
    assert_lacks!(said, "missing: n2");
    assert_says!(said, "sbatch --nodes=2 --nodelist='n1,n3' records.sbatch");
    assert_says!(text(&output.stderr), "2 nodes without a record");
    // What is there is joined nevertheless, and again to the same bytes.
    let lines = folder.read("job/fleet.jsonl");
    assert_eq!(lines.lines().count(), 3, "{lines}");
    cyclewise(&["fleet", "join", &folder.name("job")]);
    assert_eq!(folder.read("job/fleet.jsonl"), lines);
    // Nodes that the job was never given are in no list.
    fs::write(folder.path("job/nodes/77"), "n2\n").unwrap();
    let fewer = cyclewise(&["fleet", "join", &folder.name("job")]);
    let said = text(&fewer.stderr);
    assert!(fewer.status.code() == Some(1), "{said}");
    assert_says!(said, "for at least 3 nodes, but records have only 1 node name;");
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
    batch(&path, &dir, &job);
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
            assert_lacks!(name, "secret", "4711z");
            assert!(!text.contains("secret") && !text.contains("4711z"), "{name}");
            if room != "nodes" {
                assert!(name.starts_with(one) && text.contains(one), "{name}");
            }
            files += 1;
        }
    }
    assert_eq!(files, 3);
}
