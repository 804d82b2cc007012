//! Shards that are missing, damaged, killed or of another sweep, and the lines that make them again.

use super::*;
use std::process::Stdio;

#[test]
fn what_is_missing_torn_or_foreign_is_named_and_the_printed_line_makes_it() {
    let folder = Folder::new();
    let dir = folder.name("job");
    let path = folder.path("job");
    planned_in(&dir, "5");
    let (status, said, error) = join(&dir);
    assert_eq!(status, 1);
    assert_says!(said, "0 of 5 shards", "sbatch --array=1-5 array.sbatch");
    assert_says!(error, "5 of 5 shards are missing");
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
    printed(&sweep(&[&other, "--shard", "3/5", "--seed", "2"]));
    let before = contents(&path);
    let (status, said, error) = join(&dir);
    assert_eq!(status, 1, "{said}");
    for line in [
        "2 of 5 shards are whole: a sweep of 12 points",
        "missing: shard 2 of 5",
        "missing: shard 4 of 5",
        "missing: shard 5 of 5",
        "torn: shards/2.json: it ends in line 2, before its points",
        "duplicate: shards/copy.json: it has the same text as 1.json, which counts",
        "foreign: shards/other.json: it is of another sweep than the plan",
        "ignored: shards/.cyclewise-7-0.tmp: a task that did not end left it, or is still running",
    ] {
        assert!(said.lines().any(|l| l == line), "{line}: {said}");
    }
    assert_says!(said, "another version: shards/5.json: cyclewise 9.");
    // Tasks of another version leave what they made, so the same line would make nothing.
    assert_says!(said, "plan again in a new folder");
    assert_lacks!(said, "sbatch");
    assert_says!(error, "3 of 5 shards are missing");
    assert_eq!(contents(&path), before, "nothing is deleted or written");

    // The printed lines make them, and only them.
    let line = said.lines().find(|l| l.contains("rm -- shards/5.json")).unwrap();
    assert!(Command::new("sh").arg("-c").arg(line).status().unwrap().success());
    let (_, said, _) = join(&dir);
    assert_says!(said, "sbatch --array=2,4-5 array.sbatch");
    let line = said.lines().find(|l| l.ends_with("&& sh local")).unwrap();
    let made = Command::new("sh").arg("-c").arg(line).output().unwrap();
    assert_done(&made);
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
    assert_says!(said, "1.json and shards/x.json are both shard 1", "remove");
    // The lines that are printed, one after the other, mend it.
    let lines: Vec<&str> = said
        .lines()
        .filter(|l| l.starts_with("    cd ") && !l.contains("sbatch"))
        .collect();
    assert!(lines[0].contains("rm -- shards/1.json shards/x.json"), "{said}");
    let mend = Command::new("sh").arg("-c").arg(lines.join("\n")).output().unwrap();
    assert_done(&mend);
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
    assert_says!(said, "shards/1.json: it is of another sweep than the plan");
    assert_says!(said, "Plan again in a new folder");
    assert_lacks!(said, "sbatch");
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
    assert_says!(text(&task.stderr), "is a FIFO");
    assert_eq!(task.status.code(), Some(2));
    let (_, said, _) = join(&folder.name("job"));
    assert_says!(said, "foreign: shards/2.json: is a folder, a FIFO");
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
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_says!(text(&again.stderr), "already");
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
        assert_lacks!(said, "torn");
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
    assert_eq!(status, 1, "{said}");
    assert_lacks!(said, "torn", "ignored");
    assert!(shard(&dir, "1").status.success());
    let joining = limited(concat!("exec ", env!("CARGO_BIN_EXE_cyclewise-fleet"), " join ."));
    assert!(!joining.status.success() && !dir.join("joined.json").exists());
    let (status, said, _) = join(&folder.name("job"));
    assert_eq!(status, 0, "{said}");
}
