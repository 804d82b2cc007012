//! The report as the document in the tree.

use super::{Report, Role, Row, Target, Used};
use std::fmt::{self, Write};

impl Report {
    /// The report in Markdown, with every miss named first.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let missed: Vec<&Target> = self.missed().collect();
        let (met, all) = (self.targets.len() - missed.len(), self.targets.len());
        writeln!(out, "# The simulator against published figures\n")?;
        writeln!(
            out,
            "Made by `cyclewise simulate validate --markdown crates/cyclewise-sim/VALIDATION.md`; do not edit. A test fails where\n\
             this is not what the program says.\n"
        )?;
        writeln!(
            out,
            "`fitted` marks a figure that the machine's parameters were chosen to meet: it shows that the laws allow it. `predicted`\n\
             marks a figure that was not used. Parameters are one set a machine, in `machines/`, for every row and workload.\n\
             Which laws there are to choose among, and whose transfer stands for the i5-1035G4's, was decided with all of these\n\
             figures in view; AWS Graviton2 is a machine that was looked at last, and that no target names.\n"
        )?;
        writeln!(out, "{met} of {all} targets are met.\n")?;
        if !missed.is_empty() {
            writeln!(out, "## Missed\n")?;
            for target in missed {
                let Target {
                    machine,
                    what,
                    seen,
                    unit,
                    ..
                } = target;
                writeln!(
                    out,
                    "- {machine}: {what}: {} {unit}, asked for {}. {}",
                    figure(*seen),
                    range(target),
                    why(target)
                )?;
            }
            writeln!(out)?;
        }
        self.write_targets(out)?;
        self.write_rows(out)?;
        self.write_machines(out)
    }

    fn write_targets(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "## Targets\n")?;
        writeln!(
            out,
            "| machine | target | asked | seen | | role | source |\n|---|---|--:|--:|---|---|---|"
        )?;
        for target in &self.targets {
            let Target {
                machine,
                what,
                seen,
                unit,
                role,
                source,
                ..
            } = target;
            let verdict = if target.is_met() { "met" } else { "**missed**" };
            let (asked, seen) = (range(target), figure(*seen));
            writeln!(
                out,
                "| {machine} | {what} | {asked} | {seen} {unit} | {verdict} | {} | {source} |",
                word(*role)
            )?;
        }
        writeln!(out)
    }

    fn write_rows(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "## Rows\n")?;
        writeln!(
            out,
            "| machine | workload | threads | published | simulated | error | role |\n|---|---|--:|--:|--:|--:|---|"
        )?;
        for row in &self.rows {
            let Row {
                machine,
                workload,
                threads,
                published,
                seen,
                unit,
                role,
            } = row;
            writeln!(
                out,
                "| {machine} | {workload} | {threads} | {published:.1} {unit} | {seen:.1} | {:+.0} % | {} |",
                100.0 * row.error(),
                word(*role)
            )?;
        }
        writeln!(out)
    }

    fn write_machines(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "## Machines\n")?;
        for Used {
            machine,
            about,
            fitted,
            to,
        } in &self.machines
        {
            writeln!(
                out,
                "- {machine}: {about}. Used for fitting: {to}. Fitted or assumed: {}.",
                fitted.join(", ")
            )?;
        }
        Ok(())
    }
}

fn word(role: Role) -> &'static str {
    match role {
        Role::Fitted => "fitted",
        Role::Predicted => "predicted",
    }
}

/// Three digits that count.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn range(target: &Target) -> String {
    let (least, most) = target.asked;
    if most > 1e300 {
        format!("{} and more", figure(least))
    } else {
        format!("{} to {}", figure(least), figure(most))
    }
}

/// What is known of why a target is missed.
fn why(target: &Target) -> &'static str {
    let known = MISSES
        .iter()
        .find(|(machine, what, _)| target.machine == *machine && target.what.starts_with(what));
    known.map_or("Why is not known.", |(_, _, why)| why)
}

/// Machine, beginning of the target, and the reason; a test asks that each is still a miss.
pub(super) const MISSES: &[(&str, &str, &str)] = &[
    ("i7-6700HQ", "lock-ttas, pause", PAUSED),
    ("i7-6700HQ", "pairs of spin locks", PAUSED),
    (
        "ThunderX2 CN99xx",
        "open-read-close with limit 100 to without, 28 threads",
        METERED,
    ),
    (
        "ThunderX2 CN99xx",
        "open-read-close, queued lock to unbounded exchanges, 224 threads",
        METERED,
    ),
];

const METERED: &str = "In the model the lock of the descriptor table that threads share lets them come to the entry a few at \
    a time, so that exchanges on it seldom fail. That lock was at the top of the profile at 224 threads. Of the first test the \
    mails say that it has a thread for each CPU, and not whether they share a table; the second forks.";

const PAUSED: &str = "Measured, the holder takes the lock again several times while the others pause. In the model each of \
    their looks makes the next release wait for the line, which is long enough for one of them to find the lock free.";
