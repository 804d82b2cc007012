//! `fleet plan` and `fleet join`: a planned sweep is run without Slurm and joined.

mod damaged;
mod refusals;

use super::*;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn planned_in(dir: &str, shards: &str) {
    let output = plan(dir, &["--shards", shards], &words(SWEEP));
    assert_done(&output);
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
    let sweep = words("simulate --machine thunderx2 --threads 1..4 --ops 50 -- fetch-add");
    let output = plan(&folder.name("job"), &["--shards", "2"], &sweep);
    assert_done(&output);
    let local = sh(&folder.path("job"), "local", &[]);
    assert_done(&local);
}

#[test]
fn a_folder_behind_a_link_is_the_one_that_is_said() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("real/below")).unwrap();
    std::os::unix::fs::symlink(folder.path("real/below"), folder.path("link")).unwrap();
    let output = plan(&folder.name("link/../job"), &["--shards", "2"], &words(SWEEP));
    let real = fs::canonicalize(folder.path("real/job")).unwrap();
    let line = format!("sh {}/local\n", real.display());
    assert!(text(&output.stdout).contains(&line), "{}", text(&output.stdout));
    let local = sh(&folder.path("link/../job"), "local", &[]);
    assert_done(&local);
    assert!(real.join("joined.json").exists());
}

#[test]
fn a_plan_without_a_folder_goes_into_one_of_the_current() {
    let folder = Folder::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyclewise-fleet"));
    let output = command
        .arg("plan")
        .args(words(SWEEP))
        .current_dir(folder.path("."))
        .output()
        .unwrap();
    assert_done(&output);
    assert!(folder.path("cyclewise-fleet/plan.json").exists());
    let said = text(&output.stdout);
    assert_says!(said, "/cyclewise-fleet/submit\n");
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
fn a_machine_file_is_copied_so_that_an_edit_does_not_change_the_shards() {
    let folder = Folder::new();
    let toml = include_str!("../../../../cyclewise-sim/machines/i7-6700hq.toml");
    let file = folder.with("my machine $x.toml", toml);
    let dir = folder.name("job");
    let sweep = with("simulate fetch-add --threads 1..4 --ops 50 --machine", &[&file]);
    let output = plan(&dir, &["--shards", "2"], &sweep);
    assert_done(&output);
    let whole = printed(&[&sweep[..], &["--json", "-"]].concat());
    fs::remove_file(&file).unwrap();
    let local = sh(Path::new(&dir), "local", &[]);
    assert_done(&local);
    assert_eq!(folder.read("job/joined.json"), whole);
    // An edited copy makes shards of another sweep, which are named.
    let copy = fs::read_dir(folder.path("job/machines"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let edited = fs::read_to_string(&copy).unwrap().replacen("ghz = 2.6", "ghz = 3", 1);
    assert_ne!(edited, toml);
    fs::write(&copy, edited).unwrap();
    fs::remove_file(folder.path("job/shards/1.json")).unwrap();
    assert!(shard(Path::new(&dir), "1").status.success());
    let (status, said, _) = join(&dir);
    assert_eq!(status, 1, "{said}");
    assert_says!(said, "foreign: shards/1.json: it is of another sweep");
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
}

#[test]
fn more_shards_than_points_are_capped_and_said() {
    let folder = Folder::new();
    let dir = folder.name("job");
    let output = plan(&dir, &["--shards", "99"], &words(SWEEP));
    assert_says!(text(&output.stderr), "12 points, so there are 12 shards and not 99");
    assert_says!(folder.read("job/array.sbatch"), "#SBATCH --array=1-12\n");
}
