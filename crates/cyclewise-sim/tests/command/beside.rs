//! Recommendations and the examination.

use super::*;

#[test]
fn recommend_says_what_to_take_and_what_it_cannot_tell() {
    let line = "recommend --machine i7-6700hq --threads 1,4";
    let table = printed(&words(line));
    for part in ["lockref", "lock", "faster than", "cannot tell from", "ns/op"] {
        assert!(table.contains(part), "{table}");
    }
    let json = printed(&with(line, &["--json", "-"]));
    assert_eq!(json, printed(&with(line, &["--json", "-"])), "the same again");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "cyclewise.recommendation/1");
    let choices = json["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 4, "two kinds on 1 and on 4 threads");
    for choice in choices {
        let [least, most] = [0, 1].map(|end| choice["range"]["ns"][end].as_f64().unwrap());
        assert!(0.0 < least && least <= most && choice["starving"].is_array());
        for other in choice["others"].as_array().unwrap() {
            let [least, most] = [0, 1].map(|end| other["ratio"][end].as_f64().unwrap());
            let is_faster = other["verdict"] == "faster";
            assert!(0.0 < least && least <= most && (!is_faster || least > 1.05), "{other}");
            // Without held-out ratios of the two programs nothing is told.
            assert!(!is_faster || other["off"].as_f64().is_some(), "{other}");
            let may_be_faster = other["verdict"] == "cannot-tell" && least < 1.0;
            assert!(!may_be_faster || choice["measure"].is_string(), "{choice}");
        }
    }
}

/// With CYCLEWISE_LONG alone: the tests of `exam` compare the same document.
#[test]
fn examine_ends_with_1_where_a_kind_is_further_off_than_asked_and_only_there() {
    if std::env::var_os("CYCLEWISE_LONG").is_none() {
        return println!("skipped: CYCLEWISE_LONG is not set");
    }
    let folder = Folder::new();
    let markdown = folder.name("e.md");
    let output = cyclewise_sim(&["simulate", "examine", "--markdown", &markdown]);
    let (document, said) = (folder.read("e.md"), text(&output.stderr));
    let is_missed = document.contains("**missed**");
    assert_eq!(output.status.code(), Some(i32::from(is_missed)), "{said}");
    assert_eq!(is_missed, said.contains("errors above their limits"), "{said}");
    assert!(
        document == include_str!("../../EXAMINATION.md"),
        "EXAMINATION.md is out of date"
    );
}

#[test]
fn work_is_the_workloads_own_unless_it_is_given() {
    for (rest, cycles) in [(&[][..], 5000), (&["--parallel", "0"], 0)] {
        let line = "simulate open-read-close --machine i7-6700hq --threads 4 --ops 50 --json -";
        let json: serde_json::Value = serde_json::from_str(&printed(&with(line, rest))).unwrap();
        assert_eq!(json["points"][0]["job"]["parallel_cycles"], cycles);
    }
}
