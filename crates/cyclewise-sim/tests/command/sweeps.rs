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
fn the_shards_have_the_lines_of_the_whole() {
    let folder = Folder::new();
    let whole = printed(&sweep(&["-"]));
    let (json, html) = (folder.name("all.json"), folder.name("all.html"));
    let points = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with("{\"index\""));
        lines.map(|line| line.trim_end_matches(',').to_owned()).collect()
    };
    let mut lines = Vec::new();
    for i in 1..=3 {
        let shard = folder.name(&format!("{i}.json"));
        printed(&sweep(&[&shard, "--shard", &format!("{i}/3")]));
        assert!(printed(&["report", &shard]).contains("join them with `cyclewise fleet join`"));
        lines.extend(points(&std::fs::read_to_string(shard).unwrap()));
    }
    let mut of_whole = points(&whole);
    assert_eq!(of_whole.len(), 12);
    lines.sort();
    of_whole.sort();
    assert_eq!(lines, of_whole);
    std::fs::write(&json, &whole).unwrap();
    let table = printed(&["report", &json, "--html", &html]);
    assert!(table.contains("fetch-add") && table.contains("Mop/s"), "{table}");
    assert!(folder.read("all.html").contains("Total throughput"));
    assert_eq!(printed(&["report", &json, "--csv", "-"]).lines().count(), 13);
    assert_eq!(printed(&["report", &json, "--json", "-"]), whole);
}

#[test]
fn what_is_not_one_whole_document_is_refused() {
    let folder = Folder::new();
    let [whole, record, cut] = ["w.json", "record.json", "cut.json"].map(|name| folder.name(name));
    printed(&sweep(&[&whole]));
    std::fs::write(&record, r#"{"schema":"cyclewise.record/1"}"#).unwrap();
    std::fs::write(&cut, folder.read("w.json").replacen("\"jain\":", "\"jian\":", 1)).unwrap();
    for (files, says) in [
        (&[&whole, &whole][..], "cyclewise fleet join DIR"),
        (&[&record], "cyclewise.record/1"),
        (&[&cut], "was modified after"),
    ] {
        let mut args = vec!["report"];
        args.extend(files.iter().map(|f| f.as_str()));
        let (status, said) = refused(&args);
        assert!(status == 2 && said.contains(says), "{said}");
        assert!(said.lines().count() == 1, "one line: {said}");
    }
}

#[test]
fn another_seed_is_another_document() {
    assert_ne!(printed(&sweep(&["-"])), printed(&sweep(&["-", "--seed", "2"])));
}

#[test]
fn without_threads_they_double_to_all_cpus() {
    let json = printed(&words("simulate fetch-add --machine thunderx2 --ops 50 --json -"));
    let whole = simulation::from_str("stdout", &json).unwrap();
    assert_eq!(whole.sweep.threads, [1, 2, 4, 8, 16, 32, 64, 128, 224]);
}
