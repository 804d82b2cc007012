//! What is whole is read, and what was cut or changed at any place is not.

use super::super::testing::{document, shard, sweep};
use super::*;
use crate::export::json;
use crate::record::NOT_SIMULATED;

fn text() -> String {
    let mut document = document(&sweep(&[1, 28, 224]), shard(2, 3));
    // As of a program that was built without git: a key without a value, which can be changed too.
    document.tool.commit = None;
    json::simulation(&document).unwrap()
}

fn check(text: &[u8]) -> Result<Head, Fault> {
    let mut reader = PointReader::new(text)?;
    reader.check()?;
    Ok(reader.head().clone())
}

#[test]
fn a_whole_shard_is_read_and_an_empty_one_too() {
    let head = check(text().as_bytes()).unwrap();
    assert_eq!((head.shard, head.sweep), (shard(2, 3), sweep(&[1, 28, 224])));
    let empty = json::simulation(&document(&sweep(&[1]), shard(9, 9))).unwrap();
    assert_eq!(check(empty.as_bytes()).unwrap().shard, shard(9, 9));
    let whole = json::simulation(&document(&sweep(&[1, 2]), None)).unwrap();
    assert_eq!(check(whole.as_bytes()).unwrap().shard, None);
}

#[test]
fn a_shard_that_was_cut_anywhere_is_not_whole() {
    let text = text();
    for end in 0..text.len() {
        let Fault(kind, why) = check(&text.as_bytes()[..end]).unwrap_err();
        let is_torn = kind == ProblemKind::Torn || text[..end].ends_with('\n') || end == 0;
        assert!(is_torn, "cut at {end}: {kind:?}: {why}");
    }
}

#[test]
fn a_shard_that_was_changed_is_not_whole() {
    let text = text();
    let mut refused = 0;
    for (at, byte) in text.bytes().enumerate() {
        // Another digit or letter, so that it is JSON still.
        let other = match byte {
            b'0'..=b'8' | b'a'..=b'y' => byte + 1,
            b'9' => b'0',
            _ => b'#',
        };
        let mut changed = text.clone().into_bytes();
        changed[at] = other;
        // What a machine file says and what a reason says may be anything; the reader of a fleet compares the heads.
        match check(&changed) {
            Err(_) => refused += 1,
            Ok(head) => {
                let in_reason = text[..at]
                    .rfind("\"refused\":")
                    .is_some_and(|begin| !text[begin..at].contains('\n'));
                assert!(in_reason || head != check(text.as_bytes()).unwrap(), "changed at {at}");
            }
        }
    }
    assert!(refused > text.len() / 3, "{refused} of {}", text.len());
}

#[test]
fn what_follows_or_is_missing_or_repeated_is_said() {
    let text = text();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let without = |gone: usize| [&lines[..gone], &lines[gone + 1..]].concat().concat();
    let twice = |line: usize| [&lines[..=line], &lines[line..]].concat().concat();
    let many = |n: u32| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    let huge = text
        .replace("\"threads\":[1,28,224]", &format!("\"threads\":[{}]", many(60_000)))
        .replace(
            "\"retry_limits\":[5,null]",
            &format!("\"retry_limits\":[{}]", many(200)),
        );
    for (changed, says) in [
        (huge, "more than the maximum"),
        (text.clone() + "x", "follows its end"),
        (text.clone() + &text, "follows its end"),
        (without(4), "is not point"),
        (without(lines.len() - 2), "is missing"),
        (without(lines.len() - 1), "its end is missing"),
        (twice(4), "is not point"),
        (without(1), "head"),
        (text.replace("simulation/1", "simulation/2"), "newer"),
        (
            text.replace("cyclewise.simulation", "cyclewise.record"),
            "not a simulation",
        ),
        (
            text.replace("\"index\":2,\"count\":3", "\"index\":4,\"count\":3"),
            "no shard 4 of 3",
        ),
        ("\n\n\n\n".to_owned(), "not a simulation"),
        (String::new(), "ends in line 1"),
    ] {
        let Fault(_, why) = check(changed.as_bytes()).unwrap_err();
        assert!(why.contains(says), "{says}: {why}");
    }
}

#[test]
fn a_document_with_points_that_a_signal_left_out_is_read_and_is_not_whole() {
    let mut cut = document(&sweep(&[1, 2]), None);
    let last = cut.points.last_mut().unwrap();
    (last.outcome, last.refused) = (None, Some(format!("{NOT_SIMULATED}SIGTERM")));
    let text = json::simulation(&cut).unwrap();
    let fault = check(text.as_bytes()).err().unwrap();
    assert!(
        matches!(fault.0, ProblemKind::Torn) && fault.1.ends_with("was not simulated before SIGTERM"),
        "{}",
        fault.1
    );
    assert_eq!(super::super::from_str("cut.json", &text).unwrap(), cut);
    // The twin: what cannot be simulated is a result.
    cut.points.last_mut().unwrap().refused = Some("no progress".to_owned());
    assert!(check(json::simulation(&cut).unwrap().as_bytes()).is_ok());
}
