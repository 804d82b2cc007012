//! `submit`: the jobs that it gives to sbatch.

use super::*;

/// Notes each call and prints an id that grows; refuses all calls after the first `TAKES`.
const SBATCH: &str = r#"[ "$(cat "$CALLS" 2>/dev/null | wc -l)" -lt "$TAKES" ] || { echo 'sbatch: error: invalid partition' >&2; exit 1; }
echo "$PWD: $*" >>"$CALLS"; echo "$(($(wc -l <"$CALLS") + 40));cluster""#;

/// A job in a folder of this name, what `submit` makes of it where sbatch takes so many calls, and those calls.
fn submitted(folder: &Folder, name: &str, takes: &str) -> (Output, String) {
    let path = commands(folder, &[("sbatch", SBATCH)]);
    plan(&folder.name(name), &["--nodes", "2"], &["run", "popf"]);
    let calls = folder.with("calls", "");
    let output = run(
        &path,
        &folder.path(name),
        "submit",
        &[("CALLS", &calls), ("TAKES", takes)],
    );
    (output, folder.read("calls"))
}

#[test]
fn submit_gives_the_job_and_then_the_join_that_waits_for_it() {
    let folder = Folder::new();
    let (output, calls) = submitted(&folder, "a b", "9");
    assert_done(&output);
    let at = fs::canonicalize(folder.path("a b")).unwrap().display().to_string();
    let expected = format!("{at}: --parsable records.sbatch\n{at}: --parsable --dependency=afterany:41 join.sbatch\n");
    assert_eq!(calls, expected);
    assert_says!(text(&output.stdout), "records: job 41\n", "join: job 42;");
}

#[test]
fn a_cluster_that_refuses_is_quoted_and_nothing_more_is_submitted() {
    let folder = Folder::new();
    let (output, calls) = submitted(&folder, "job", "0");
    assert!(!output.status.success() && calls.is_empty());
    assert_says!(text(&output.stderr), "invalid partition");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
}

#[test]
fn a_submission_that_fails_in_the_middle_says_what_runs_and_the_rest() {
    let folder = Folder::new();
    let (output, _) = submitted(&folder, "it's", "1");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let line = said.lines().find(|l| l.starts_with("    cd ")).expect(&said);
    let path = commands(&folder, &[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).env("PATH", path);
    let done = shell
        .env("CALLS", folder.name("calls"))
        .env("TAKES", "2")
        .output()
        .unwrap();
    assert!(done.status.success(), "{line}: {}", text(&done.stderr));
    assert!(folder.read("calls").ends_with("--dependency=afterany:41 join.sbatch\n"));
}

#[test]
fn scripts_outside_their_folder_say_so() {
    let folder = Folder::new();
    plan(&folder.name("job"), &["--nodes", "2"], &["run", "popf"]);
    let mut script = Command::new("sh");
    let script = script.arg(folder.path("job/records.sbatch")).current_dir("/");
    let output = script.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_says!(text(&output.stderr), "has no plan.json");
}
