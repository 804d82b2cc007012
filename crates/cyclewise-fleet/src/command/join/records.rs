//! Joins the records of many nodes, and names the nodes without one.

use super::{folder_word, named, problem, say, target};
use crate::command::cli::JoinArgs;
use crate::error::{Error, Result};
use crate::export::job::command_line;
use crate::files::{self, Joined};
use crate::record::fleet::{ProblemKind, Status};
use crate::record::plan::{Plan, Work};
use cyclewise_report::files::output;
use cyclewise_report::files::progress::Reporter;
use cyclewise_report::number::counted;
use std::collections::BTreeSet;
use std::path::Path;

pub(super) fn join(args: &JoinArgs, plan: Option<&Plan>) -> Result<()> {
    let target = target::named(args.json.as_ref(), &args.dir, "fleet.jsonl");
    target::check(&args.dir, &target, &files::input::is_joined)?;
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
    let Work::Records { nodes } = plan.work else {
        return None;
    };
    let planned = nodes.unwrap_or(1) as usize;
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
    let dir = folder_word(dir)?;
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
