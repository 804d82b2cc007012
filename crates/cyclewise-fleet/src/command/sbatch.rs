//! Options of sbatch that the user adds to a job.

use crate::error::{Error, Result};

/// Those that the job's own files set or rely on. As a call of sbatch, since no option of this program is meant.
const OURS: &str = "sbatch --array --chdir --dependency --error --exclusive --help --kill-on-invalid-dep --no-kill --no-requeue \
    --nodes --ntasks --ntasks-per-node --open-mode --output --parsable --requeue --test-only --usage --version \
    --wait --wrap";

const OUR_LETTERS: &[char] = &['a', 'D', 'd', 'e', 'h', 'k', 'N', 'n', 'o', 'V', 'W'];

/// Letters without a value, after which others may follow in one word: `get_optstring` of Slurm's `src/common/slurm_opt.c`.
const FLAGS: &[char] = &['H', 'I', 'O', 'Q', 's', 'u', 'v'];

/// Those that this program looks for, so that their names must be whole.
const NODES: [&str; 2] = ["--nodefile", "--nodelist"];

/// Account and placement options, which every job of a cluster may need.
const FOR_EVERY_JOB: &str =
    "sbatch --account --clusters --comment --mail-type --mail-user --partition --qos --reservation --wckey -A -M -p -q";

/// Rejects an option that the job sets itself, and anything that is not an option.
///
/// # Errors
/// Exit 2.
pub(super) fn check(option: &str) -> Result<()> {
    let refuse = |why: String| Err(Error::usage(format!("fleet plan --sbatch {option:?}: {why}")));
    if option.contains(char::is_control) {
        return refuse("it has a control character; write one option in one line".to_owned());
    }
    let name = name(option);
    if !is_option(name) {
        return refuse("it is not an option of sbatch; write for example --sbatch=--partition=batch".to_owned());
    }
    let ours = if name.starts_with("--") {
        // sbatch takes the beginning of a name for the name.
        OURS.split(' ').find(|ours| ours.starts_with(name)).map(str::to_owned)
    } else {
        letters(name).find(|c| OUR_LETTERS.contains(c)).map(|c| format!("-{c}"))
    };
    if let Some(ours) = ours {
        let instead = match ours.as_str() {
            "--nodes" | "-N" => "give --nodes to `fleet plan`, or write another option's name in full",
            _ => "leave it out, and edit the job's files if they must say otherwise",
        };
        return refuse(format!(
            "the generated scripts already set {ours}, or rely on it; {instead}"
        ));
    }
    // Whether it is for the join too is known of whole names.
    let whole = FOR_EVERY_JOB
        .split(' ')
        .chain(NODES)
        .find(|whole| whole.starts_with("--") && whole.starts_with(name));
    match whole {
        Some(whole) if whole != name && name.starts_with("--") => {
            refuse(format!("write the name in full: {whole}, if you mean that"))
        }
        _ if letters(name).count() > 1 => {
            refuse("write each option by itself: --sbatch=-H --sbatch=-pbatch".to_owned())
        }
        _ => Ok(()),
    }
}

/// Whether it may be the name of an option: `--words-of-letters`, or `-` and a letter.
fn is_option(name: &str) -> bool {
    match name.strip_prefix("--") {
        Some(long) => {
            long.starts_with(|c: char| c.is_ascii_lowercase())
                && long
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        }
        None => name
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic())),
    }
}

/// The letters of a word of short options, as far as the first that has a value; none of a long option.
fn letters(name: &str) -> impl Iterator<Item = char> + '_ {
    let short = name
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'))
        .unwrap_or_default();
    let flags = short.find(|c| !FLAGS.contains(&c)).unwrap_or(short.len());
    short.chars().take(flags + 1)
}

/// Whether the job that joins gets this option too.
pub(super) fn is_for_every_job(option: &str) -> bool {
    let name = name(option);
    FOR_EVERY_JOB
        .split(' ')
        .any(|known| name == known || (!known.starts_with("--") && name.starts_with(known)))
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
        for bad in "--array=1-3|--arr=1-3|-a 1-3|-a1-3|--output=x|-o x|--wait|-W|--requeue|--no-requeue|--ntasks=2|-n2\
         |--nodes 3|-N3|--exclusive|--help|--chdir=/|-D /|partition=x||-|--|x|--comment=a\nb|--comment=a\u{1b}[2J\
         |--no|-HN4|-Qa1|-HpN|---x|--Array=1|--help|--usage|-h|-V|-é|-1|--part=batch|--acc=phys|--nodel=n1"
            .split('|')
        {
            let error = check(bad).map_err(|e| e.message);
            assert!(error.is_err(), "{bad:?} was taken");
            assert!(!error.unwrap_err().contains(char::is_control), "{bad:?}");
        }
        for good in
            "--partition=batch|-p batch|-pbatch|--cpus-per-task=8|-c 8|--time=1:00:00|-t 10|--mem=0|--nodelist=n[1-4]\
         |-w n1|--exclude=n1|--comment=two words # and \"quotes\"|--gres=gpu:1|-C avx512|-H|-wn1|--licenses=a:1"
                .split('|')
        {
            check(good).unwrap_or_else(|e| panic!("{good:?}: {e}"));
        }
    }

    #[test]
    fn the_join_gets_who_pays_and_where() {
        for option in ["--partition=batch", "-p batch", "-pbatch", "--account x", "-Ax"] {
            assert!(is_for_every_job(option), "{option}");
        }
        for option in "--nodelist=n1|-w n1|--cpus-per-task=8|--time=1|--partition-x".split('|') {
            assert!(!is_for_every_job(option), "{option}");
        }
    }
}
