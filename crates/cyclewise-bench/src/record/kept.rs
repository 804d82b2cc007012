//! The records of the tree are written back as they were read.

use super::{from_str, read};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The bytes up to which a record is tried without CYCLEWISE_LONG: those above take most of the time.
const SHORT: usize = 2 << 20;

fn records_in(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            records_in(&path, found);
            continue;
        }
        let text = super::read_text(&path).unwrap_or_default();
        if super::schema_of(&text).as_deref() == Some(super::SCHEMA) {
            found.push((path, text));
        }
    }
}

/// Where `written` lacks something that was `read`, or has something else in its place.
fn lost(read: &Value, written: &Value, at: &str) -> Option<String> {
    match (read, written) {
        (Value::Object(read), Value::Object(written)) => read.iter().find_map(|(name, value)| {
            let at = format!("{at}/{name}");
            match written.get(name) {
                Some(kept) => lost(value, kept, &at),
                // What is left out where it is absent or empty.
                None => (!matches!(value, Value::Null)).then_some(at),
            }
        }),
        (Value::Array(read), Value::Array(written)) if read.len() == written.len() => {
            let mut pairs = read.iter().zip(written).enumerate();
            pairs.find_map(|(i, (read, written))| lost(read, written, &format!("{at}/{i}")))
        }
        // A whole number is written with a decimal point.
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        // The verdict's word in older records.
        (Value::String(a), Value::String(b)) if [a, b] == ["indistinguishable", "undecided"] => None,
        _ => (read != written).then(|| format!("{at}: {read} became {written}")),
    }
}

#[test]
fn every_record_of_the_tree_is_written_back_as_it_was_read() {
    let mut records = Vec::new();
    records_in(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../records")),
        &mut records,
    );
    let noisy = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/runner/data/zen3-noisy.json.gz"
    ));
    records.push((noisy.clone(), read(&noisy).unwrap()));
    assert!(records.len() > 10, "{records:?}");
    let is_long = std::env::var_os("CYCLEWISE_LONG").is_some();
    for (path, text) in records.into_iter().filter(|(_, text)| is_long || text.len() < SHORT) {
        let name = path.display().to_string();
        let record = from_str(&name, &text).unwrap();
        let written = serde_json::to_string(&record).unwrap();
        let [before, after] = [&text, &written].map(|text| serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(lost(&before, &after, ""), None, "{name}");
        assert_eq!(
            serde_json::to_string(&from_str(&name, &written).unwrap()).unwrap(),
            written,
            "{name}"
        );
    }
}

#[test]
fn what_is_lost_is_found() {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let read = value(r#"{"a": [{"b": 1, "c": null}], "d": "x"}"#);
    assert_eq!(
        lost(&read, &value(r#"{"a": [{"b": 1.0, "e": 5}], "d": "x"}"#), ""),
        None
    );
    assert_eq!(lost(&read, &value(r#"{"a": [{}], "d": "x"}"#), "").unwrap(), "/a/0/b");
    let other = lost(&read, &value(r#"{"a": [{"b": 1}], "d": "y"}"#), "");
    assert_eq!(other.unwrap(), r#"/d: "x" became "y""#);
}
