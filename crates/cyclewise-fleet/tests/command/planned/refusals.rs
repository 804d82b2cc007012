//! Plans and folders that are refused.

use super::*;
use std::os::unix::fs::PermissionsExt;

#[test]
fn another_plan_or_results_without_one_are_kept() {
    let folder = Folder::new();
    let dir = folder.name("job");
    planned_in(&dir, "3");
    assert!(shard(Path::new(&dir), "1").status.success());
    let before = contents(Path::new(&dir));
    for (options, planned, says) in [
        (&["--shards", "4"][..], words(SWEEP), "another array.sbatch"),
        (
            &words("--shards 3 --sbatch=--partition=x"),
            words(SWEEP),
            "another array.sbatch",
        ),
        (&["--shards", "3"], with(SWEEP, &["--seed", "9"]), "another"),
        (&["--nodes", "2"], vec!["run", "popf"], "another"),
    ] {
        let refused = plan(&dir, options, &planned);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(says) && said.lines().count() == 1, "{said}");
        assert_says!(said, "--into");
        assert_eq!(contents(Path::new(&dir)), before);
    }
    // An edited script is not written over.
    fs::write(folder.path("job/join.sbatch"), "#!/bin/sh\n").unwrap();
    assert_says!(
        text(&plan(&dir, &["--shards", "3"], &words(SWEEP)).stderr),
        "another join.sbatch"
    );
    // Results without a plan.
    for name in ["array.sbatch", "join.sbatch", "submit", "local", "plan.json"] {
        fs::remove_file(folder.path("job").join(name)).unwrap();
    }
    let said = text(&plan(&dir, &["--shards", "3"], &words(SWEEP)).stderr);
    assert_says!(said, "shards is of another job");
}

#[test]
fn wrong_plans_are_refused_in_one_line_and_write_nothing() {
    let folder = Folder::new();
    let dir = folder.name("job");
    let long = ["simulate", "fetch-add", "--machine", "thunderx2"];
    let with = |rest: &[&'static str]| [&long[..], rest].concat();
    let odd = folder.name("a\nb");
    let (percent, backslash) = (folder.name("100 %a"), folder.name("a\\b"));
    let program = folder.with("not-executable", "");
    let read_only = folder.name("file/below");
    folder.with("file", "");
    for (options, words, says) in [
        (&[][..], with(&["--json", "x"]), "leave --json out"),
        (&[], with(&["--csv=x"]), "leave --csv out"),
        (&[], with(&["--shard", "1/2"]), "leave --shard out"),
        (&[], with(&["--json", "x", "--if-missing"]), "leave --json out"),
        (&[], with(&["--threads", "225"]), "which has 224 CPUs"),
        (&[], with(&["--threads", "x"]), "neither a positive number"),
        (
            &[],
            vec!["simulate", "fetch-sub", "--machine", "thunderx2"],
            "fetch-sub",
        ),
        (&[], vec!["simulate", "fetch-add"], "--machine"),
        (&[], vec!["simulate", "list"], "not its subcommands"),
        (&[], vec!["doctor"], "not \"doctor\""),
        (&[], vec!["nonsense"], "nonsense"),
        (&[], vec!["run", "--help"], "cannot be run"),
        (&[], vec!["run", "popf"], "--nodes N"),
        (&["--nodes", "2"], vec!["run", "pop"], "popf"),
        (
            &["--nodes", "2"],
            vec!["run", "popf", "--html", "x"],
            "leave --html out",
        ),
        (&words("--nodes 2 --shards 2"), vec!["run", "popf"], "--shards is for"),
        (
            &["--nodes", "2"],
            vec!["run", "popf", "--anonymous", "no-such-key"],
            "no-such-key",
        ),
        (&["--sbatch=--array=1-3"], long.to_vec(), "--array"),
        (&["--sbatch=-o x"], long.to_vec(), "-o"),
        (&["--sbatch=a\n#SBATCH --uid=0"], long.to_vec(), "control character"),
        (&["--program", &program], long.to_vec(), "chmod +x"),
        (&["--program=-x"], long.to_vec(), "begins with -"),
        (
            &["--sbatch=-HN4"],
            long.to_vec(),
            "the generated scripts already set -N",
        ),
        (&["--sbatch=--part=x"], long.to_vec(), "in full: --partition"),
        (&["--into", &odd], long.to_vec(), "printable"),
        (&["--into", &percent], long.to_vec(), "Slurm reads %"),
        (&["--into", &backslash], long.to_vec(), "Slurm reads %"),
        (&["--into", &read_only], long.to_vec(), "can be"),
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
    planned_in(&dir, "2");
    let plan = folder.read("job/plan.json");
    for (changed, says) in [
        (plan[..plan.len() / 2].to_owned(), "truncated"),
        (String::new(), "truncated"),
        (plan.replace("plan/1", "plan/2"), "newer cyclewise"),
        (plan.replace("\"points\": 12", "\"points\": 13"), "was modified"),
        (plan.replace("\"shards\": 2", "\"shards\": 0"), "was modified"),
        (plan.replace("\"sweep\"", "\"s\""), "does not follow"),
    ] {
        assert_ne!(changed, plan);
        folder.with("job/plan.json", &changed);
        let (status, said) = refused(&["fleet", "join", &dir]);
        assert!(
            status == 2 && said.contains(says) && said.lines().count() == 1,
            "{said}"
        );
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_said_and_so_is_one_that_cannot_be_read() {
    let folder = Folder::new();
    let dir = folder.name("job");
    planned_in(&dir, "1");
    assert!(shard(&folder.path("job"), "1").status.success());
    let set = |mode| fs::set_permissions(folder.path("job"), fs::Permissions::from_mode(mode)).unwrap();
    set(0o500);
    if fs::write(folder.path("job/x"), "").is_ok() {
        set(0o700);
        println!("skipped: this user may write to every folder");
        return;
    }
    let (status, _, error) = join(&dir);
    let elsewhere = folder.name("elsewhere.json");
    let output = cyclewise(&["fleet", "join", &dir, "--json", &elsewhere]);
    set(0o700);
    assert!(status == 2 && error.contains("joined.json"), "{error}");
    assert_done(&output);
}
