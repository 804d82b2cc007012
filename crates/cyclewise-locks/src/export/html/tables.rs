//! The page's tables.

use crate::export::rows::{Kind, ListColumn, Listing, callers, lines_of_memory, processes, system_calls, threads};
use crate::export::words::{
    bound, class, executions, family, form, line_of_code, one_line, per_1000, private, purpose,
    remedies as remedies_in_order, remedy, saved, saved_seconds, share,
};
use crate::profile::Class;
use crate::record::{Group, Locks, Place, by, executed, place};
use cyclewise_report::export::html::table::{Table, number, words};
use cyclewise_report::number::NONE;

/// Rows of a table of lines or of functions.
const MOST_ROWS: usize = 100;
/// Rows of a table of threads, system calls or processes.
const MOST_EXECUTORS: usize = 50;
/// The most characters of a function's name.
const MOST_NAME: usize = 160;

type LineGroup<'a> = Group<'a, (Place, Class, Option<String>)>;

/// The lines that pay most, with the sum of their shares so far.
pub(super) fn lines(locks: &Locks, groups: &[LineGroup<'_>], most: usize) -> Table {
    let all = executed(&locks.profile);
    let shown = &groups[..groups.len().min(most)];
    let mut table = Table::new(caption("Lines of code that pay most", shown.len(), groups.len()));
    table.words("Line of code");
    table.words("What it does");
    table.numbers("Executed", "times");
    table.numbers("Share", "");
    table.numbers("Sum of shares", "");
    table.numbers("Threads", "");
    table.numbers("On words of one thread", "");
    let mut sum = 0_u64;
    for group in shown {
        let (place, of, known) = &group.key;
        sum = sum.saturating_add(group.executed);
        let line = match line_of_code(place) {
            line if line.is_empty() => cut(&place.function),
            line => cut(&line),
        };
        let detail = if place.file.is_empty() {
            String::new()
        } else {
            cut(&place.function)
        };
        table.rows.push(vec![
            words(line).with_detail(detail),
            words(purpose(*of, known.as_ref())).with_detail(instructions(group)),
            number(executions(group.executed)),
            number(share(group.executed, all)),
            number(share(sum, all)),
            number(group.threads.to_string()),
            number(private(group.words)),
        ]);
    }
    table
}

/// The instruction; of several, how many.
fn instructions<K>(group: &Group<'_, K>) -> String {
    match group.sites.as_slice() {
        [one] => one_line(&one.instruction),
        many => format!("{} instructions", executions(many.len() as u64)),
    }
}

/// What would change it.
pub(super) fn remedies(locks: &Locks) -> Option<Table> {
    let forecast = locks.forecast.as_ref().filter(|f| !f.remedies.is_empty())?;
    let all = executed(&locks.profile);
    let mut table = Table::new("What would change it");
    table.words("Remedy");
    table.numbers("Saves", "of user time");
    table.numbers("Saves", "user time");
    table.numbers("At most", "back to back");
    table.numbers("Executions", "share");
    table.numbers("Places", "");
    table.words("If");
    for of in remedies_in_order(forecast) {
        let percent = if of.saved_percent.is_some() {
            saved(of)
        } else {
            NONE.to_owned()
        };
        table.rows.push(vec![
            words(remedy(of)),
            number(percent),
            number(saved_seconds(of)),
            number(bound(of)),
            number(share(of.executed, all)),
            number(executions(of.sites.len() as u64)),
            words(one_line(&of.condition)),
        ]);
    }
    Some(table)
}

/// The whole code, by lines, functions, classes and families.
pub(super) fn groups(locks: &Locks, by_lines: &[LineGroup<'_>]) -> Vec<Table> {
    let profile = &locks.profile;
    if profile.sites.is_empty() {
        return Vec::new();
    }
    let functions = by(profile, |site| place(site).function);
    let modules = by(profile, |site| site.module.clone());
    let families = by(profile, |site| site.family.clone());
    vec![
        grouped(locks, "Classes", "Class", &by(profile, |s| s.class), |c| {
            class(*c).to_owned()
        }),
        grouped(locks, "Families", "Family", &families, |f| family(f.as_ref())),
        grouped(locks, "Forms", "Form", &by(profile, |s| s.form), |f| {
            form(*f).to_owned()
        }),
        grouped(locks, "Files", "File", &modules, |m| cut(m)),
        grouped(locks, "Functions", "Function", &functions, |f| cut(f)),
        listed(callers(locks)),
        lines(locks, by_lines, MOST_ROWS),
    ]
    .into_iter()
    .filter(|table| !table.rows.is_empty())
    .collect()
}

fn grouped<K>(locks: &Locks, title: &str, key: &str, groups: &[Group<'_, K>], name: impl Fn(&K) -> String) -> Table {
    let all = executed(&locks.profile);
    let shown = &groups[..groups.len().min(MOST_ROWS)];
    let mut table = Table::new(caption(title, shown.len(), groups.len()));
    table.words(key);
    table.numbers("Executed", "times");
    table.numbers("Share", "");
    table.numbers("Of 1000", "instructions");
    table.numbers("On words of one thread", "");
    table.numbers("Places", "");
    for group in shown {
        table.rows.push(vec![
            words(name(&group.key)),
            number(executions(group.executed)),
            number(share(group.executed, all)),
            number(per_1000(group.executed, locks.profile.instructions)),
            number(private(group.words)),
            number(executions(group.sites.len() as u64)),
        ]);
    }
    table
}

/// Who executed it: threads, processes, and the way to which system calls; and in which memory.
pub(super) fn executors(locks: &Locks) -> Vec<Table> {
    let listings = [
        lines_of_memory(locks),
        threads(locks, MOST_EXECUTORS),
        system_calls(locks, MOST_EXECUTORS),
        processes(locks, MOST_EXECUTORS),
    ];
    let tables = listings.into_iter().map(listed);
    tables.filter(|table| !table.rows.is_empty()).collect()
}

fn listed(mut listing: Listing) -> Table {
    // What names the rows is first.
    listing.columns.sort_by_key(|column| column.kind != Kind::Text);
    let shown = listing.columns.first().map_or(0, |column| column.cells.len());
    let mut table = Table::new(caption(listing.title, shown, shown + listing.left_out));
    for column in &listing.columns {
        let mut letters = column.title.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        let title = first + letters.as_str();
        match column.kind {
            Kind::Number(_) => table.numbers(&title, column.unit),
            Kind::Name | Kind::Text => table.words(&title),
        }
    }
    let cell = |column: &ListColumn, row: usize| match column.kind {
        Kind::Number(_) => number(column.cells[row].clone()),
        Kind::Name | Kind::Text => words(cut(&column.cells[row])),
    };
    let row = |row| listing.columns.iter().map(|column| cell(column, row)).collect();
    table.rows = (0..shown).map(row).collect();
    table
}

/// The title, and how many rows are not shown.
fn caption(title: &str, shown: usize, all: usize) -> String {
    match all - shown {
        0 => title.to_owned(),
        more => format!("{title} ({} more are in the JSON)", executions(more as u64)),
    }
}

/// A name in one line, of bounded length.
fn cut(name: &str) -> String {
    match name.char_indices().nth(MOST_NAME) {
        None => one_line(name),
        Some((end, _)) => format!("{}…", one_line(&name[..end])),
    }
}
