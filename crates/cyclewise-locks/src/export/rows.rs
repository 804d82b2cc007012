//! Tables that the terminal and the page have alike: who executed it, hot lines of memory, trees of callers.

use super::words::{executions, one_line, per_1000, place, share};
use crate::counts::LineWord;
use crate::emulator::layout::LINE;
use crate::profile::{LineProfile, SystemCallProfile};
use crate::record::{self, CallTree, Locks, call_trees, executed};
use cyclewise_report::number::{NONE, significant};

pub(super) struct ListColumn {
    pub(super) title: &'static str,
    /// The unit, which the page says below the title.
    pub(super) unit: &'static str,
    pub(super) kind: Kind,
    pub(super) cells: Vec<String>,
}

/// How a column is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name: words.
    Name,
    /// A number, which a narrow terminal leaves out before those of a lower rank; 0 is never left out.
    Number(u8),
    /// Words that are broken into lines: last on a terminal, first on a page.
    Text,
}

/// A table that the terminal and the page have.
pub(super) struct Listing {
    pub(super) title: &'static str,
    pub(super) columns: Vec<ListColumn>,
    /// How many rows there are beside those that are shown.
    pub(super) left_out: usize,
    pub(super) what: &'static str,
}

/// The first rows of all, and a column of them.
struct Rows<'a, T> {
    shown: Vec<&'a T>,
    left_out: usize,
}

impl<'a, T> Rows<'a, T> {
    fn new(all: Vec<&'a T>, most: usize) -> Self {
        Self {
            left_out: all.len().saturating_sub(most),
            shown: all.into_iter().take(most).collect(),
        }
    }

    fn column(&self, title: &'static str, unit: &'static str, kind: Kind, cell: impl Fn(&T) -> String) -> ListColumn {
        let cells = self.shown.iter().map(|row| cell(row)).collect();
        ListColumn {
            title,
            unit,
            kind,
            cells,
        }
    }

    fn listing(&self, title: &'static str, what: &'static str, columns: Vec<ListColumn>) -> Listing {
        Listing {
            title,
            columns,
            left_out: self.left_out,
            what,
        }
    }
}

/// Functions whose callers are shown.
const TREES: usize = 5;
/// Callers of one function that are shown.
const CALLERS: usize = 4;
/// Levels of callers: the line that pays, and two above it.
const LEVELS: usize = 3;

/// Who calls the functions of the C library, of locks, allocators and reference counts that are executed most.
pub(super) fn callers(locks: &Locks) -> Listing {
    let all = executed(&locks.profile);
    let mut lines = Vec::new();
    // Less than a hundredth is left out.
    let trees = call_trees(&locks.profile, LEVELS).into_iter();
    for tree in trees
        .filter(|tree| tree.executed.saturating_mul(100) >= all)
        .take(TREES)
    {
        add_calls(&tree, all, 0, &mut lines);
    }
    let rows = Rows::new(lines.iter().collect(), usize::MAX);
    let columns = vec![
        rows.column("share", "of the line above it", Kind::Number(0), |line| {
            line.share.clone()
        }),
        rows.column("function, and who calls it", "", Kind::Text, |line| {
            line.function.clone()
        }),
    ];
    rows.listing(
        "Callers of the C library, locks, allocators and reference counts",
        "callers",
        columns,
    )
}

/// A line of a tree of callers, and the share of its function's or caller's executions.
struct Call {
    function: String,
    share: String,
}

fn add_calls(tree: &CallTree, of: u64, level: usize, lines: &mut Vec<Call>) {
    lines.push(Call {
        function: format!("{}{}", "\u{a0}\u{a0}".repeat(level), place(&tree.place)),
        share: share(tree.executed, of),
    });
    let shown = tree
        .callers
        .iter()
        .filter(|caller| caller.executed.saturating_mul(20) >= tree.executed);
    for caller in shown.take(CALLERS) {
        add_calls(caller, tree.executed, level + 1, lines);
    }
}

/// The threads that executed most of them; at most so many.
pub(super) fn threads(locks: &Locks, most: usize) -> Listing {
    let mut all: Vec<_> = locks.profile.threads.iter().collect();
    all.sort_by_key(|t| std::cmp::Reverse(t.locked.saturating_add(t.fences)));
    let rows = Rows::new(all, most);
    let columns = vec![
        rows.column("thread", "", Kind::Name, |t| one_line(&t.name)),
        rows.column("number", "", Kind::Number(1), |t| t.tid.to_string()),
        rows.column("instructions", "", Kind::Number(0), |t| executions(t.instructions)),
        rows.column("locked", "times", Kind::Number(0), |t| executions(t.locked)),
        rows.column("of 1000", "instructions", Kind::Number(0), |t| {
            per_1000(t.locked, t.instructions)
        }),
        rows.column("fences", "", Kind::Number(2), |t| executions(t.fences)),
    ];
    rows.listing("Threads", "threads", columns)
}

/// The system calls before which most of them were executed.
pub(super) fn system_calls(locks: &Locks, most: usize) -> Listing {
    let rows = Rows::new(locks.profile.system_calls.iter().collect(), most);
    let each = |c: &SystemCallProfile| match c.calls {
        0 => NONE.to_owned(),
        calls => significant(c.locked_before as f64 / calls as f64, 3),
    };
    let columns = vec![
        rows.column("system call", "", Kind::Name, |c| one_line(&c.name)),
        rows.column("calls", "", Kind::Number(0), |c| executions(c.calls)),
        rows.column("locked before them", "times", Kind::Number(0), |c| {
            executions(c.locked_before)
        }),
        rows.column("before each", "times", Kind::Number(0), each),
    ];
    rows.listing(
        "Locked instructions since the thread's system call before",
        "kinds of calls",
        columns,
    )
}

/// The processes that executed most of them.
pub(super) fn processes(locks: &Locks, most: usize) -> Listing {
    let mut all: Vec<_> = locks.profile.processes.iter().collect();
    all.sort_by_key(|p| std::cmp::Reverse(p.locked.saturating_add(p.fences)));
    let rows = Rows::new(all, most);
    let columns = vec![
        rows.column("process", "", Kind::Number(0), |p| p.pid.to_string()),
        rows.column("threads", "", Kind::Number(2), |p| p.threads.to_string()),
        rows.column("instructions", "", Kind::Number(1), |p| executions(p.instructions)),
        rows.column("locked", "times", Kind::Number(0), |p| executions(p.locked)),
        rows.column("of 1000", "instructions", Kind::Number(0), |p| {
            per_1000(p.locked, p.instructions)
        }),
        rows.column("fences", "", Kind::Number(3), |p| executions(p.fences)),
        rows.column("program", "", Kind::Text, |p| one_line(&p.command)),
    ];
    rows.listing("Processes", "processes", columns)
}

/// A line, a word of it, and where the site is that used it last.
type UsedWord = (u64, LineWord, Option<(String, u64)>);

/// The words of the hottest lines of memory; none where one thread alone uses each, since those move nowhere.
pub(super) fn lines_of_memory(locks: &Locks) -> Listing {
    let lines = &locks.profile.lines;
    let all = executed(&locks.profile);
    let is_passed = lines.iter().any(|of| of.line.words.iter().any(|word| word.threads > 1));
    let words_of = |of: &LineProfile| -> Vec<UsedWord> {
        let sites = of.sites.iter().cloned().chain(std::iter::repeat(None));
        let words = of.line.words.iter().cloned().zip(sites);
        words.map(|(word, site)| (of.line.address, word, site)).collect()
    };
    let words: Vec<UsedWord> = lines.iter().filter(|_| is_passed).flat_map(words_of).collect();
    let code = |site: &Option<(String, u64)>| {
        let (module, address) = site.as_ref()?;
        let mut sites = locks.profile.sites.iter();
        let site = sites.find(|s| s.address == *address && s.module == *module)?;
        Some(place(&record::place(site)))
    };
    let rows = Rows::new(words.iter().collect(), usize::MAX);
    let columns = vec![
        rows.column("line of memory", "", Kind::Number(3), |(line, ..)| format!("{line:#x}")),
        rows.column("offset", "bytes", Kind::Number(0), |(_, w, _)| w.offset.to_string()),
        rows.column("share", "", Kind::Number(0), |(_, w, _)| share(w.executed, all)),
        rows.column("threads", "", Kind::Number(0), |(_, w, _)| w.threads.to_string()),
        rows.column("after another's use", "", Kind::Number(1), |(_, w, _)| {
            share(w.soon_same, w.executed)
        }),
        rows.column("of a word beside", "", Kind::Number(2), |(_, w, _)| {
            share(w.soon_beside, w.executed)
        }),
        rows.column("line of code", "", Kind::Text, |(.., site)| {
            code(site).unwrap_or_else(|| NONE.to_owned())
        }),
    ];
    rows.listing("Hottest lines of memory", "words", columns)
}

/// What is said of a line whose words threads use in turns.
pub(super) fn false_sharing(of: &LineProfile) -> String {
    let offsets: Vec<String> = of.line.words.iter().map(|word| word.offset.to_string()).collect();
    format!(
        "false sharing: threads use different words of the line {:#x} (offsets {}) soon after each other; words {LINE} bytes apart would not \
         move with each other",
        of.line.address,
        offsets.join(", ")
    )
}
