//! Whether words are used by one thread or by more, in a program that uses them in known ways.

use crate::common::{compiled, count, sites_at, symbols};
use cyclewise_locks::counts::{Process, Site, Words};
use std::collections::BTreeMap;

/// A program of these arguments as it was counted, and its symbols; `None` where it cannot be.
fn counted(source: &str, arguments: &[&str]) -> Option<(Vec<Process>, BTreeMap<String, u64>)> {
    let (emulator, _folder, program) = compiled(source, &[])?;
    let (_, counts) = count(&emulator, &program, arguments);
    Some((counts.processes, symbols(&program)))
}

/// A program's words by its labels.
fn words(process: &Process, symbols: &BTreeMap<String, u64>, label: &str) -> Words {
    let mut sum = Words::default();
    for site in sites_at(process, symbols[label]) {
        sum.private += site.words.private;
        sum.shared += site.words.shared;
        sum.unknown += site.words.unknown;
    }
    sum
}

fn private(private: u64) -> Words {
    Words {
        private,
        ..Words::default()
    }
}

fn shared(shared: u64) -> Words {
    Words {
        shared,
        ..Words::default()
    }
}

#[test]
fn words_of_one_thread_and_of_more() {
    let Some((processes, symbols)) = counted("words.c", &[]) else {
        return;
    };
    let process = &processes[0];
    let words = |label| words(process, &symbols, label);
    assert_eq!(words("own_up"), private(1000));
    // A second thread came to it later: that is for all of its life.
    assert_eq!(words("moved_before"), shared(50));
    assert_eq!(words("moved_after"), shared(20));
    // At one address: counts of one thread, of two threads, and of one thread again.
    for label in ["private_up", "private_down", "private_last"] {
        assert_eq!(words(label), private(40), "{label}");
    }
    assert_eq!(words("shared_up"), shared(20));
    assert_eq!(words("shared_down"), shared(40));
    // A lock that goes back to zero lives on.
    assert_eq!(words("lock_take"), shared(50));
    assert_eq!(words("lock_back"), shared(50));
    // Another thread came to it once, at the end.
    assert_eq!((words("worked_up"), words("worked_read")), (private(400), private(1)));
    let before = |label| sites_at(process, symbols[label]).map(|s| s.before_threads).sum::<u64>();
    assert_eq!(before("own_up"), 1000);
    assert_eq!(before("lock_take"), 30);
    assert_eq!(before("private_up"), 1, "one before the first thread was asked for");
    assert_eq!(before("moved_after"), 0);
}

#[test]
fn the_hottest_line_has_its_words_and_who_used_them() {
    let Some((processes, symbols)) = counted("words.c", &[]) else {
        return;
    };
    let process = &processes[0];
    let line = &process.lines[0];
    let found: Vec<_> = line.words.iter().map(|w| (w.offset, w.executed, w.threads)).collect();
    assert_eq!(found, [(0, 20_000, 1), (8, 20_000, 1)]);
    for (word, label) in line.words.iter().zip(["line_left", "line_right"]) {
        assert!(
            sites_at(process, symbols[label]).any(|site| site.address == word.site),
            "{label}"
        );
        // No thread but its own comes to a word.
        assert_eq!(word.soon_same, 0, "{line:?}");
    }
    assert!(
        process.lines.len() <= 10
            && process
                .lines
                .is_sorted_by_key(|line| std::cmp::Reverse(line.executed()))
    );
}

#[test]
fn forks_begin_with_no_words() {
    let Some((processes, _)) = counted("processes.c", &["fork"]) else {
        return;
    };
    for process in processes {
        assert_eq!(process.sites.iter().map(|s| s.words.shared).sum::<u64>(), 0);
        for site in &process.sites {
            assert_eq!(site.before_threads, site.total(), "there was one thread only");
        }
    }
}

#[test]
fn more_words_than_there_is_room_for_are_unknown() {
    let Some((processes, symbols)) = counted("million_words.c", &["700000"]) else {
        return;
    };
    let site: Vec<&Site> = sites_at(&processes[0], symbols["site_word"]).collect();
    let Words {
        private,
        shared,
        unknown,
    } = site[0].words;
    assert_eq!((private + unknown, shared), (700_000, 0));
    assert!(
        (300_000..524_288).contains(&private),
        "half a million have room: {private}"
    );
}
