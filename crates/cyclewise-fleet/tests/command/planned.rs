//! `fleet plan`: what it writes into a folder, and what it refuses.

use super::submitted::{RECORDS, commands, names};
use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const RUN: &[&str] = &["run", "null-syscall", "--quick"];

fn planned_in(dir: &str) {
    assert_done(&plan(dir, &["--nodes", "2"], RUN));
}

/// Runs `local` of a plan whose program is made up, and returns what it made.
fn locally(folder: &Folder, dir: &str) -> Vec<String> {
    let path = commands(folder, &[("noted", RECORDS)]);
    assert_done(&plan(dir, &["--nodes", "1", "--program", "noted"], RUN));
    let mut local = Command::new("sh");
    assert_done(&local.arg(format!("{dir}/local")).env("PATH", path).output().unwrap());
    names(&Path::new(dir).join("records"))
}

/// Every file below a folder with its bytes, in the order of the names.
fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn a_job_runs_in_a_folder_of_any_name() {
    let folder = Folder::new();
    // Names that a shell would change. Slurm 22.05 was seen to run jobs in such folders.
    for name in ["plain", "a b", "it's $HOME", "-n", "\"q\" # * ~ `id` ;&|<>"] {
        assert_eq!(locally(&folder, &folder.name(name)).len(), 1, "{name}");
    }
}

#[test]
fn a_folder_behind_a_link_is_the_one_that_is_said() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("real/below")).unwrap();
    std::os::unix::fs::symlink(folder.path("real/below"), folder.path("link")).unwrap();
    let output = plan(&folder.name("link/../job"), &["--nodes", "1"], RUN);
    let real = fs::canonicalize(folder.path("real/job")).unwrap();
    let line = format!("sh {}/local ", real.display());
    assert!(text(&output.stdout).contains(&line), "{}", text(&output.stdout));
    fs::remove_dir_all(&real).unwrap();
    assert_eq!(
        locally(&folder, &folder.name("link/../job")),
        names(&real.join("records"))
    );
}

#[test]
fn a_plan_without_a_folder_goes_into_one_of_the_current() {
    let folder = Folder::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyclewise-fleet"));
    let command = command.args(["plan", "--nodes", "1"]).args(RUN);
    let output = command.current_dir(folder.path(".")).output().unwrap();
    assert_done(&output);
    assert!(folder.path("cyclewise-fleet/plan.json").exists());
    assert_says!(text(&output.stdout), "/cyclewise-fleet/submit\n");
}

#[test]
fn the_same_plan_is_the_same_bytes_anywhere_and_again() {
    let folder = Folder::new();
    let (a, b) = (folder.name("a"), folder.name("b"));
    planned_in(&a);
    planned_in(&b);
    let relative = |dir: &str| -> Vec<(String, Vec<u8>)> {
        let strip = |(name, bytes): (String, Vec<u8>)| (name.replace(dir, ""), bytes);
        contents(Path::new(dir)).into_iter().map(strip).collect()
    };
    assert_eq!(relative(&a), relative(&b));
    // With results there, the same plan changes nothing.
    folder.with("a/records/n1.json", SMALL);
    let before = contents(Path::new(&a));
    planned_in(&a);
    assert_eq!(contents(Path::new(&a)), before);
}

#[test]
fn another_plan_or_results_without_one_are_kept() {
    let folder = Folder::new();
    let dir = folder.name("job");
    planned_in(&dir);
    folder.with("job/records/n1.json", SMALL);
    let before = contents(Path::new(&dir));
    for (options, planned, says) in [
        (&["--nodes", "3"][..], RUN, "another records.sbatch"),
        (
            &words("--nodes 2 --sbatch=--partition=x"),
            RUN,
            "another records.sbatch",
        ),
        (&["--nodes", "2"], &["run", "popf"], "another record-node"),
    ] {
        let refused = plan(&dir, options, planned);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(says) && said.lines().count() == 1, "{said}");
        assert_says!(said, "--into");
        assert_eq!(contents(Path::new(&dir)), before);
    }
    let again = || text(&plan(&dir, &["--nodes", "2"], RUN).stderr);
    // An edited script is not written over.
    folder.with("job/join.sbatch", "#!/bin/sh\n");
    assert_says!(again(), "another join.sbatch");
    // Results without a plan.
    for name in [
        "records.sbatch",
        "record-node",
        "join.sbatch",
        "submit",
        "local",
        "plan.json",
    ] {
        fs::remove_file(folder.path("job").join(name)).unwrap();
    }
    assert_says!(again(), "records is of another job");
}

#[test]
fn wrong_plans_are_refused_in_one_line_and_write_nothing() {
    let folder = Folder::new();
    let dir = folder.name("job");
    let odd = folder.name("a\nb");
    let (percent, backslash) = (folder.name("100 %a"), folder.name("a\\b"));
    let program = folder.with("not-executable", "");
    let read_only = folder.name("file/below");
    folder.with("file", "");
    let popf = &["run", "popf"][..];
    for (options, words, says) in [
        (&[][..], popf, "--nodes N"),
        (&["--nodes", "2"], &["doctor"], "not \"doctor\""),
        (&["--nodes", "2"], &["nonsense"], "nonsense"),
        (&["--nodes", "2"], &["run", "--help"], "cannot be run"),
        (&["--nodes", "2"], &["run", "pop"], "popf"),
        (&["--nodes", "2"], &["run", "popf", "--html", "x"], "leave --html out"),
        (
            &["--nodes", "2"],
            &["run", "popf", "--anonymous", "no-such-key"],
            "no-such-key",
        ),
        (&["--sbatch=--array=1-3"], popf, "--array"),
        (&["--sbatch=-o x"], popf, "-o"),
        (&["--sbatch=a\n#SBATCH --uid=0"], popf, "control character"),
        (&["--sbatch=-HN4"], popf, "the generated scripts already set -N"),
        (&["--sbatch=--part=x"], popf, "in full: --partition"),
        (&["--nodes", "2", "--program", &program], popf, "chmod +x"),
        (&["--nodes", "2", "--program=-x"], popf, "begins with -"),
        (&["--nodes", "2", "--into", &odd], popf, "printable"),
        (&["--nodes", "2", "--into", &percent], popf, "Slurm reads %"),
        (&["--nodes", "2", "--into", &backslash], popf, "Slurm reads %"),
        (&["--nodes", "2", "--into", &read_only], popf, "can be"),
    ] {
        let mut args = vec!["fleet", "plan"];
        if !options.contains(&"--into") {
            args.extend(["--into", &dir]);
        }
        args.extend(options);
        args.extend(words);
        let (status, said) = refused(&args);
        assert_eq!(status, 2, "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
        assert!(!said.trim_end().contains(char::is_control), "{said:?}");
        assert!(
            !folder.path("job").exists() && !folder.path("a\nb").exists(),
            "{args:?}"
        );
    }
}

#[test]
fn a_plan_that_is_torn_or_newer_or_changed_is_refused() {
    let folder = Folder::new();
    let dir = folder.name("job");
    planned_in(&dir);
    let plan = folder.read("job/plan.json");
    for (changed, says) in [
        (plan[..plan.len() / 2].to_owned(), "truncated"),
        (String::new(), "truncated"),
        (plan.replace("plan/1", "plan/2"), "newer cyclewise"),
        (plan.replace("\"nodes\": 2", "\"nodes\": -2"), "does not follow"),
        (plan.replace("\"command\"", "\"c\""), "does not follow"),
    ] {
        assert_ne!(changed, plan);
        folder.with("job/plan.json", &changed);
        let (status, said) = refused(&["fleet", "join", &dir]);
        assert!(
            status == 2 && said.contains(says) && said.lines().count() == 1,
            "{said}"
        );
    }
    // Reading a FIFO would wait.
    let plan = folder.path("job/plan.json");
    fs::remove_file(&plan).unwrap();
    if !Command::new("mkfifo").arg(plan).status().is_ok_and(|s| s.success()) {
        return println!("skipped: mkfifo does not make one here");
    }
    let (status, said) = refused(&["fleet", "join", &dir]);
    assert!(status == 2 && said.contains("plan.json is no file"), "{said}");
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    let folder = Folder::new();
    let dir = folder.name("job");
    fs::create_dir(&dir).unwrap();
    folder.with("job/n1.json", SMALL);
    let set = |mode| fs::set_permissions(&dir, fs::Permissions::from_mode(mode)).unwrap();
    set(0o500);
    if fs::write(folder.path("job/x"), "").is_ok() {
        set(0o700);
        return println!("skipped: this user may write to every folder");
    }
    let (status, said) = refused(&["fleet", "join", &dir]);
    let output = cyclewise(&["fleet", "join", &dir, "--json", &folder.name("elsewhere.jsonl")]);
    set(0o700);
    assert!(status == 2 && said.contains("fleet.jsonl"), "{said}");
    assert_done(&output);
}
