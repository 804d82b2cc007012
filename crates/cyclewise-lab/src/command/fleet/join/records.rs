//! Joins the records of many nodes, and names the nodes without one.

use super::{folder_word, named, problem, say};
use crate::command::cli::JoinArgs;
use crate::command::output;
use crate::command::progress::Reporter;
use crate::error::{Error, Result};
use crate::export::job::command_line;
use crate::fleet::{self, Joined};
use crate::record::fleet::ProblemKind;
use crate::record::plan::{Plan, Work};
use crate::sys::file_size;
use std::path::{Path, PathBuf};

pub(super) fn join(args: &JoinArgs, plan: Option<&Plan>) -> Result<()> {
    let target = args.json.clone().unwrap_or_else(|| args.dir.join("fleet.jsonl"));
    // Lines wait where the result goes, which has room for them.
    let beside = match target.parent() {
        _ if target == Path::new("-") => std::env::temp_dir(),
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    // A limit on the size of files is then an error of the write, not the end of the process.
    file_size::refuse_beyond_limit();
    let joined = Reporter::shared("files", |tell| fleet::join(&args.dir, &beside, tell))?;
    if joined.head.members + joined.head.checkups == 0 && joined.head.problems.is_empty() {
        return Err(Error::usage(format!(
            "{}: neither records nor reports of doctor; `run --json` and `doctor --json` write them",
            args.dir.display()
        ))
        .in_one_line());
    }
    output::stream(&target, &|out| joined.write(out))?;
    let mut said = findings(&joined);
    if target != Path::new("-") {
        said += &format!("wrote {}\n", target.display());
    }
    let missing = names(&joined, ProblemKind::Missing);
    if plan.is_some() && !missing.is_empty() {
        said += &how_to_make(&args.dir, &missing)?;
    }
    let fewer = plan.and_then(|plan| fewer(plan, joined.nodes()));
    if let Some(line) = &fewer {
        said += &format!("{line}\n");
    }
    say(&said, &target)?;
    let torn = names(&joined, ProblemKind::Torn).len();
    if missing.is_empty() && torn == 0 {
        return match fewer {
            None => Ok(()),
            Some(line) => Err(Error::check(format!("{}: {line}", args.dir.display())).in_one_line()),
        };
    }
    Err(Error::check(format!(
        "{}: {} nodes have no record and {torn} files are torn; the others were joined",
        args.dir.display(),
        missing.len()
    ))
    .in_one_line())
}

/// What to say if fewer nodes have a record than were planned. Nodes that a job was never given are in no list.
fn fewer(plan: &Plan, have: usize) -> Option<String> {
    let Work::Records { nodes } = plan.work else {
        return None;
    };
    let planned = nodes.unwrap_or(1) as usize;
    (have < planned).then(|| {
        format!("the plan is for {planned} nodes or more, and {have} nodes of different names have a record; the logs of the rest say why")
    })
}

/// What was found, and each thing that is wrong on its line.
fn findings(joined: &Joined) -> String {
    let head = &joined.head;
    let counts = format!(
        "{} records of {} nodes, and {} reports of doctor\n",
        head.members,
        joined.nodes(),
        head.checkups
    );
    let partial = joined.partial().map(|(file, n)| {
        format!("partial: {file}: {n} of its experiments or rows are missing, and the machine could have measured them")
    });
    counts + &named(head.problems.iter().map(problem).chain(partial))
}

/// The names of the problems of this kind.
fn names(joined: &Joined, kind: ProblemKind) -> Vec<&str> {
    let of_kind = joined.head.problems.iter().filter(|p| p.kind == kind);
    of_kind.map(|p| p.name.as_str()).collect()
}

/// The command that measures these nodes and no others.
fn how_to_make(dir: &Path, missing: &[&str]) -> Result<String> {
    let dir = folder_word(dir)?;
    if missing.iter().any(|node| node.starts_with("anonymous-")) {
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
