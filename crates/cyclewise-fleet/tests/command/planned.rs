//! `fleet plan` and `fleet join`: a planned sweep is run without Slurm, its shards damaged, made again and joined.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The sweep of the tests without its output.
fn planned() -> Vec<&'static str> {
    SWEEP[..SWEEP.len() - 1].to_vec()
}

fn plan(dir: &str, options: &[&str], planned: &[&str]) -> Output {
    programs::cyclewise();
    let words = [&["fleet", "plan", "--into", dir], options, planned].concat();
    cyclewise(&words)
}

fn planned_in(dir: &str, shards: &str) {
    let output = plan(dir, &["--shards", shards], &planned());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

fn sh(dir: &Path, script: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.arg(dir.join(script)).args(arguments).output().unwrap()
}

fn shard(dir: &Path, number: &str) -> Output {
    let mut command = Command::new("sh");
    command
        .args(["array.sbatch", number])
        .current_dir(dir)
        .output()
        .unwrap()
}

fn join(dir: &str) -> (i32, String, String) {
    let output = cyclewise(&["fleet", "join", dir]);
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
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
fn a_planned_sweep_joins_to_the_bytes_of_the_single_run() {
    let whole = printed(&sweep(&["-"]));
    let folder = Folder::new();
    // Names that a shell, sbatch or a pattern would change.
    // Names that a shell would change. Slurm 22.05 was seen to run jobs in such folders.
    let names = ["plain", "a b", "it's $HOME", "-n", "\"q\" # * ~ `id` ;&|<>"];
    for (i, name) in names.iter().enumerate() {
        let dir = folder.name(name);
        planned_in(&dir, &(i + 1).to_string());
        let local = sh(Path::new(&dir), "local", &["2"]);
        assert_eq!(local.status.code(), Some(0), "{name}: {}", text(&local.stderr));
        assert_eq!(folder.read(&format!("{name}/joined.json")), whole, "{name}");
        let (status, said, _) = join(&dir);
        assert!(status == 0 && said.contains("are whole"), "{said}");
    }
}

#[test]
fn a_planned_command_may_have_two_hyphens() {
    let folder = Folder::new();
    let words = [
        "simulate",
        "--machine",
        "thunderx2",
        "--threads",
        "1..4",
        "--ops",
        "50",
        "--",
        "fetch-add",
    ];
    let output = plan(&folder.name("job"), &["--shards", "2"], &words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let local = sh(&folder.path("job"), "local", &[]);
    assert_eq!(local.status.code(), Some(0), "{}", text(&local.stderr));
}

#[test]
fn a_folder_behind_a_link_is_the_one_that_is_said() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("real/below")).unwrap();
    std::os::unix::fs::symlink(folder.path("real/below"), folder.path("link")).unwrap();
    let output = plan(&folder.name("link/../job"), &["--shards", "2"], &planned());
    let real = fs::canonicalize(folder.path("real/job")).unwrap();
    let line = format!("sh {}/local\n", real.display());
    assert!(text(&output.stdout).contains(&line), "{}", text(&output.stdout));
    let local = sh(&folder.path("link/../job"), "local", &[]);
    assert_eq!(local.status.code(), Some(0), "{}", text(&local.stderr));
    assert!(real.join("joined.json").exists());
}

#[test]
fn a_plan_without_a_folder_goes_into_one_of_the_current() {
    let folder = Folder::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyclewise-fleet"));
    let output = command
        .arg("plan")
        .args(planned())
        .current_dir(folder.path("."))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(folder.path("cyclewise-fleet/plan.json").exists());
    let said = text(&output.stdout);
    assert!(said.contains("/cyclewise-fleet/submit\n"), "{said}");
}

#[test]
fn the_same_plan_is_the_same_bytes_anywhere_and_again() {
    let folder = Folder::new();
    let (a, b) = (folder.name("a"), folder.name("b"));
    planned_in(&a, "3");
    planned_in(&b, "3");
    let relative = |dir: &str| -> Vec<(String, Vec<u8>)> {
        let strip = |(name, bytes): (String, Vec<u8>)| (name.replace(dir, ""), bytes);
        contents(Path::new(dir)).into_iter().map(strip).collect()
    };
    assert_eq!(relative(&a), relative(&b));
    // With results there, the same plan changes nothing.
    assert!(shard(Path::new(&a), "2").status.success());
    let before = contents(Path::new(&a));
    planned_in(&a, "3");
    assert_eq!(contents(Path::new(&a)), before);
}

#[test]
fn another_plan_or_results_without_one_are_kept() {
    let folder = Folder::new();
    let dir = folder.name("job");
    planned_in(&dir, "3");
    assert!(shard(Path::new(&dir), "1").status.success());
    let before = contents(Path::new(&dir));
    for (options, words, says) in [
        (&["--shards", "4"][..], planned(), "another array.sbatch"),
        (
            &["--shards", "3", "--sbatch=--partition=x"],
            planned(),
            "another array.sbatch",
        ),
        (
            &["--shards", "3"],
            [&planned()[..], &["--seed", "9"]].concat(),
            "another",
        ),
        (&["--nodes", "2"], vec!["run", "popf"], "another"),
    ] {
        let refused = plan(&dir, options, &words);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(
            said.contains(says) && said.contains("--into") && said.lines().count() == 1,
            "{said}"
        );
        assert_eq!(contents(Path::new(&dir)), before);
    }
    // An edited script is not written over.
    fs::write(folder.path("job/join.sbatch"), "#!/bin/sh\n").unwrap();
    assert!(text(&plan(&dir, &["--shards", "3"], &planned()).stderr).contains("another join.sbatch"));
    // Results without a plan.
    for name in ["array.sbatch", "join.sbatch", "submit", "local", "plan.json"] {
        fs::remove_file(folder.path("job").join(name)).unwrap();
    }
    let said = text(&plan(&dir, &["--shards", "3"], &planned()).stderr);
    assert!(said.contains("shards is of another job"), "{said}");
}

#[test]
fn what_is_missing_torn_or_foreign_is_named_and_the_printed_line_makes_it() {
    let folder = Folder::new();
    let dir = folder.name("job");
    let path = folder.path("job");
    planned_in(&dir, "5");
    let (status, said, error) = join(&dir);
    assert_eq!(status, 1);
    assert!(
        said.contains("0 of 5 shards") && said.contains("sbatch --array=1-5 array.sbatch"),
        "{said}"
    );
    assert!(error.contains("5 of 5 shards are missing"), "{error}");
    assert!(sh(&path, "local", &[]).status.success());
    let whole = folder.read("job/joined.json");
    fs::remove_file(path.join("joined.json")).unwrap();

    let two = folder.read("job/shards/2.json");
    fs::write(path.join("shards/2.json"), &two[..two.len() / 2]).unwrap();
    fs::remove_file(path.join("shards/4.json")).unwrap();
    let five = folder.read("job/shards/5.json");
    fs::write(
        path.join("shards/5.json"),
        five.replacen("\"version\":\"", "\"version\":\"9.", 1),
    )
    .unwrap();
    fs::copy(path.join("shards/1.json"), path.join("shards/copy.json")).unwrap();
    fs::write(path.join("shards/.cyclewise-7-0.tmp"), "half").unwrap();
    let other = folder.name("job/shards/other.json");
    printed(&sweep(&[&other, "--shard", "3/5", "--shard-by", "cost", "--seed", "2"]));
    let before = contents(&path);
    let (status, said, error) = join(&dir);
    assert_eq!(status, 1, "{said}");
    for line in [
        "2 of 5 shards by cost are whole: a sweep of 12 points",
        "missing: shard 2 of 5",
        "missing: shard 4 of 5",
        "missing: shard 5 of 5",
        "torn: shards/2.json: it ends in line 2, before its points",
        "duplicate: shards/copy.json: it has the same bytes as 1.json, which counts",
        "foreign: shards/other.json: it is of another sweep than the plan",
        "ignored: shards/.cyclewise-7-0.tmp: a task that did not end left it, or is still running",
    ] {
        assert!(said.lines().any(|l| l == line), "{line}: {said}");
    }
    assert!(said.contains("another version: shards/5.json: cyclewise 9."), "{said}");
    // Tasks of another version leave what they made, so the same line would make nothing.
    assert!(
        !said.contains("sbatch") && said.contains("plan again in a new folder"),
        "{said}"
    );
    assert!(error.contains("3 of 5 shards are missing"), "{error}");
    assert_eq!(contents(&path), before, "nothing is deleted or written");

    // The printed lines make them, and only them.
    let line = said.lines().find(|l| l.contains("rm -- shards/5.json")).unwrap();
    assert!(Command::new("sh").arg("-c").arg(line).status().unwrap().success());
    let (_, said, _) = join(&dir);
    assert!(said.contains("sbatch --array=2,4-5 array.sbatch"), "{said}");
    let line = said.lines().find(|l| l.ends_with("&& sh local")).unwrap();
    let made = Command::new("sh").arg("-c").arg(line).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    for (name, bytes) in before
        .iter()
        .filter(|(name, _)| name.ends_with("1.json") || name.ends_with("3.json"))
    {
        assert_eq!(&fs::read(name).unwrap(), bytes, "{name} was made again");
    }
    let (status, said, _) = join(&dir);
    assert_eq!(status, 0, "{said}");
    assert_eq!(folder.read("job/joined.json"), whole);
}

#[test]
fn two_results_of_one_shard_contradict_each_other() {
    let folder = Folder::new();
    let dir = folder.name("job");
    planned_in(&dir, "2");
    assert!(sh(&folder.path("job"), "local", &[]).status.success());
    let one = folder.read("job/shards/1.json");
    let changed = one.replacen("\"events\":", "\"events\":1", 1);
    assert_ne!(one, changed);
    folder.with("job/shards/x.json", &changed);
    let (status, said, _) = join(&dir);
    assert_eq!(status, 1, "{said}");
    assert!(
        said.contains("1.json and shards/x.json are both shard 1") && said.contains("remove"),
        "{said}"
    );
    // The lines that are printed, one after the other, mend it.
    let lines: Vec<&str> = said
        .lines()
        .filter(|l| l.starts_with("    cd ") && !l.contains("sbatch"))
        .collect();
    assert!(lines[0].contains("rm -- shards/1.json shards/x.json"), "{said}");
    let mend = Command::new("sh").arg("-c").arg(lines.join("\n")).output().unwrap();
    assert!(mend.status.success(), "{}", text(&mend.stderr));
    assert_eq!((join(&dir).0, folder.read("job/shards/1.json")), (0, one));
}

#[test]
fn shards_of_another_sweep_than_the_plan_are_not_asked_for_again() {
    let folder = Folder::new();
    let dir = folder.name("job");
    planned_in(&dir, "2");
    assert!(sh(&folder.path("job"), "local", &[]).status.success());
    let plan = folder.read("job/plan.json");
    let edited = plan.replacen("\"seed\": 1", "\"seed\": 2", 1);
    assert_ne!(plan, edited);
    folder.with("job/plan.json", &edited);
    let (status, said, _) = join(&dir);
    assert_eq!(status, 1);
    assert!(
        said.contains("shards/1.json: it is of another sweep than the plan"),
        "{said}"
    );
    assert!(
        !said.contains("sbatch") && said.contains("Plan again in a new folder"),
        "{said}"
    );
    let many = plan.replacen("\"shards\": 2", "\"shards\": 4294967295", 1);
    assert_ne!(plan, many);
    folder.with("job/plan.json", &many);
    let (status, _, error) = join(&dir);
    assert!(status == 2 && error.contains("4294967295 shards"), "{error}");
}

#[test]
fn a_fifo_holds_up_neither_a_task_nor_the_join() {
    let folder = Folder::new();
    let dir = folder.path("job");
    planned_in(&folder.name("job"), "2");
    fs::create_dir_all(dir.join("shards")).unwrap();
    let fifo = |path: &Path| Command::new("mkfifo").arg(path).status().is_ok_and(|s| s.success());
    if !fifo(&dir.join("shards/2.json")) {
        println!("skipped: mkfifo does not make one here");
        return;
    }
    let task = shard(&dir, "2");
    assert!(text(&task.stderr).contains("is a FIFO"), "{}", text(&task.stderr));
    assert_eq!(task.status.code(), Some(2));
    let (_, said, _) = join(&folder.name("job"));
    assert!(said.contains("foreign: shards/2.json: is a folder, a FIFO"), "{said}");
    fs::remove_file(dir.join("plan.json")).unwrap();
    assert!(fifo(&dir.join("plan.json")));
    let (status, _, error) = join(&folder.name("job"));
    assert!(status == 2 && error.contains("plan.json is no file"), "{error}");
}

#[test]
fn a_task_that_is_done_does_nothing_and_one_that_is_not_works_again() {
    let folder = Folder::new();
    let dir = folder.path("job");
    planned_in(&folder.name("job"), "2");
    assert!(shard(&dir, "1").status.success());
    let file = dir.join("shards/1.json");
    let (made, whole) = (fs::metadata(&file).unwrap(), fs::read(&file).unwrap());
    let again = shard(&dir, "1");
    assert!(
        again.status.success() && text(&again.stderr).contains("already"),
        "{}",
        text(&again.stderr)
    );
    assert_eq!(
        fs::metadata(&file).unwrap().modified().unwrap(),
        made.modified().unwrap()
    );
    // Cut, of another version, of another shard, not a file of ours.
    let other = String::from_utf8(whole.clone())
        .unwrap()
        .replacen("\"version\":\"", "\"version\":\"9.", 1);
    for bad in [&whole[..whole.len() - 1], other.as_bytes(), b"", b"{}"] {
        fs::write(&file, bad).unwrap();
        assert!(shard(&dir, "1").status.success());
        assert_eq!(fs::read(&file).unwrap(), whole);
    }
}

#[test]
fn a_task_killed_at_any_moment_leaves_no_result_that_counts() {
    let folder = Folder::new();
    let dir = folder.path("job");
    planned_in(&folder.name("job"), "1");
    for attempt in 0u64..12 {
        let mut task = Command::new("sh");
        task.args(["array.sbatch", "1"])
            .current_dir(&dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut task = task.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(attempt * 15));
        task.kill().unwrap();
        task.wait().unwrap();
        let file = dir.join("shards/1.json");
        let (status, said, _) = join(&folder.name("job"));
        assert_eq!(status == 0, file.exists(), "{said}");
        assert!(!said.contains("torn"), "{said}");
        let _ = fs::remove_file(file);
    }
    assert!(shard(&dir, "1").status.success());
    assert_eq!(join(&folder.name("job")).0, 0);
}

#[test]
fn a_full_disk_is_said_and_leaves_nothing_that_counts() {
    let folder = Folder::new();
    let dir = folder.path("job");
    planned_in(&folder.name("job"), "1");
    // A limit of the size of files stands for a full disk; the table of the log is as short as before.
    let limited = |command: &str| {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("ulimit -f 4; {command}")])
            .current_dir(&dir)
            .output()
            .unwrap()
    };
    let task = limited("exec sh array.sbatch 1");
    let said = text(&task.stderr);
    assert!(!task.status.success(), "{said}");
    let last = said.lines().last().unwrap();
    assert!(
        last.starts_with("cyclewise: writing shards/1.json: ") && last.contains("ulimit -f"),
        "{said}"
    );
    let (status, said, _) = join(&folder.name("job"));
    assert!(
        status == 1 && !said.contains("torn") && !said.contains("ignored"),
        "{said}"
    );
    assert!(shard(&dir, "1").status.success());
    let joining = limited(concat!("exec ", env!("CARGO_BIN_EXE_cyclewise-fleet"), " join ."));
    assert!(!joining.status.success() && !dir.join("joined.json").exists());
    let (status, said, _) = join(&folder.name("job"));
    assert_eq!(status, 0, "{said}");
}

#[test]
fn a_machine_file_is_copied_so_that_an_edit_does_not_change_the_shards() {
    let folder = Folder::new();
    let toml = include_str!("../../../cyclewise-sim/machines/i7-6700k.toml");
    let file = folder.with("my machine $x.toml", toml);
    let dir = folder.name("job");
    let words = [
        "simulate",
        "fetch-add",
        "--machine",
        &file,
        "--threads",
        "1..4",
        "--ops",
        "50",
    ];
    let output = plan(&dir, &["--shards", "2"], &words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let whole = printed(&[&words[..], &["--json", "-"]].concat());
    fs::remove_file(&file).unwrap();
    let local = sh(Path::new(&dir), "local", &[]);
    assert_eq!(local.status.code(), Some(0), "{}", text(&local.stderr));
    assert_eq!(folder.read("job/joined.json"), whole);
    // An edited copy makes shards of another sweep, which are named.
    let copy = fs::read_dir(folder.path("job/machines"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let edited = fs::read_to_string(&copy).unwrap().replacen("ghz = 4", "ghz = 3", 1);
    assert_ne!(edited, toml);
    fs::write(&copy, edited).unwrap();
    fs::remove_file(folder.path("job/shards/1.json")).unwrap();
    assert!(shard(Path::new(&dir), "1").status.success());
    let (status, said, _) = join(&dir);
    assert!(
        status == 1 && said.contains("foreign: shards/1.json: it is of another sweep"),
        "{said}"
    );
}

#[test]
fn a_folder_of_shards_without_a_plan_is_joined_too() {
    let folder = Folder::new();
    let whole = printed(&sweep(&["-"]));
    fs::create_dir(folder.path("some")).unwrap();
    for i in 1..=3 {
        let name = folder.name(&format!("some/{i}"));
        printed(&sweep(&[&name, "--shard", &format!("{i}/3")]));
    }
    assert_eq!(printed(&["fleet", "join", &folder.name("some"), "--json", "-"]), whole);
    assert!(!folder.path("some/joined.json").exists());
    fs::remove_file(folder.path("some/2")).unwrap();
    let (status, said, _) = join(&folder.name("some"));
    assert!(status == 1 && said.contains("missing: shard 2 of 3"), "{said}");
    // `report` joins shards by cost as well.
    let by_cost = |i: u32| {
        let name = folder.name(&format!("cost-{i}"));
        printed(&sweep(&[&name, "--shard", &format!("{i}/2"), "--shard-by", "cost"]));
        name
    };
    let (one, two) = (by_cost(1), by_cost(2));
    assert_eq!(printed(&["report", &two, &one, "--json", "-"]), whole);
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
        (&[], vec!["doctor"], "not of \"doctor\""),
        (&[], vec!["nonsense"], "nonsense"),
        (&[], vec!["run", "--help"], "cannot be run"),
        (&[], vec!["run", "popf"], "--nodes N"),
        (&["--nodes", "2"], vec!["run", "pop"], "popf"),
        (
            &["--nodes", "2"],
            vec!["run", "popf", "--html", "x"],
            "leave --html out",
        ),
        (
            &["--nodes", "2", "--shards", "2"],
            vec!["run", "popf"],
            "--shards is for",
        ),
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
    let (status, said) = refused(&["simulate", "fetch-add", "--machine", "thunderx2", "--shard-by", "cost"]);
    assert!(status == 2 && said.contains("--shard"), "{said}");
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
fn more_shards_than_points_are_capped_and_said() {
    let folder = Folder::new();
    let dir = folder.name("job");
    let output = plan(&dir, &["--shards", "99"], &planned());
    assert!(text(&output.stderr).contains("12 points, so there are 12 shards and not 99"));
    assert!(folder.read("job/array.sbatch").contains("#SBATCH --array=1-12\n"));
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
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
