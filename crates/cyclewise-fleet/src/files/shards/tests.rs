//! What a survey says of each kind of file, in any order, and the merge of what it found.

use super::*;
use crate::files::tests::packed;
use crate::record::simulation::testing::{document, shard, sweep};
use cyclewise_sim::export::json;
use std::fs;
use tempfile::TempDir;

const COUNT: u32 = 3;

fn whole_sweep() -> Sweep {
    sweep(&[1, 28, 224])
}

fn text(index: u32) -> String {
    json::simulation(&document(&whole_sweep(), shard(index, COUNT))).unwrap()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("shards")).unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn joined(survey: &Survey) -> Result<String> {
    let mut out = json::simulation_head(&survey.tool, &survey.sweep, None)?.into_bytes();
    merge(survey, |point, line| {
        out.extend_from_slice(json::point_separator(point).as_bytes());
        out.extend_from_slice(line);
        Ok(())
    })
    .map_err(|e| Error::check(e.to_string()))?;
    out.extend_from_slice(json::SIMULATION_END.as_bytes());
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn shards_under_any_names_are_the_whole() {
    let (one, two, three) = (text(1), text(2), text(3));
    let whole = json::simulation(&document(&whole_sweep(), None)).unwrap();
    for files in [
        [
            ("shards/1.json", &*one),
            ("shards/2.json", &two),
            ("shards/3.json", &three),
        ],
        [("z", &one), ("shards/a b", &two), ("x.json", &three)],
    ] {
        let folder = folder(&files);
        let survey = survey(folder.path(), None).unwrap();
        assert_eq!(survey.missing().count(), 0);
        assert_eq!(survey.problems, []);
        assert_eq!(joined(&survey).unwrap(), whole);
    }
}

#[test]
fn packed_shards_are_the_whole_too() {
    let whole = json::simulation(&document(&whole_sweep(), None)).unwrap();
    let again = text(3);
    let folder = folder(&[("shards/2.json", &text(2)), ("shards/3-again.json", &again)]);
    for number in [1, 3] {
        let name = format!("shards/{number}.json.gz");
        fs::write(folder.path().join(name), packed(&text(number))).unwrap();
    }
    fs::write(folder.path().join("4.json.zst"), b"\x28\xb5\x2f\xfd...").unwrap();
    let survey = survey(folder.path(), None).unwrap();
    assert_eq!(survey.missing().count(), 0, "{:?}", survey.problems);
    let said: Vec<String> = survey
        .problems
        .iter()
        .map(|p| format!("{}: {}", p.name, p.why))
        .collect();
    assert!(said[0].starts_with("4.json.zst: is compressed by zstd"), "{said:?}");
    assert_says!(said[0], "unzstd");
    assert_says!(said[1], "has the same text as 3-again.json");
    assert_eq!(joined(&survey).unwrap(), whole);
    // Nothing is left beside them.
    assert_eq!(fs::read_dir(folder.path().join("shards")).unwrap().count(), 4);
    // The twin: one that is cut counts neither then nor at the merge.
    let cut = packed(&text(1));
    fs::write(folder.path().join("shards/1.json.gz"), &cut[..cut.len() - 9]).unwrap();
    assert_says!(joined(&survey).unwrap_err().message, "changed while");
    let cut = super::survey(folder.path(), None).unwrap();
    assert_eq!(cut.missing().collect::<Vec<_>>(), [1]);
}

#[test]
fn each_file_that_does_not_count_is_named_with_its_kind() {
    let one = text(1);
    let other = sweep(&[1, 2]);
    let foreign = json::simulation(&document(&other, shard(2, COUNT))).unwrap();
    let more = json::simulation(&document(&whole_sweep(), shard(2, 4))).unwrap();
    let whole = json::simulation(&document(&whole_sweep(), None)).unwrap();
    let version = one.replacen("\"version\":\"", "\"version\":\"9", 1);
    let three = text(3);
    let folder = folder(&[
        ("shards/1.json", &one),
        ("shards/1-again.json", &one),
        ("shards/2.json", &text(2)[..900]),
        ("shards/3.json", &three),
        ("shards/3-other.json", &three.replace("point 1", "point  1")),
        ("shards/foreign.json", &foreign),
        ("shards/more.json", &more),
        ("shards/version.json", &version),
        ("shards/empty.json", ""),
        ("shards/note.txt", "look here \u{1b}[2J"),
        ("whole.json", &whole),
        ("shards/.cyclewise-7-0.tmp", "half"),
        ("array.sbatch", "#!/bin/sh"),
        ("joined.json", "old"),
    ]);
    let survey = survey(folder.path(), None).unwrap();
    let said: Vec<(&str, ProblemKind)> = survey.problems.iter().map(|p| (p.name.as_str(), p.kind)).collect();
    use ProblemKind::{Duplicate, Foreign, Mangled, Torn, Version};
    let mut expected = vec![
        ("shards/empty.json", Torn),
        ("shards/note.txt", Foreign),
        ("whole.json", Foreign),
        ("shards/1.json", Duplicate),
        ("shards/2.json", Torn),
        ("shards/3.json", Mangled),
        ("shards/foreign.json", Foreign),
        ("shards/more.json", Foreign),
        ("shards/version.json", Version),
    ];
    expected.sort_unstable();
    let mut said = said;
    said.sort_unstable();
    assert_eq!(said, expected, "{:#?}", survey.problems);
    assert_eq!(survey.left_over, ["shards/.cyclewise-7-0.tmp"]);
    // Two results of shard 3 contradict each other, so neither counts.
    assert_eq!(survey.missing().collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn the_sweep_is_the_one_that_most_files_are_of() {
    let other = |index| json::simulation(&document(&sweep(&[1, 2]), shard(index, COUNT))).unwrap();
    let folder = folder(&[("a", &other(1)), ("b", &text(1)), ("c", &text(2))]);
    let found = survey(folder.path(), None).unwrap();
    assert_eq!(found.sweep, whole_sweep());
    assert_eq!(found.missing().collect::<Vec<_>>(), [3]);
    let error = survey(tempfile::tempdir().unwrap().path(), None).err().unwrap();
    assert_says!(error.message, "no shard of a sweep");
}

#[test]
fn a_file_that_changes_before_the_merge_is_noticed() {
    let folder = folder(&[("1", &text(1)), ("2", &text(2)), ("3", &text(3))]);
    let path = folder.path().join("2");
    let survey = survey(folder.path(), None).unwrap();
    assert!(joined(&survey).is_ok());
    fs::write(&path, &text(2)[..700]).unwrap();
    let error = joined(&survey).unwrap_err().message;
    assert_says!(error, "changed while");
    fs::remove_file(&path).unwrap();
    assert!(joined(&survey).is_err());
}

#[test]
fn what_reading_could_wait_for_is_left_alone() {
    let folder = folder(&[("1", &text(1))]);
    let fifo = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: mkfifo does not make one here");
        return;
    }
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero")).unwrap();
    std::os::unix::fs::symlink("nothing", folder.path().join("dangling")).unwrap();
    fs::create_dir(folder.path().join("shards/2.json")).unwrap();
    let survey = survey(folder.path(), None).unwrap();
    let said: Vec<(&str, ProblemKind)> = survey.problems.iter().map(|p| (p.name.as_str(), p.kind)).collect();
    let foreign = |name| (name, ProblemKind::Foreign);
    assert_eq!(said, ["dangling", "fifo", "shards/2.json", "zero"].map(foreign));
    assert_eq!(survey.found.len(), 1);
}

#[test]
fn a_claim_of_too_many_shards_is_refused_before_it_takes_memory() {
    let many = text(1).replacen("\"count\":3", "\"count\":4294967295", 1);
    assert_ne!(many, text(1));
    let folder = folder(&[("1", &text(1)), ("a", &many), ("b", &many)]);
    let survey = survey(folder.path(), None).unwrap();
    assert_eq!(survey.count, COUNT);
    assert_eq!(
        (survey.problems.len(), survey.problems[0].kind),
        (2, ProblemKind::Mangled)
    );
    fs::remove_file(folder.path().join("1")).unwrap();
    assert!(super::survey(folder.path(), None).is_err());
}
