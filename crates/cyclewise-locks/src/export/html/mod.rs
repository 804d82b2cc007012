//! The data of the page of one program's locked instructions.
//!
//! # Invariants
//! 1. The page's size is bounded, whatever the number of sites, threads and processes: lists have a limit, and what is beyond it
//!    is counted and said to be in the JSON.

mod curve;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = "../../../../cyclewise-report/src/export/html/visible.rs"]
mod visible;

use crate::error::Result;
use crate::export::words::{answer, circumstances, name, one_line, per_1000_of_each_form, program, time};
use crate::record::{Locks, by_line};
use askama::Template;
use cyclewise_report::export::html::finish;
use cyclewise_report::export::html::machine::{Fact, facts, fingerprint, tool};
use cyclewise_report::export::html::page::STYLE;
use cyclewise_report::export::html::plot::{Plot, SERIES};
use cyclewise_report::export::html::table::Table;

/// Renders what a program pays for atomics.
///
/// # Errors
/// Exit 3 if rendering fails; no content of a document causes it.
pub fn render_locks(locks: &Locks) -> Result<String> {
    finish(&LocksPage::new(locks)?)
}

/// Lines of code that the page begins with.
const FIRST_LINES: usize = 10;
/// Lines on what was not counted.
const MOST_MISSING: usize = 100;
/// The most characters of a command line or of a line on what was not counted.
const MOST_TEXT: usize = 500;

#[derive(Template)]
#[template(path = "locks.html")]
struct LocksPage {
    title: String,
    style: &'static str,
    series: usize,
    answer: Vec<String>,
    lines: Option<Table>,
    plot: Option<Plot>,
    remedies: Option<Table>,
    /// What the whole code, by groups, and who executed it.
    groups: Vec<Table>,
    executors: Vec<Table>,
    warnings: Vec<String>,
    notes: Vec<String>,
    facts: Vec<Fact>,
}

impl LocksPage {
    /// The page of `locks`.
    fn new(locks: &Locks) -> Result<Self> {
        let lines = by_line(&locks.profile);
        Ok(LocksPage {
            title: format!("What atomics cost {}", short(&name(locks))),
            style: STYLE,
            series: SERIES,
            answer: answers(locks),
            lines: (!lines.is_empty()).then(|| tables::lines(locks, &lines, FIRST_LINES)),
            plot: curve::cumulative(&locks.profile)?,
            remedies: tables::remedies(locks),
            groups: tables::groups(locks, &lines),
            executors: tables::executors(locks),
            warnings: warnings(locks),
            notes: notes(locks),
            facts: run_facts(locks),
        })
    }
}

/// What would be gained, how many there are, and how that is known.
fn answers(locks: &Locks) -> Vec<String> {
    let sentences = [answer(locks), per_1000_of_each_form(locks), circumstances(locks)];
    let all = sentences.into_iter().chain(time(locks));
    all.map(|text| sentence(&text)).collect()
}

/// With a capital letter and a full stop, as on the other pages, and without the marks that a terminal has around commands.
fn sentence(text: &str) -> String {
    let text = short(text).replace('`', "");
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

/// In one line, of bounded length.
fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_TEXT) {
        None => one_line(text),
        Some((end, _)) => format!("{}…", one_line(&text[..end])),
    }
}

/// What was not counted or not found out.
fn warnings(locks: &Locks) -> Vec<String> {
    let missing = &locks.profile.missing;
    let mut lines: Vec<String> = missing.iter().take(MOST_MISSING).map(|line| sentence(line)).collect();
    if missing.len() > MOST_MISSING {
        lines.push(format!("{} more lines are in the JSON.", missing.len() - MOST_MISSING));
    }
    lines
}

/// What the forecast rests on, and what is not as it was asked for.
fn notes(locks: &Locks) -> Vec<String> {
    let costs = locks
        .costs
        .iter()
        .map(|costs| format!("costs of instructions: {costs}"));
    let basis = locks.forecast.iter().flat_map(|f| f.basis.iter().cloned());
    let all = costs.chain(basis).chain(locks.notes.iter().cloned());
    all.take(MOST_MISSING).map(|note| sentence(&note)).collect()
}

fn run_facts(locks: &Locks) -> Vec<Fact> {
    let mut all = facts([
        ("Program", short(&program(locks))),
        ("Measured", locks.created.clone()),
        ("Written by", tool(&locks.tool)),
        ("Command", short(&format!("cyclewise {}", locks.command.join(" ")))),
    ]);
    all.extend(fingerprint(&locks.machine));
    all
}
