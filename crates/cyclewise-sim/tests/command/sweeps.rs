//! Sweeps: whole, in shards, and the same on any number of cores.

use super::*;
use cyclewise_sim::record as simulation;

#[test]
fn a_sweep_is_whole_and_the_same_on_any_number_of_cores() {
    let json = printed(&sweep(&["-"]));
    let whole = simulation::from_str("stdout", &json).unwrap();
    assert_eq!(whole.points.len(), 4 + 2 * 4, "fetch-add has no limits");
    assert!(
        whole
            .points
            .iter()
            .all(|p| p.outcome.as_ref().is_some_and(|o| o.ops >= 200 && o.ns_per_op > 0.0))
    );
    let one_core = command(&sweep(&["-"])).env("RAYON_NUM_THREADS", "1").output().unwrap();
    assert_eq!(text(&one_core.stdout), json);
}

#[test]
fn shards_join_to_the_whole_byte_for_byte() {
    let folder = Folder::new();
    let whole = printed(&sweep(&["-"]));
    let shards = shards(&folder, 3);
    let (json, csv, html) = (folder.name("all.json"), folder.name("all.csv"), folder.name("all.html"));
    let mut args = vec!["report", &shards[2], &shards[0], &shards[1]];
    args.extend(["--json", &json, "--csv", &csv, "--html", &html]);
    let table = printed(&args);
    assert_eq!(folder.read("all.json"), whole);
    assert!(table.contains("fetch-add") && table.contains("Mop/s"), "{table}");
    assert_eq!(folder.read("all.csv").lines().count(), 13);
    assert!(folder.read("all.html").contains("Total throughput"));
    // The joined document is read again and stays the same.
    assert_eq!(printed(&["report", &json, "--json", "-"]), whole);
}

#[test]
fn shards_that_are_no_whole_are_refused() {
    let folder = Folder::new();
    let shards = shards(&folder, 2);
    let page = folder.name("p.html");
    let other = folder.name("other.json");
    printed(&sweep(&[&other, "--shard", "2/2", "--seed", "2"]));
    let record = folder.name("record.json");
    std::fs::write(&record, r#"{"schema":"cyclewise.record/1"}"#).unwrap();
    let cut = folder.name("cut.json");
    let first = folder.read("1.json");
    std::fs::write(&cut, first.replacen("\"ops\":", "\"pos\":", 1)).unwrap();
    for (files, says) in [
        (&[&shards[0]][..], "shard 2 of 2 is missing"),
        (&[&shards[0], &shards[0]], "both shard 1 of 2"),
        (&[&shards[0], &other], "different sweeps"),
        (&[&shards[0], &record], "cyclewise.record/1"),
        (&[&cut, &shards[1]], "was modified after"),
    ] {
        let mut args = vec!["report", "--html", &page];
        args.extend(files.iter().map(|f| f.as_str()));
        let (status, said) = refused(&args);
        assert_eq!(status, 2, "{said}");
        assert!(said.contains(says), "{said}");
        assert!(said.lines().count() == 1, "one line: {said}");
    }
}

#[test]
fn another_seed_is_another_document() {
    assert_ne!(printed(&sweep(&["-"])), printed(&sweep(&["-", "--seed", "2"])));
}

#[test]
fn without_threads_they_double_to_all_cpus() {
    let json = printed(&[
        "simulate",
        "fetch-add",
        "--machine",
        "thunderx2",
        "--ops",
        "50",
        "--json",
        "-",
    ]);
    let whole = simulation::from_str("stdout", &json).unwrap();
    assert_eq!(whole.sweep.threads, [1, 2, 4, 8, 16, 32, 64, 128, 224]);
}
