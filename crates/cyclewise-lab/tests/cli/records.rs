//! Comparisons and reports of records, and files that are not records.

use super::*;
use cyclewise_lab::record::Verdict;

#[test]
fn a_record_that_is_not_one_is_wrong_use() {
    let folder = Folder::new();
    let good = folder.with("good.json", RECORD);
    for (name, text, says) in [
        ("truncated.json", &RECORD[..RECORD.len() / 2], "truncated"),
        ("foreign.json", r#"{"hello": 1}"#, "not a cyclewise record"),
        ("newer.json", r#"{"schema": "cyclewise.record/9"}"#, "newer cyclewise"),
        ("text.json", "hello", "not a JSON object"),
    ] {
        let bad = folder.with(name, text);
        let page = folder.name("x.html");
        for args in [&["compare", &good, &bad][..], &["report", &bad, "--html", &page]] {
            let (status, line) = refused(args);
            assert_eq!(status, 2, "{line}");
            assert!(line.contains(name) && line.contains(says), "{line}");
        }
    }
    let (status, line) = refused(&["compare", &good, &folder.name("absent.json")]);
    assert!(status == 2 && line.contains("absent.json"), "{line}");
}

#[test]
fn a_record_compared_with_itself_is_indistinguishable() {
    let folder = Folder::new();
    let record = folder.with("r.json", RECORD);
    let page = folder.name("c.html");
    let output = cyclewise(&["compare", &record, &record, "--json", "-", "--html", &page]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: record::compare::CompareReport = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(
        report.experiments[0]
            .rows
            .iter()
            .all(|r| r.verdict == Verdict::Undecided)
    );
    assert!(std::fs::read_to_string(page).unwrap().contains("<svg"));
    let table = stdout(&cyclewise(&["compare", &record, &record]));
    assert!(
        table.contains("indistinguishable") && !table.contains("slower"),
        "{table}"
    );
}

#[test]
fn report_makes_one_page_of_many_records() {
    let folder = Folder::new();
    let record = folder.with("r.json", RECORD);
    let page = folder.name("p.html");
    assert_eq!(
        cyclewise(&["report", &record, &record, "--html", &page]).status.code(),
        Some(0)
    );
    assert!(std::fs::read_to_string(page).unwrap().matches("<svg").count() >= 2);
}
