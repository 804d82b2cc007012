//! Options of sbatch that the user adds to a job.

use crate::error::{Error, Result};

/// Those that the job's own files set or rely on.
const OURS: &[&str] = &[
    "--array",
    "--chdir",
    "--dependency",
    "--error",
    "--exclusive",
    "--kill-on-invalid-dep",
    "--no-kill",
    "--no-requeue",
    "--nodes",
    "--ntasks",
    "--ntasks-per-node",
    "--open-mode",
    "--output",
    "--parsable",
    "--requeue",
    "--test-only",
    "--wait",
    "--wrap",
];

/// Their letters.
const OUR_LETTERS: &[char] = &['a', 'D', 'd', 'e', 'k', 'N', 'n', 'o', 'W'];

/// Those that say who pays and where to run, which every job of a cluster may need.
const FOR_EVERY_JOB: &[&str] = &[
    "--account",
    "--clusters",
    "--comment",
    "--mail-type",
    "--mail-user",
    "--partition",
    "--qos",
    "--reservation",
    "--wckey",
    "-A",
    "-M",
    "-p",
    "-q",
];

/// Rejects an option that the job sets itself, and a text that is no option.
///
/// # Errors
/// Exit 2.
pub(super) fn check(option: &str) -> Result<()> {
    let refuse = |why: String| Err(Error::usage(format!("fleet plan --sbatch {option:?}: {why}")));
    if option.contains(char::is_control) {
        return refuse("it has a control character; write one option in one line".to_owned());
    }
    let name = name(option);
    let is_ours = match name.strip_prefix("--") {
        Some("") | None => name.len() < 2 || !name.starts_with('-') || name[1..].starts_with(OUR_LETTERS),
        // sbatch takes the beginning of a name for the name.
        Some(_) => OURS.iter().any(|ours| ours.starts_with(name)),
    };
    if !name.starts_with('-') || name.trim_start_matches('-').is_empty() {
        return refuse("it is not an option of sbatch; write for example --sbatch=--partition=batch".to_owned());
    }
    if is_ours {
        let instead = if name.starts_with("--no") || name == "-N" {
            "--nodes of `fleet plan`, or an option whose name is written in full"
        } else {
            "edit the job's files"
        };
        return refuse(format!("the job's files say {name} themselves; use {instead}"));
    }
    Ok(())
}

/// Whether the job that joins gets this option too.
pub(super) fn is_for_every_job(option: &str) -> bool {
    let name = name(option);
    FOR_EVERY_JOB
        .iter()
        .any(|known| name == *known || (!known.starts_with("--") && name.starts_with(known)))
}

/// Whether it names the nodes.
pub(super) fn is_nodelist(option: &str) -> bool {
    let name = name(option);
    ["--nodelist", "--nodefile"].contains(&name) || name.starts_with("-w") || name.starts_with("-F")
}

fn name(option: &str) -> &str {
    option.split(['=', ' ', '\t']).next().unwrap_or(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_the_job_relies_on_are_refused_and_others_taken() {
        for bad in [
            "--array=1-3",
            "--arr=1-3",
            "-a 1-3",
            "-a1-3",
            "--output=x",
            "-o x",
            "--wait",
            "-W",
            "--requeue",
            "--no-requeue",
            "--ntasks=2",
            "-n2",
            "--nodes 3",
            "-N3",
            "--exclusive",
            "--chdir=/",
            "-D /",
            "partition=x",
            "",
            "-",
            "--",
            "x",
            "--comment=a\nb",
            "--comment=a\u{1b}[2J",
            "--no",
        ] {
            let error = check(bad).map_err(|e| e.message);
            assert!(error.is_err(), "{bad:?} was taken");
            assert!(!error.unwrap_err().contains(char::is_control), "{bad:?}");
        }
        for good in [
            "--partition=batch",
            "-p batch",
            "-pbatch",
            "--cpus-per-task=8",
            "-c 8",
            "--time=1:00:00",
            "-t 10",
            "--mem=0",
            "--nodelist=n[1-4]",
            "-w n1",
            "--exclude=n1",
            "--comment=two words # and \"quotes\"",
            "--gres=gpu:1",
            "-C avx512",
        ] {
            check(good).unwrap_or_else(|e| panic!("{good:?}: {e}"));
        }
    }

    #[test]
    fn the_join_gets_who_pays_and_where() {
        for option in ["--partition=batch", "-p batch", "-pbatch", "--account x", "-Ax"] {
            assert!(is_for_every_job(option), "{option}");
        }
        for option in [
            "--nodelist=n1",
            "-w n1",
            "--cpus-per-task=8",
            "--time=1",
            "--partition-x",
        ] {
            assert!(!is_for_every_job(option), "{option}");
        }
    }
}
