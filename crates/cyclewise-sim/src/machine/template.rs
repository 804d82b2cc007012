//! A machine file with the meaning of each key above it, so that it can be edited without its documentation at hand.

use std::collections::BTreeSet;
use std::fmt::Write;

/// The documentation of the format, whose tables have the meanings.
const FORMAT: &str = include_str!("../../machines/README.md");

/// The length of a comment's line.
const WIDTH: usize = 100;

/// The meaning of a key.
struct Meaning {
    /// The dotted key.
    key: String,
    /// Its unit or values, and what it is.
    words: String,
}

/// The text of a machine file with comments: its own, the meaning of each key where it comes first, and at the end the keys that it leaves out. It is
/// the same machine.
pub fn template(text: &str) -> String {
    let meanings = meanings();
    let mut out = String::from(
        "# A machine file: `cyclewise simulate WORKLOAD --machine FILE` reads it. Comments give the unit or the values of a key, its\n\
         # meaning, and the source of its figure.\n",
    );
    let (mut section, mut own, mut seen) = (String::new(), String::new(), BTreeSet::new());
    for line in text.lines() {
        if line.starts_with('#') {
            // Of the key or section that follows.
            let _ = writeln!(own, "{line}");
            continue;
        }
        if line.starts_with('[') {
            line.trim_matches(['[', ']']).clone_into(&mut section);
        } else if let Some(key) = key(line) {
            let key = dotted(&section, key);
            let meaning = meanings.iter().find(|meaning| meaning.key == key);
            if let Some(Meaning { words, .. }) = meaning.filter(|_| seen.insert(key)) {
                comment(&mut out, words);
            }
        }
        let _ = writeln!(out, "{own}{line}");
        own.clear();
    }
    out.push_str(&own);
    out.push_str("\n# Keys that are not given above:\n");
    for Meaning { key, words } in &meanings {
        let is_of_a_row = key.starts_with("held_out.") || key.starts_with("published.");
        if !is_of_a_row && !seen.contains(key) {
            comment(&mut out, &format!("{key}: {words}"));
        }
    }
    out
}

/// The key that a line gives a value.
fn key(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(" = ")?;
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_key.then_some(key)
}

fn dotted(section: &str, key: &str) -> String {
    match section {
        "" => key.to_owned(),
        _ => format!("{section}.{key}"),
    }
}

/// The rows of the documentation's tables.
fn meanings() -> Vec<Meaning> {
    let (mut rows, mut all) = ("", Vec::new());
    for line in FORMAT.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            // Keys of a list of tables are documented without its name.
            let list = title.strip_prefix("`[[").and_then(|title| title.strip_suffix("]]`"));
            rows = list.unwrap_or_default();
        }
        let cells: Vec<&str> = line.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
        let [names, values, meaning] = cells[..] else {
            continue;
        };
        for name in names.split(", ") {
            if let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
                all.push(Meaning {
                    key: dotted(rows, name),
                    words: format!("{}: {meaning}", values.replace('`', "")).replace('`', ""),
                });
            }
        }
    }
    all
}

/// Writes words as lines of comments.
fn comment(out: &mut String, words: &str) {
    let mut length = 1;
    out.push('#');
    for word in words.split_whitespace() {
        let more = 1 + word.chars().count();
        if length + more > WIDTH {
            out.push_str("\n#");
            length = 1;
        }
        out.push(' ');
        out.push_str(word);
        length += more;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use crate::machine::KEYS;

    #[test]
    fn a_template_is_the_same_machine_with_a_meaning_above_each_key() {
        for preset in Machine::presets() {
            let text = template(preset.text);
            assert_eq!(
                Machine::parse(&text, "t").unwrap(),
                preset.machine().unwrap(),
                "{}",
                preset.name
            );
            // Every comment of the preset is kept: sources are not lost.
            for line in preset.text.lines() {
                assert!(text.lines().any(|kept| kept == line), "{}: {line}", preset.name);
            }
        }
    }

    #[test]
    fn every_key_has_a_meaning() {
        let meanings = meanings();
        let has = |key: &str| meanings.iter().any(|meaning| meaning.key == key);
        for key in KEYS {
            assert!(has(key), "{key}");
        }
        for preset in Machine::presets() {
            let mut section = String::new();
            for line in preset.text.lines() {
                if line.starts_with('[') {
                    line.trim_matches(['[', ']']).clone_into(&mut section);
                }
                if let Some(key) = key(line) {
                    assert!(has(&dotted(&section, key)), "{}: {section}: {line}", preset.name);
                }
            }
        }
    }

    #[test]
    fn a_repeated_key_is_explained_once_and_absent_ones_at_the_end() {
        let text = template("name = \"a\"\n[[published]]\nvalue = 1\n[[published]]\nvalue = 2\n");
        assert_eq!(text.matches("the figure\n").count(), 1, "{text}");
        let (_, absent) = text.split_once("Keys that are not given").unwrap();
        assert!(text.lines().all(|line| line.rfind('#').unwrap_or(0) == 0), "{text}");
        assert!(
            absent.contains("mechanism.store_buffer: ") && !absent.contains("# name: "),
            "{absent}"
        );
    }
}
