//! `cyclewise fleet join`: joins the records of many nodes, and names the nodes without one.

mod target;

use crate::command::cli::JoinArgs;
use crate::error::{Error, Result};
use crate::export::job::command_line;
use crate::files::{self, Joined};
use crate::record::fleet::{Problem, ProblemKind, Status};
use crate::record::plan::{self, FILE, Plan};
use cyclewise_report::files::output::{self, tell};
use cyclewise_report::files::progress::Reporter;
use cyclewise_report::number::counted;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

pub(super) fn join(args: &JoinArgs) -> Result<()> {
    std::fs::metadata(&args.dir).map_err(|e| {
        let what = format!("{}: {e}; give a folder of records", args.dir.display());
        Error::usage(what).in_one_line()
    })?;
    let plan = read_plan(&args.dir)?;
    let plan = plan.as_ref();
    let target = args.json.clone().unwrap_or_else(|| args.dir.join("fleet.jsonl"));
    target::check(&args.dir, &target)?;
    let file = Some(&*target).filter(|target| *target != Path::new("-"));
    let joined = Reporter::shared("files", |tell| files::join(&args.dir, file, plan, tell))?;
    if joined.head.members + joined.head.checkups == 0 && joined.head.problems.is_empty() {
        return Err(Error::usage(format!(
            "{}: neither records nor reports of doctor or verify; `run --json`, `doctor --json` and `verify --json` write them",
            args.dir.display()
        ))
        .in_one_line());
    }
    output::stream(&target, &|out| joined.write(out))?;
    let mut said = findings(&joined);
    if plan.is_some() {
        said += &without_checkup(&args.dir, &joined);
    }
    if target != Path::new("-") {
        said += &format!("wrote {}\n", target.display());
    }
    let missing = names(&joined, ProblemKind::Missing);
    if plan.is_some() && !missing.is_empty() {
        let is_anonymous = plan.is_some_and(Plan::is_anonymous);
        said += &match joined.head.problems.iter().any(|p| p.kind == ProblemKind::Version) {
            // The same line would make the same records again.
            true => "Records are of another version than the plan: give the program of the plan's version by `fleet plan --program`, or plan again in \
                     a new folder\n"
                .to_owned(),
            false => how_to_make(&args.dir, &missing, is_anonymous)?,
        };
    }
    let fewer = plan.and_then(|plan| fewer(plan, &joined));
    if let Some(line) = &fewer {
        said += &format!("{line}\n");
    }
    say(&said, &target)?;
    let torn = names(&joined, ProblemKind::Torn).len();
    let changed = names(&joined, ProblemKind::Mangled).len();
    if missing.is_empty() && torn + changed == 0 {
        let nodes: BTreeSet<&str> = broken(&joined).map(|(node, _)| node).collect();
        return match fewer {
            _ if !nodes.is_empty() => {
                let nodes = nodes.into_iter().collect::<Vec<_>>().join(", ");
                Err(Error::check(format!("{}: promises broke on {nodes}", args.dir.display())).in_one_line())
            }
            None => Ok(()),
            Some(line) => Err(Error::check(format!("{}: {line}", args.dir.display())).in_one_line()),
        };
    }
    Err(Error::check(format!(
        "{}: {} without a {}, {}, {}; the others were joined",
        args.dir.display(),
        counted(missing.len(), "node"),
        plan.map_or("record", Plan::product),
        counted(torn, "torn file"),
        counted(changed, "changed file")
    ))
    .in_one_line())
}

/// What to say if fewer nodes than planned made what the plan asks for. Nodes that a job was never given are in no list.
fn fewer(plan: &Plan, joined: &Joined) -> Option<String> {
    let planned = plan.nodes.unwrap_or(1) as usize;
    let have = match plan.is_verification() {
        true => joined.verified_nodes(),
        false => joined.nodes(),
    };
    (have < planned).then(|| {
        format!(
            "the plan is for at least {}, but {}s have only {}; the logs of the rest say why",
            counted(planned, "node"),
            plan.product(),
            counted(have, "node name")
        )
    })
}

/// What was found, and each thing that is wrong on its line.
fn findings(joined: &Joined) -> String {
    let head = &joined.head;
    let verifications = match joined.verifications().count() {
        0 => String::new(),
        n => format!(
            ", {} of {}",
            counted(n, "verification"),
            counted(joined.verified_nodes(), "node")
        ),
    };
    let counts = format!(
        "{} of {}{verifications}, and {} of doctor\n",
        counted(head.members, "record"),
        counted(joined.nodes(), "node"),
        counted(joined.doctors(), "report")
    );
    let partial = joined.partial().map(|(file, n)| {
        format!(
            "partial: {file}: {n} of its experiments or variants are missing, and the machine could have measured them"
        )
    });
    let broken = broken(joined).map(|(_, line)| line);
    counts + &named(head.problems.iter().map(problem).chain(partial).chain(broken))
}

/// The promises that broke: the node, and a line.
fn broken(joined: &Joined) -> impl Iterator<Item = (&str, String)> {
    joined.verifications().flat_map(|found| {
        let broken = found.lines.iter().filter(|(_, status, _)| *status == Status::Broken);
        broken.map(|(name, _, seen)| {
            let line = format!(
                "broken: {}: {} {name}: {seen}; {}",
                found.node, found.verified, found.file
            );
            (found.node.as_str(), line)
        })
    })
}

/// Nodes whose `doctor` said nothing, which fails no job.
fn without_checkup(dir: &Path, joined: &Joined) -> String {
    let without = files::without_checkup(dir, joined);
    named(without.into_iter().map(|node| format!("no report of doctor: {node}")))
}

fn names(joined: &Joined, kind: ProblemKind) -> Vec<&str> {
    let of_kind = joined.head.problems.iter().filter(|p| p.kind == kind);
    of_kind.map(|p| p.name.as_str()).collect()
}

/// The command that measures these nodes and no others.
fn how_to_make(dir: &Path, missing: &[&str], is_anonymous: bool) -> Result<String> {
    let dir = std::path::absolute(dir).map_err(|e| Error::system("the folder's path", &e, "give it in full"))?;
    let dir = command_line([dir.to_string_lossy()])?;
    if is_anonymous {
        return Ok(format!(
            "These nodes are anonymous: `cd -P -- {dir} && cyclewise fleet names --key anonymous.key NODE...` prints the names of nodes\n"
        ));
    }
    Ok(format!(
        "Make what is missing with Slurm, then join again:\n    cd -P -- {dir} && sbatch --nodes={} --nodelist={} records.sbatch\nOr over ssh:\n    cd -P -- {dir} && sh local {}\n",
        missing.len(),
        command_line([missing.join(",")])?,
        command_line(missing)?
    ))
}

/// The folder's plan; `None` if it has none.
fn read_plan(dir: &Path) -> Result<Option<Plan>> {
    let path = dir.join(FILE);
    let name = path.display();
    // Reading a FIFO would wait.
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(Error::usage(format!("{name} is no file; remove it, or give another folder")).in_one_line());
    }
    match std::fs::read_to_string(&path) {
        Ok(text) => plan::from_str(&name.to_string(), &text).map(Some),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::usage(format!("{name}: {e}; give a folder that can be read")).in_one_line()),
    }
}

/// The most lines of what is missing or wrong on the terminal.
const NAMED: usize = 1000;

/// These lines, or the first of them and how many more there are.
fn named(lines: impl Iterator<Item = String>) -> String {
    let mut lines = lines;
    let mut text: String = lines.by_ref().take(NAMED).map(|line| line + "\n").collect();
    let more = lines.count();
    if more > 0 {
        text += &format!("and {more} more\n");
    }
    text
}

/// What a problem is, at the beginning of its line.
fn kind(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Missing => "missing",
        ProblemKind::Torn => "torn",
        ProblemKind::Version => "another version",
        ProblemKind::Duplicate => "duplicate",
        ProblemKind::Foreign => "foreign",
        ProblemKind::Mangled => "changed",
    }
}

fn problem(problem: &Problem) -> String {
    format!("{}: {}: {}", kind(problem.kind), problem.name, problem.why)
}

/// Prints what was found; on stderr, if the document goes to stdout.
fn say(text: &str, target: &Path) -> Result<()> {
    if target == Path::new("-") {
        tell(text.trim_end());
        return Ok(());
    }
    output::put(Path::new("-"), text)
}
