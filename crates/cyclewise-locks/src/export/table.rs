//! What a program pays for atomics: the answer, the lines of code that pay most, and who executes them.

use crate::export::rows::{
    self, Kind, ListColumn, Listing, false_sharing, lines_of_memory, processes, system_calls, threads,
};
use crate::export::words::{
    self, answer, bound, circumstances, class, executions, form, one_line, per_1000, per_1000_of_each_form, place,
    private, program, purpose, remedy, saved, saved_seconds, share, time,
};
use crate::forecast::RemedyForecast;
use crate::record::{Group, Locks, by, by_line, executed};
use cyclewise_report::export::table::grid::{BOLD, Column, DIM, Look, YELLOW, fitted, wrapped};
use std::fmt::Write;

/// Threads, kinds of system calls and processes that are listed.
const MOST_ROWS: usize = 8;
/// Families, and lines on what was not counted.
const MOST_LINES: usize = 20;

/// The whole report, with so many lines of code.
pub fn locks(locks: &Locks, lines: usize, look: Look) -> String {
    let how = [Some(circumstances(locks)), time(locks)];
    let how: Vec<String> = how.into_iter().flatten().collect();
    [
        headline(locks, look),
        head(locks, &how.join("; "), look),
        lines_of_code(locks, lines, look),
        callers(locks, look),
        remedies(locks, look),
        groups(locks, look),
        notes(locks, look),
        missing(locks, look),
    ]
    .concat()
}

/// What was counted, before anything is known of the program's time.
pub fn counts(locks: &Locks, lines: usize, look: Look) -> String {
    [
        head(locks, &circumstances(locks), look),
        lines_of_code(locks, lines, look),
        callers(locks, look),
        groups(locks, look),
        missing(locks, look),
    ]
    .concat()
}

/// What follows [`counts`]: the answer, and what it rests on.
pub fn forecast(locks: &Locks, look: Look) -> String {
    let time = time(locks).map_or_else(String::new, |time| format!("{}\n", wrapped(&time, look, 0, 2)));
    format!(
        "\n{}{time}{}{}",
        headline(locks, look),
        remedies(locks, look),
        notes(locks, look)
    )
}

fn headline(locks: &Locks, look: Look) -> String {
    format!("{BOLD}{}{BOLD:#}\n", wrapped(&one_line(&answer(locks)), look, 0, 2))
}

/// The program, how many it executed, and how that is known.
fn head(locks: &Locks, how: &str, look: Look) -> String {
    let lines = [program(locks), per_1000_of_each_form(locks), how.to_owned()];
    lines.map(|line| format!("{}\n", wrapped(&line, look, 0, 2))).concat()
}

/// The whole code by groups, and who executed it.
fn groups(locks: &Locks, look: Look) -> String {
    let mut out = classes(locks, look);
    out.push_str(&families(locks, look));
    if !locks.profile.sites.is_empty() {
        let about = "Private are executions on words that one thread used; another may have made the word, or looked at it at the end.";
        let _ = writeln!(out, "{DIM}{}{DIM:#}", wrapped(about, look, 0, 2));
    }
    out.push_str(&listed(lines_of_memory(locks), 1, look));
    out.push_str(&shared_falsely(locks, look));
    out.push_str(&listed(threads(locks, MOST_ROWS), 2, look));
    out.push_str(&listed(system_calls(locks, MOST_ROWS), 1, look));
    out.push_str(&listed(processes(locks, MOST_ROWS), 2, look));
    out
}

/// A heading, a table, and how many rows were left out.
fn section(title: &str, columns: Vec<Column>, left_out: usize, what: &str, look: Look) -> String {
    let mut out = format!("\n{BOLD}{title}{BOLD:#}\n{}\n", fitted(columns, look));
    if left_out > 0 {
        let _ = writeln!(out, "{DIM}and {} more {what}{DIM:#}", executions(left_out as u64));
    }
    out
}

/// The lines that pay most, with the sum of their shares so far.
fn lines_of_code(locks: &Locks, most: usize, look: Look) -> String {
    let profile = &locks.profile;
    let groups = by_line(profile);
    if groups.is_empty() {
        return "\nIt executed no locked instruction.\n".to_owned();
    }
    let all = executed(profile);
    let shown = &groups[..groups.len().min(most)];
    let sums = shown.iter().scan(0_u64, |sum, group| {
        *sum = sum.saturating_add(group.executed);
        Some(*sum)
    });
    let cells = |cell: &dyn Fn(&Group<_>) -> String| shown.iter().map(cell).collect::<Vec<_>>().into_iter();
    let columns = vec![
        Column::new("what it does", 0, cells(&|g| purpose(g.key.1, g.key.2.as_ref()))),
        Column::new("share", 0, cells(&|g| share(g.executed, all))),
        Column::new("sum", 3, sums.map(|sum| share(sum, all))),
        Column::new("executed", 1, cells(&|g| executions(g.executed))),
        Column::new("form", 6, cells(&|g| form(g.sites[0].form).to_owned())),
        Column::new("threads", 5, cells(&|g| g.threads.to_string())),
        Column::new("private", 4, cells(&|g| private(g.words))),
        Column::text("line of code", cells(&|g| place(&g.key.0))),
    ];
    section(
        "Lines of code that pay most",
        columns,
        groups.len() - shown.len(),
        "lines",
        look,
    )
}

/// Who calls the C library, and functions of locks, allocators and reference counts.
fn callers(locks: &Locks, look: Look) -> String {
    let mut out = listed(rows::callers(locks), 1, look);
    if !out.is_empty() {
        let about = "Shares are of the line that a line is indented under. Calls and returns are followed: after longjmp(3) and in coroutines \
                     callers are not known at first.";
        let _ = writeln!(out, "{DIM}{}{DIM:#}", wrapped(about, look, 0, 2));
    }
    out
}

/// What would change it.
fn remedies(locks: &Locks, look: Look) -> String {
    let Some(forecast) = locks.forecast.as_ref().filter(|f| !f.remedies.is_empty()) else {
        return String::new();
    };
    let all = executed(&locks.profile);
    let rows = words::remedies(forecast);
    let cells = |cell: &dyn Fn(&RemedyForecast) -> String| {
        let cells: Vec<String> = rows.iter().map(|r| cell(r)).collect();
        cells.into_iter()
    };
    let columns = vec![
        Column::new("remedy", 0, cells(&remedy)),
        Column::new("saves", 0, cells(&saved)),
        Column::new("seconds", 2, cells(&saved_seconds)),
        Column::new("back to back", 1, cells(&bound)),
        Column::new("of executions", 3, cells(&|r| share(r.executed, all))),
        Column::text("if", cells(&|r| one_line(&r.condition))),
    ];
    let mut out = section("What would change it: a forecast, not a promise", columns, 0, "", look);
    let about = "\"Back to back\" is what a remedy would save if nothing beside a locked instruction hid its cost: more than is likely.";
    let _ = writeln!(out, "{DIM}{}{DIM:#}", wrapped(about, look, 0, 2));
    out
}

fn classes(locks: &Locks, look: Look) -> String {
    let groups = by(&locks.profile, |site| site.class);
    grouped("By class", "class", groups, |of| class(*of).to_owned(), locks, look)
}

fn families(locks: &Locks, look: Look) -> String {
    let groups = by(&locks.profile, |site| site.family.clone());
    if groups.iter().all(|g| g.key.is_none()) {
        return String::new();
    }
    let name = |of: &Option<String>| of.as_ref().map_or_else(|| "not known".to_owned(), |f| one_line(f));
    grouped("By family", "family", groups, name, locks, look)
}

/// Groups by their executions.
fn grouped<K>(
    title: &str,
    key: &str,
    groups: Vec<Group<'_, K>>,
    name: impl Fn(&K) -> String,
    locks: &Locks,
    look: Look,
) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let all = executed(&locks.profile);
    let shown = &groups[..groups.len().min(MOST_LINES)];
    let columns = vec![
        Column::new(key, 0, shown.iter().map(|g| name(&g.key))),
        Column::new("share", 0, shown.iter().map(|g| share(g.executed, all))),
        Column::new("executed", 0, shown.iter().map(|g| executions(g.executed))),
        Column::new(
            "of 1000 instructions",
            1,
            shown.iter().map(|g| per_1000(g.executed, locks.profile.instructions)),
        ),
        Column::new("private", 2, shown.iter().map(|g| private(g.words))),
        Column::new("places", 3, shown.iter().map(|g| executions(g.sites.len() as u64))),
    ];
    section(title, columns, groups.len() - shown.len(), "of these", look)
}

/// A table of the page on a terminal; nothing where it has fewer rows than make a table.
fn listed(listing: Listing, least: usize, look: Look) -> String {
    if listing.columns.iter().any(|column| column.cells.len() < least) {
        return String::new();
    }
    let column = |of: ListColumn| match of.kind {
        Kind::Text => Column::text(of.title, of.cells.into_iter()),
        Kind::Name => Column::new(of.title, 0, of.cells.into_iter()),
        Kind::Number(rank) => Column::new(of.title, rank, of.cells.into_iter()),
    };
    let columns = listing.columns.into_iter().map(column).collect();
    section(listing.title, columns, listing.left_out, listing.what, look)
}

fn shared_falsely(locks: &Locks, look: Look) -> String {
    let lines = locks.profile.lines.iter().filter(|line| line.is_falsely_shared());
    let texts = lines.map(|line| format!("{YELLOW}{}{YELLOW:#}\n", wrapped(&false_sharing(line), look, 0, 2)));
    texts.collect()
}

/// What the forecast rests on, and what is not as it was asked for.
fn notes(locks: &Locks, look: Look) -> String {
    let mut out = String::from("\n");
    let basis = locks.forecast.iter().flat_map(|f| &f.basis).cloned();
    let costs = locks
        .costs
        .iter()
        .map(|costs| format!("costs of instructions: {costs}"));
    for note in costs.chain(basis).chain(locks.notes.iter().cloned()) {
        let _ = writeln!(out, "{DIM}note:{DIM:#} {}", wrapped(&one_line(&note), look, 6, 4));
    }
    if out.len() > 1 { out } else { String::new() }
}

/// What was not counted or not found out.
fn missing(locks: &Locks, look: Look) -> String {
    let mut out = String::new();
    let missing = &locks.profile.missing;
    for line in missing.iter().take(MOST_LINES) {
        let _ = writeln!(
            out,
            "{YELLOW}missing:{YELLOW:#} {}",
            wrapped(&one_line(line), look, 9, 4)
        );
    }
    if missing.len() > MOST_LINES {
        let more = missing.len() - MOST_LINES;
        let _ = writeln!(
            out,
            "{YELLOW}missing:{YELLOW:#} {more} more lines, which are in the JSON"
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up;
    use cyclewise_report::export::table::grid::shown_width;

    fn text(document: &Locks, columns: Option<u16>, wide: bool) -> String {
        let text = locks(document, 10, Look::new(columns, wide));
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn the_report_as_people_read_it() {
        insta::assert_snapshot!("locks_rust", text(&made_up::rust(), None, false));
        insta::assert_snapshot!("locks_cplusplus", text(&made_up::cplusplus(), None, false));
        insta::assert_snapshot!("locks_aarch64", text(&made_up::aarch64(), None, false));
    }

    #[test]
    fn no_line_is_longer_than_the_terminal_and_wide_has_every_column() {
        for (document, columns) in [(made_up::rust(), 100), (made_up::rust(), 72), (made_up::aarch64(), 72)] {
            let text = text(&document, Some(columns), false);
            let longest = text.lines().map(shown_width).max().unwrap();
            assert!(longest <= usize::from(columns), "{longest} of {columns}:\n{text}");
        }
        let wide = text(&made_up::rust(), Some(72), true);
        for column in ["form", "private", "seconds", "of executions"] {
            assert!(wide.contains(column), "no {column}:\n{wide}");
        }
        // The twin: it has lines that the narrow one must not have.
        assert!(wide.lines().map(shown_width).max().unwrap() > 100);
    }

    #[test]
    fn lines_of_memory_that_one_thread_uses_are_left_out_and_false_sharing_is_said() {
        let mut document = made_up::rust();
        let shown = text(&document, None, true);
        assert!(
            shown.contains("false sharing: threads use different words of the line 0x7f0000001040 (offsets 16, 40)"),
            "{shown}"
        );
        for word in &mut document.profile.lines[0].line.words {
            word.soon_beside = 0;
        }
        assert!(!text(&document, None, true).contains("false sharing"));
        for word in &mut document.profile.lines[0].line.words {
            word.threads = 1;
        }
        assert!(!text(&document, None, true).contains("Hottest lines"));
    }

    #[test]
    fn as_many_lines_as_are_asked_for() {
        let document = made_up::rust();
        let of = |n| locks(&document, n, Look::new(None, false));
        assert!(of(2).contains("and 6 more lines") && !of(8).contains("more lines"));
        assert!(of(2).contains("src/graph.rs:131") && !of(2).contains("src/queue.rs"));
    }

    #[test]
    fn a_program_without_locked_instructions_has_no_tables() {
        let mut none = made_up::cplusplus();
        none.profile.sites.clear();
        none.profile.executed = Default::default();
        let text = text(&none, None, false);
        assert!(text.contains("It executed no locked instruction."), "{text}");
        assert!(!text.contains("By class") && !text.contains("NaN"), "{text}");
    }
}
