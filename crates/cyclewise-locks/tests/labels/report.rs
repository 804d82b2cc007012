//! What people read of a comparison: shares by set, class and half, which class was taken for which, and misses.

use crate::row::{Half, Row, SETS};
use cyclewise_locks::profile::Class;
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) const CLASSES: [Class; 8] = [
    Class::CountUp,
    Class::CountDownAndTest,
    Class::ExchangeLoop,
    Class::LockTaken,
    Class::LockGivenBack,
    Class::Flag,
    Class::Fence,
    Class::Other,
];

/// A row with what the classifier says of it.
pub(crate) struct Answer<'a> {
    pub(crate) row: &'a Row,
    pub(crate) class: Class,
    pub(crate) why: String,
}

/// How many of so many are right.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    pub(crate) right: usize,
    pub(crate) all: usize,
}

impl Share {
    pub(crate) fn percent(self) -> f64 {
        100.0 * self.right as f64 / self.all.max(1) as f64
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>4} of {:<4} {:5.1} %", self.right, self.all, self.percent())
    }
}

/// The share that is right of some rows.
pub(crate) fn share(answers: &[Answer<'_>], of: impl Fn(&Row) -> bool) -> Share {
    let mut share = Share::default();
    for answer in answers.iter().filter(|a| of(a.row)) {
        share.right += usize::from(answer.row.label == answer.class);
        share.all += 1;
    }
    share
}

/// A class's name, as reports and the labels have it.
fn name(class: Class) -> String {
    serde_json::to_value(class).unwrap().as_str().unwrap().to_owned()
}

/// All shares, and which class was taken for which.
pub(crate) fn report(answers: &[Answer<'_>]) -> String {
    let mut text = String::new();
    let mut line = |name: &str, share: Share| writeln!(text, "{name:<25} {share}").unwrap();
    for (set, _) in SETS {
        line(set, share(answers, |r| r.set == *set));
    }
    for (set, _) in SETS {
        let of_exam = |r: &Row| r.set == *set && r.half() == Half::Exam;
        line(&format!("{set}, exam"), share(answers, of_exam));
    }
    for class in CLASSES {
        line(&name(class), share(answers, |r| r.label == class));
    }
    line("learning half", share(answers, |r| r.half() == Half::Learn));
    line("exam", share(answers, |r| r.half() == Half::Exam));
    line("all", share(answers, |_| true));
    for (title, half) in [("learning half", Half::Learn), ("exam", Half::Exam)] {
        text.push_str(&confusion(title, answers.iter().filter(|a| a.row.half() == half)));
    }
    text
}

/// Which label got which answers.
fn confusion<'a>(title: &str, answers: impl Iterator<Item = &'a Answer<'a>>) -> String {
    let mut text = String::new();
    let mut taken: BTreeMap<(Class, Class), usize> = BTreeMap::new();
    for answer in answers {
        *taken.entry((answer.row.label, answer.class)).or_default() += 1;
    }
    let numbers = (1..=CLASSES.len()).map(|n| format!("{n:>5}")).collect::<String>();
    writeln!(text, "\n{:<22}{numbers}", title).unwrap();
    for (n, label) in CLASSES.into_iter().enumerate() {
        let counts = CLASSES.map(|class| format!("{:>5}", taken.get(&(label, class)).unwrap_or(&0)));
        writeln!(text, "{} {:<20}{}", n + 1, name(label), counts.concat()).unwrap();
    }
    text
}

/// The misses of the learning half, one a line; those of the exam are never listed.
pub(crate) fn misses(answers: &[Answer<'_>]) -> String {
    let mut text = String::new();
    let learn = answers.iter().filter(|a| a.row.half() == Half::Learn);
    for Answer { row, class, why } in learn.filter(|a| a.row.label != a.class) {
        let (label, class, functions) = (name(row.label), name(*class), row.functions.join(" <- "));
        writeln!(
            text,
            "{} {:#x} {} | {label}, not {class} ({why}) | {functions} | {}",
            row.file, row.address, row.instruction, row.how
        )
        .unwrap();
    }
    text
}
