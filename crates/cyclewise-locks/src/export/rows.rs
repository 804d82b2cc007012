//! Rows of two tables that the terminal and the page have: trees of callers, and hot lines of memory.

use super::words::{place, share};
use crate::counts::LineWord;
use crate::profile::LineProfile;
use crate::record::{self, CallTree, Locks, call_trees, executed};
use cyclewise_report::number::NONE;

/// A line of a tree of callers, and the share of its function's or caller's executions.
pub(super) struct CallRow {
    pub(super) function: String,
    pub(super) share: String,
}

/// Functions whose callers are shown.
const TREES: usize = 5;
/// Callers of one function that are shown.
const CALLERS: usize = 4;
/// Levels of callers: the line that pays, and two above it.
const LEVELS: usize = 3;

/// Who calls the functions of locks, allocators and reference counts that are executed most.
pub(super) fn call_rows(locks: &Locks) -> Vec<CallRow> {
    let all = executed(&locks.profile);
    let mut rows = Vec::new();
    // What makes less than a hundredth is nobody's question.
    let trees = call_trees(&locks.profile, LEVELS).into_iter();
    for tree in trees
        .filter(|tree| tree.executed.saturating_mul(100) >= all)
        .take(TREES)
    {
        add_calls(&tree, all, 0, &mut rows);
    }
    rows
}

fn add_calls(tree: &CallTree, of: u64, level: usize, rows: &mut Vec<CallRow>) {
    rows.push(CallRow {
        function: format!("{}{}", "\u{a0}\u{a0}".repeat(level), place(&tree.place)),
        share: share(tree.executed, of),
    });
    let shown = tree
        .callers
        .iter()
        .filter(|caller| caller.executed.saturating_mul(20) >= tree.executed);
    for caller in shown.take(CALLERS) {
        add_calls(caller, tree.executed, level + 1, rows);
    }
}

/// A word of a hot line of memory, as tables show it.
pub(super) struct WordRow {
    pub(super) line: String,
    pub(super) offset: String,
    /// Of all executions.
    pub(super) share: String,
    pub(super) threads: String,
    /// Of its executions, those soon after another thread used the same word.
    pub(super) soon_same: String,
    /// And those soon after another thread used another word of the line.
    pub(super) soon_beside: String,
    /// Where it was used last.
    pub(super) code: String,
}

/// The words of the hottest lines of memory.
pub(super) fn word_rows(locks: &Locks) -> Vec<WordRow> {
    let all = executed(&locks.profile);
    let code = |site: &Option<(String, u64)>| {
        let (module, address) = site.as_ref()?;
        let mut sites = locks.profile.sites.iter();
        let site = sites.find(|s| s.address == *address && s.module == *module)?;
        Some(place(&record::place(site)))
    };
    let of_line = |of: &LineProfile| -> Vec<WordRow> {
        let words = of
            .line
            .words
            .iter()
            .zip(of.sites.iter().chain(std::iter::repeat(&None)));
        let row = |(word, site): (&LineWord, &Option<(String, u64)>)| WordRow {
            line: format!("{:#x}", of.line.address),
            offset: word.offset.to_string(),
            share: share(word.executed, all),
            threads: word.threads.to_string(),
            soon_same: share(word.soon_same, word.executed),
            soon_beside: share(word.soon_beside, word.executed),
            code: code(site).unwrap_or_else(|| NONE.to_owned()),
        };
        words.map(row).collect()
    };
    locks.profile.lines.iter().flat_map(of_line).collect()
}

/// What is said of a line whose words threads use in turns.
pub(super) fn false_sharing(of: &LineProfile) -> String {
    let offsets: Vec<String> = of.line.words.iter().map(|word| word.offset.to_string()).collect();
    format!(
        "false sharing: threads use different words of the line {:#x} (offsets {}) soon after each other; words {} bytes apart would not \
         move with each other",
        of.line.address,
        offsets.join(", "),
        LINE
    )
}

/// Bytes of a cache line.
const LINE: u32 = 64;
