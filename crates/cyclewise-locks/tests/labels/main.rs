//! The classifier on labelled sites, whose labels come from source lines and not from a classifier; see `README.md`.

mod code;
mod report;
mod row;

use code::Files;
use cyclewise_locks::class::known::Table;
use cyclewise_locks::profile::Class;
use report::{Answer, Share, misses, report, share};
use row::{Half, Row, SETS, rows};

/// What has to be right of all sites, in percent.
const ALL: f64 = 95.0;

/// What has to be right of each set, so that none hides behind the others. Sets are so small that two sites more or less
/// are one percent.
const SET: f64 = 93.0;

/// The same of programs of which the table knows nothing.
const UNKNOWN_PROGRAMS: f64 = 92.0;

/// What has to be right of the half that no rule was made from: this is what other programs may expect.
const EXAM: f64 = 93.0;

/// The same where the executed file is gone. A loop whose way back lies further away than the recorded code looks like an
/// exchange that is tried once, and slow paths have no names.
const WITHOUT_FILE: f64 = 78.0;

fn answers(rows: &[Row], classify: impl Fn(&Row) -> (Class, String)) -> Vec<Answer<'_>> {
    rows.iter()
        .map(|row| {
            let (class, why) = classify(row);
            Answer { row, class, why }
        })
        .collect()
}

fn in_a_run(rows: &[Row], table: &Table) -> Share {
    let files = Files::read();
    share(&answers(rows, |row| row.in_a_run(table, &files)), |_| true)
}

#[test]
fn classes_are_right_on_95_of_100_labelled_sites() {
    let (rows, files, table) = (rows(), Files::read(), Table::built_in());
    let answers = answers(&rows, |row| row.in_a_run(&table, &files));
    println!("{}\n{}", report(&answers), misses(&answers));
    assert!(rows.len() >= 200);
    let all = share(&answers, |_| true);
    assert!(all.percent() >= ALL, "{all}");
    let exam = share(&answers, |r| r.half() == Half::Exam);
    assert!(exam.percent() >= EXAM, "{exam}");
    for (set, _) in SETS {
        let of_set = share(&answers, |r| r.set == *set);
        let least = if set.ends_with("programs") {
            UNKNOWN_PROGRAMS
        } else {
            SET
        };
        assert!(of_set.percent() >= least, "{set}: {of_set}");
    }
}

#[test]
fn without_the_file_classes_rest_on_the_recorded_code() {
    let (rows, table) = (rows(), Table::built_in());
    let answers = answers(&rows, |row| row.without_file(&table));
    println!("{}", report(&answers));
    let all = share(&answers, |_| true);
    assert!(all.percent() >= WITHOUT_FILE, "{all}");
}

#[test]
fn the_halves_are_halves_and_share_no_line() {
    let rows = rows();
    let learn = rows.iter().filter(|r| r.half() == Half::Learn).count();
    assert!((rows.len() * 2 / 5..rows.len() * 3 / 5).contains(&learn), "{learn}");
    for row in &rows {
        let same = rows.iter().filter(|r| r.line() == row.line());
        assert!(same.into_iter().all(|r| r.half() == row.half()), "{}", row.how);
    }
}

/// The twins: each takes away something that the classes rest on, and is caught.
#[test]
fn labels_of_other_sites_are_noticed() {
    let mut moved = rows();
    let labels: Vec<_> = moved.iter().map(|r| r.label).collect();
    let last = labels.len() - 1;
    for (n, row) in moved.iter_mut().enumerate() {
        row.label = labels[if n == 0 { last } else { n - 1 }];
    }
    let right = in_a_run(&moved, &Table::built_in());
    assert!(right.percent() < 80.0, "{right}");
}

#[test]
fn a_missing_table_is_noticed() {
    let right = in_a_run(&rows(), &Table::default());
    assert!(right.percent() < ALL, "{right}");
}

#[test]
fn missing_names_are_noticed() {
    let mut nameless = rows();
    nameless.iter_mut().for_each(|r| r.functions.clear());
    let right = in_a_run(&nameless, &Table::built_in());
    assert!(right.percent() < 90.0, "{right}");
}

#[test]
fn a_wrong_instruction_is_noticed() {
    let mut shifted = rows();
    for row in &mut shifted {
        // The site's first byte is passed over, so that it is another instruction, or none.
        row.code.remove(0);
        row.before.clear();
    }
    let table = Table::built_in();
    let right = share(&answers(&shifted, |row| row.without_file(&table)), |_| true);
    assert!(right.percent() < 50.0, "{right}");
}
