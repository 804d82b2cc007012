//! `submit`: the arrays and the join that it gives to sbatch.

use super::*;

/// Notes each call, and prints an id that grows.
const SBATCH: &str = r#"echo "$PWD: $*" >>"$CALLS"; echo "$(($(wc -l <"$CALLS") + 40));cluster""#;

#[test]
fn submit_gives_the_array_and_then_the_join_that_waits_for_it() {
    let folder = Folder::new();
    let config = "echo 'MaxArraySize            = 1001'";
    let path = commands(&folder, &[("scontrol", config), ("sbatch", SBATCH)]);
    let dir = folder.path("a b");
    plan(&folder.name("a b"), &["--shards", "64"], &words(SWEEP_OF_2240));
    let calls = folder.name("calls");
    let output = run(&path, &dir, "submit", &[("CALLS", &calls)]);
    assert_done(&output);
    let at = fs::canonicalize(&dir).unwrap().display().to_string();
    let expected = format!(
        "{at}: --parsable --array=1-64 array.sbatch +0\n{at}: --parsable --dependency=afterany:41 join.sbatch\n"
    );
    assert_eq!(folder.read("calls"), expected);
    let said = text(&output.stdout);
    assert_says!(said, "shards 1 to 64: job 41\n", "join: job 42;");
}

#[test]
fn more_shards_than_an_array_has_are_several_arrays() {
    let folder = Folder::new();
    let path = commands(
        &folder,
        &[("scontrol", "echo 'MaxArraySize = 5001'"), ("sbatch", SBATCH)],
    );
    plan(&folder.name("job"), &["--shards", "2100"], &words(SWEEP_OF_2240));
    let calls = folder.name("calls");
    let output = run(&path, &folder.path("job"), "submit", &[("CALLS", &calls)]);
    assert_done(&output);
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
        &words(SWEEP_OF_2240),
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
        said.starts_with("simulate --shard 2007/2100 --json shards/2007.json --if-missing lockref"),
        "{said}"
    );
    assert_says!(said, "none\nthreads 3\n");
    assert!(said.contains("threads 8\n") && said.ends_with("threads 1\n"), "{said}");
}

#[test]
fn a_cluster_that_refuses_is_quoted_and_nothing_more_is_submitted() {
    let folder = Folder::new();
    plan(&folder.name("job"), &["--shards", "64"], &words(SWEEP_OF_2240));
    let calls = folder.name("calls");
    let small = commands(&folder, &[("scontrol", "echo 'MaxArraySize = 64'"), ("sbatch", SBATCH)]);
    let output = run(&small, &folder.path("job"), "submit", &[("CALLS", &calls)]);
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stderr);
    assert_says!(said, "MaxArraySize=64", "--shards 63");
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
    plan(&folder.name("job"), &["--shards", "2"], &words(SWEEP_OF_2240));
    let script = folder.path("job/array.sbatch");
    let output = Command::new("sh")
        .arg(&script)
        .arg("1")
        .current_dir("/")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_says!(text(&output.stderr), "has no plan.json");
    let output = Command::new("sh")
        .arg(&script)
        .current_dir(folder.path("job"))
        .env_remove("SLURM_ARRAY_TASK_ID")
        .output();
    assert_says!(text(&output.unwrap().stderr), "start this with sh submit");
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
    plan(&folder.name("it's"), &["--shards", "2100"], &words(SWEEP_OF_2240));
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
