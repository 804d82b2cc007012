//! `cyclewise fleet plan`: writes a job's files into a folder.

use super::planned::{self, JobKind, KEY, MACHINES, Planned};
use super::sbatch;
use crate::command::cli::PlanArgs;
use crate::error::{Error, Result};
use crate::export::job::{self, Launch, command_line};
use crate::record::Tool;
use crate::record::plan::{FILE, Plan, SCHEMA, Work};
use cyclewise_report::files::output::{self, tell};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Shards where neither they nor the nodes are counted.
const SHARDS: u32 = 64;

/// Shards of each node: a node that is slow then leaves work to the others.
const SHARDS_PER_NODE: u32 = 2;

/// What a job's results are in.
const RESULTS: &[&str] = &["shards", "records", "doctor", "nodes", "joined.json", "fleet.jsonl"];

pub(super) fn plan(args: &PlanArgs) -> Result<()> {
    for option in &args.sbatch {
        sbatch::check(option)?;
    }
    let planned = planned::parse(&args.planned)?;
    let plan = Plan {
        schema: SCHEMA.to_owned(),
        tool: Tool::this(),
        work: work(args, &planned)?,
        command: planned.words,
    };
    let join_options = args.sbatch.iter().filter(|o| sbatch::is_for_every_job(o));
    let launch = Launch {
        program: program(args.program.as_deref())?,
        join_options: join_options.cloned().collect(),
        options: args.sbatch.clone(),
        key: planned.key.as_ref().map(|_| KEY),
    };
    let mut files = planned.machine_files;
    let scripts = job::files(&plan, &launch)?;
    files.extend(scripts.into_iter().map(|(name, text)| (name.to_owned(), text)));
    folder(&args.into)?;
    write(&args.into, &plan, &files, planned.key.as_deref())?;
    // A shell reads `link/..` otherwise than the kernel.
    let into = args.into.canonicalize();
    let into = into.map_err(|e| Error::system("the folder's path", &e, "give it in full"))?;
    let mut said = how_to_start(&folder(&into)?, &plan)?;
    if planned.key.is_some() {
        said += ANONYMOUS;
    }
    output::put(Path::new("-"), &said)
}

/// What is not anonymous in the folder of a job with a key.
const ANONYMOUS: &str = "Pass on records/, doctor/ and fleet.jsonl alone: names of nodes and ids of jobs are in logs/ and in the names of its files, \
in what --sbatch=--nodelist=… says in records.sbatch, and of hosts in ssh's messages; anonymous.key finds them again.\n";

/// The folder's whole name.
fn folder(into: &Path) -> Result<String> {
    let absolute = std::path::absolute(into).map_err(|e| Error::system("the folder's path", &e, "give it in full"))?;
    let name = absolute.to_str().filter(|name| !name.contains(char::is_control));
    let refused = |why: &str| Error::usage(format!("--into {into:?}: {why}"));
    let name =
        name.ok_or_else(|| refused("scripts and logs cannot show this name; use one of printable characters"))?;
    // slurmctld makes the logs' names absolute and then replaces what is a pattern in them, so that tasks could not start.
    if name.contains(['%', '\\']) {
        return Err(refused(
            "Slurm reads % and \\ in the path of a job's logs as patterns; use a path without",
        ));
    }
    Ok(name.to_owned())
}

fn work(args: &PlanArgs, planned: &Planned) -> Result<Work> {
    let JobKind::Sweep(sweep) = &planned.kind else {
        if args.shards.is_some() {
            return Err(Error::usage(
                "fleet plan: --shards is for `simulate`; records are one for each node, so give --nodes",
            ));
        }
        if args.nodes.is_none() && !args.sbatch.iter().any(|o| sbatch::is_nodelist(o)) {
            return Err(Error::usage(
                "fleet plan: no nodes given; pass --nodes N, or their names by --sbatch=--nodelist=NAMES",
            ));
        }
        return Ok(Work::Records { nodes: args.nodes });
    };
    let points = sweep.points();
    let default = args.nodes.map_or(SHARDS, |n| n.saturating_mul(SHARDS_PER_NODE));
    let asked = args.shards.unwrap_or(default);
    let shards = u32::try_from(points).unwrap_or(u32::MAX).min(asked);
    if shards < asked && args.shards.is_some() {
        tell(&format!(
            "the sweep has {points} points, so there are {shards} shards and not {asked}"
        ));
    }
    Ok(Work::Sweep {
        shards,
        points,
        sweep: sweep.clone(),
    })
}

/// The program that the nodes run.
fn program(given: Option<&Path>) -> Result<String> {
    let path = match given {
        // A bare name is looked up where the task runs.
        Some(name) if name.to_string_lossy().starts_with('-') => {
            return Err(Error::usage(format!(
                "--program {name:?} begins with -, which is an option for a shell; write ./ before it"
            )));
        }
        Some(name) if name.components().count() == 1 && !name.is_absolute() && !name.starts_with(".") => {
            name.to_owned()
        }
        Some(path) => {
            std::path::absolute(path).map_err(|e| Error::system("the program's path", &e, "give it in full"))?
        }
        None => std::path::absolute(planned::cyclewise()?)
            .map_err(|e| Error::system("the path of cyclewise", &e, "give it by --program PATH"))?,
    };
    if path.is_absolute() {
        match path.metadata() {
            Ok(found) if found.is_dir() => {
                return Err(Error::usage(format!(
                    "--program {path:?} is a folder; name the program"
                )));
            }
            Ok(found) if found.permissions().mode() & 0o111 == 0 => {
                return Err(Error::usage(format!(
                    "--program {path:?} may not be run; allow it (chmod +x), or name another"
                )));
            }
            Ok(_) => {}
            Err(_) => tell(&format!("{path:?} is not on this machine; the nodes must have it")),
        }
    }
    let name = path.to_str().map(str::to_owned);
    name.ok_or_else(|| {
        Error::usage(format!(
            "the program's path {path:?} is not UTF-8; give another by --program PATH"
        ))
    })
}

/// Writes the files, the plan last. Identical existing files are kept.
fn write(dir: &Path, plan: &Plan, files: &[(String, String)], key: Option<&[u8]>) -> Result<()> {
    refuse_other_plan(dir, files)?;
    let key_file = dir.join(KEY);
    if let Some(key) = key
        && std::fs::read(&key_file).is_ok_and(|found| found != key)
    {
        return Err(another(dir, KEY));
    }
    let folders: &[&str] = match plan.work {
        Work::Sweep { .. } => &["logs", "shards"],
        Work::Records { .. } => &["logs", "nodes", "doctor", "records"],
    };
    let machines = files.iter().any(|(name, _)| name.starts_with(MACHINES));
    for folder in folders.iter().chain(machines.then_some(&MACHINES)) {
        std::fs::create_dir_all(dir.join(folder)).map_err(|e| {
            Error::usage(format!(
                "{}: {e}; name a folder that can be written",
                dir.join(folder).display()
            ))
            .in_one_line()
        })?;
    }
    if let Some(key) = key {
        write_secret(&key_file, key)?;
    }
    for (name, text) in files {
        let path = dir.join(name);
        if std::fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        output::put(&path, text)?;
    }
    Ok(())
}

/// Rejects a folder that has another plan, or results and no plan.
fn refuse_other_plan(dir: &Path, files: &[(String, String)]) -> Result<()> {
    let shown = dir.display();
    let mut planned_before = false;
    for (name, text) in files {
        match std::fs::read(dir.join(name)) {
            Ok(found) if found == text.as_bytes() => planned_before |= name == FILE,
            Ok(_) => {
                return Err(another(dir, name));
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => {
                return Err(Error::usage(format!(
                    "{shown}/{name}: {e}; name a folder that can be read and written"
                )));
            }
        }
    }
    if planned_before {
        return Ok(());
    }
    let is_there =
        |path: &PathBuf| path.is_file() || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    match RESULTS.iter().map(|name| dir.join(name)).find(is_there) {
        None => Ok(()),
        Some(found) => Err(Error::usage(format!(
            "{} is of another job, whose plan is gone; name a new folder by --into",
            found.display()
        ))),
    }
}

fn another(dir: &Path, name: &str) -> Error {
    Error::usage(format!(
        "{} has another {name} already; name a new folder by --into, or remove that file if its job is not needed",
        dir.display()
    ))
}

/// Writes a file that only its owner can read.
fn write_secret(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(path);
    match opened.and_then(|mut file| file.write_all(bytes)) {
        // It has the same bytes.
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(e) => {
            Err(Error::usage(format!("{}: {e}; name a folder that can be written", path.display())).in_one_line())
        }
        Ok(()) => Ok(()),
    }
}

/// What the files do and how each way is started, for the terminal.
fn how_to_start(dir: &str, plan: &Plan) -> Result<String> {
    let script = |name: &str, rest: &str| Ok(format!("{}{rest}\n", command_line(["sh", &format!("{dir}/{name}")])?));
    let what = match &plan.work {
        Work::Sweep { shards, points, .. } => format!("{points} points in {shards} shards of about equal time"),
        Work::Records { nodes: Some(1) } => format!("a {} of one node", plan.product()),
        Work::Records { nodes: Some(n) } => format!("a {} of each of {n} nodes", plan.product()),
        Work::Records { nodes: None } => format!("a {} of each node", plan.product()),
    };
    let mut text = format!("{what}; the job is in {}\n\n", command_line([dir])?);
    text += "With Slurm, which joins at the end:\n    ";
    text += &script("submit", "")?;
    match plan.work {
        Work::Sweep { shards, .. } => {
            text += "On this machine, one shard for each CPU at a time:\n    ";
            text += &script("local", "")?;
            text += "On machines that see the folder, with GNU parallel:\n    ";
            text += &format!(
                "cd -P -- {} && seq {shards} | parallel --sshlogin host1,host2 --workdir \"$PWD\" sh array.sbatch {{}}\n",
                command_line([dir])?
            );
        }
        Work::Records { .. } => {
            text += "On this machine alone, or over ssh on machines that see the folder:\n    ";
            text += &script("local", " [host1 host2 ...]")?;
        }
    }
    text += "What is there and what is missing, at any time:\n    ";
    text += &format!("cyclewise fleet join {}\n", command_line([dir])?);
    Ok(text)
}
