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
fn a_record_comes_from_standard_input() {
    let folder = Folder::new();
    let good = folder.with("good.json", RECORD);
    for args in [&["report", "-"][..], &["compare", &good, "-"]] {
        let with = |file: &str| {
            let input = std::fs::File::open(file).unwrap();
            command(args).stdin(input).output().unwrap()
        };
        let output = with(&good);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(!output.stdout.is_empty());
        let none = with("/dev/null");
        assert_eq!(none.status.code(), Some(2), "{}", stderr(&none));
        assert_says!(stderr(&none), "- ends too early");
    }
}

#[test]
fn limits_take_records_of_any_age_and_refuse_what_is_none() {
    let folder = Folder::new();
    let good = folder.with("good.json", RECORD);
    let page = folder.with(
        "page.md",
        "# A\n<!-- cyclewise limits: begin -->\nold\n<!-- cyclewise limits: end -->\nrest\n",
    );
    for args in [
        &["limits"][..],
        &["limits", &good],
        &["limits", "--markdown", &good],
        &["limits", "--into", &page, &good],
    ] {
        let output = cyclewise(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    }
    let written = std::fs::read_to_string(&page).unwrap();
    assert!(written.starts_with("# A\n") && written.ends_with("rest\n"), "{written}");
    assert_lacks!(written, "\nold\n");
    assert_says!(written, "| PerCpu: add, 64 words |");
    let plain = folder.with("plain.md", "# A\n");
    // A record of a command: it has no row of a primitive, which is said wherever it is no error.
    let without = include_str!("../../../../records/2026-11-21-epyc-genoa-kvm-interpreter.json");
    let without = folder.with("without.json", without);
    for args in [
        &["limits", &without][..],
        &["limits", "--markdown", &without, &good],
        &["limits", "--into", &page, &without, &good],
    ] {
        let output = cyclewise(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
        assert!(said.contains("has no variant of a primitive"), "{args:?}: {said}");
    }
    for (args, says) in [
        (&["limits", &plain][..], "not a JSON object"),
        (&["limits", &folder.name("absent.json")], "absent.json"),
        (
            &[
                "limits",
                &folder.with("newer.json", r#"{"schema": "cyclewise.record/9"}"#),
            ],
            "newer cyclewise",
        ),
        (&["limits", "--into", &plain, &good], "cyclewise limits: begin"),
        (&["limits", "--into", &good, &good], "input file"),
        (&["limits", "--into", &page], "no record here has a variant"),
        (&["limits", "--into", &page, &without], "no record here has a variant"),
        (&["limits", "--into", "/dev/null", &good], "no regular file"),
    ] {
        let (status, line) = refused(args);
        assert!(
            status == 2 && line.contains(says) && line.lines().count() == 1,
            "{status}: {line}"
        );
    }
    assert_eq!(std::fs::read_to_string(&plain).unwrap(), "# A\n", "untouched");
}

#[test]
fn a_record_compared_with_itself_is_undecided() {
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
    assert_says!(std::fs::read_to_string(page).unwrap(), "<svg");
    let table = stdout(&cyclewise(&["compare", &record, &record]));
    assert_says!(table, "undecided");
    assert_lacks!(table, "slower");
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

#[test]
fn control_characters_of_a_record_do_not_reach_the_terminal() {
    let folder = Folder::new();
    let name = record::from_str("r", RECORD).unwrap().machine.cpu_model;
    let evil = RECORD.replacen(&format!("\"{name}\""), r#""EV\u001b[31mIL\u009b2J""#, 1);
    assert_ne!(evil, RECORD);
    let (evil, good) = (folder.with("evil.json", &evil), folder.with("good.json", RECORD));
    for args in [&["report", &evil][..], &["compare", &good, &evil], &["limits", &evil]] {
        let output = command(args).env("CLICOLOR_FORCE", "1").output().unwrap();
        let said = stdout(&output) + &stderr(&output);
        assert!(
            said.contains("EV ") && !said.contains("EV\u{1b}") && !said.contains('\u{9b}'),
            "{said}"
        );
    }
}

/// The record with every figure of `percpu` multiplied.
fn slower(factor: f64) -> String {
    let mut record = record::from_str("r", RECORD).unwrap();
    let percpu = record.experiments.iter_mut().find(|e| e.name == "percpu").unwrap();
    for v in &mut percpu.variants {
        v.samples.iter_mut().for_each(|s| *s *= factor);
        v.median *= factor;
        v.mean *= factor;
    }
    serde_json::to_string(&record).unwrap()
}

#[test]
fn fail_on_ends_with_one_where_a_row_is_slower_by_more() {
    let folder = Folder::new();
    let base = folder.with("a.json", RECORD);
    let other = folder.with("b.json", &slower(3.0));
    let status = |rule: &str| {
        let output = cyclewise(&["compare", &base, &other, "--fail-on", rule]);
        (output.status.code(), stderr(&output))
    };
    let (code, said) = status("slower:5%");
    assert_eq!(code, Some(1), "{said}");
    assert_says!(said, "slower by more than 5 %", "percpu/lock-inc in B: 3.000 [");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(status("slower:90%,core-to-core").0, Some(0), "another experiment");
    let (code, said) = status("slower:1%,core-to-core");
    assert_eq!(code, Some(3), "{said}");
    assert_says!(said, "may be slower by more than 1 %, or not");
    assert_eq!(status("slower:900%").0, Some(0));
    let back = cyclewise(&["compare", &other, &base, "--fail-on", "slower:90%"]);
    assert_eq!(back.status.code(), Some(0), "faster: {}", stderr(&back));
    // The comparison is written all the same.
    let json = cyclewise(&["compare", &base, &other, "--fail-on", "slower:5%", "--json", "-"]);
    assert!(json.status.code() == Some(1) && stdout(&json).contains("cyclewise.comparison/1"));
}

#[test]
fn fail_on_refuses_rules_that_could_never_fail() {
    let folder = Folder::new();
    let base = folder.with("a.json", RECORD);
    for (rule, says) in [
        ("slower", "slower:5%"),
        ("slower:5", "slower:5%"),
        ("5%,popf", "slower:5%"),
        ("slower:5%,", "empty"),
        ("slower:5%,popf", "not have in common"),
    ] {
        let (status, line) = refused(&["compare", &base, &base, "--fail-on", rule]);
        assert!(status == 2 && line.contains(says), "{rule}: {line}");
    }
}
