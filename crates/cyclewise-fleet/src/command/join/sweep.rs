//! Joins the shards of a sweep, or says what is missing and how to make it.

use super::{folder_word, named, problem, say, target};
use crate::command::cli::JoinArgs;
use crate::error::{Error, Result};
use crate::export::job::{LAST_OF_ARRAY, command_line};
use crate::files;
use crate::files::shards::{self, Survey};
use crate::record::plan::Plan;
use cyclewise_report::files::output;
use cyclewise_sim::export::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(super) fn join(args: &JoinArgs, plan: Option<&Plan>) -> Result<()> {
    let target = target::named(args.json.as_ref(), &args.dir, "joined.json");
    target::check(&args.dir, &target, &files::input::is_whole_sweep)?;
    let survey = shards::survey(&args.dir, plan)?;
    let missing: Vec<u32> = survey.missing().collect();
    let said = findings(&survey, &missing);
    if missing.is_empty() {
        write(&survey, &target)?;
    }
    let rest = match (missing.is_empty(), plan) {
        (true, _) if target == Path::new("-") => String::new(),
        (true, _) => format!("wrote {}\n", target.display()),
        (false, Some(_)) if survey.refused.is_empty() => {
            how_to_remove(&args.dir, survey.claims.values().flatten())? + &how_to_make(&args.dir, &missing)?
        }
        (false, Some(_)) => refused(&args.dir, &survey)?,
        (false, None) => {
            how_to_remove(&args.dir, survey.claims.values().flatten())?
                + "Make them by `simulate --shard I/N` with the same arguments\n"
        }
    };
    say(&(said + &rest), &target)?;
    match missing.len() {
        0 => Ok(()),
        n => Err(Error::check(format!(
            "{}: {n} of {} shards are missing, so nothing was joined",
            args.dir.display(),
            survey.count
        ))
        .in_one_line()),
    }
}

/// What was found, and each thing that is wrong on its line.
fn findings(survey: &Survey, missing: &[u32]) -> String {
    let mut text = format!(
        "{} of {} shards are whole: a sweep of {} points\n",
        survey.found.len(),
        survey.count,
        survey.sweep.points()
    );
    let gone = missing
        .iter()
        .map(|n| format!("missing: shard {n} of {}", survey.count));
    let wrong = survey.problems.iter().map(problem);
    let left = survey
        .left_over
        .iter()
        .map(|name| format!("ignored: {name}: a task that did not end left it, or is still running"));
    text += &named(gone.chain(wrong).chain(left));
    text
}

/// The commands that make these shards and no others.
fn how_to_make(dir: &Path, missing: &[u32]) -> Result<String> {
    let dir = folder_word(dir)?;
    let mut text = String::from("Make what is missing with Slurm, then join again:\n");
    for block in missing.chunk_by(|a, b| (a - 1) / LAST_OF_ARRAY == (b - 1) / LAST_OF_ARRAY) {
        let offset = (block[0] - 1) / LAST_OF_ARRAY * LAST_OF_ARRAY;
        let argument = if offset == 0 {
            String::new()
        } else {
            format!(" +{offset}")
        };
        let indices: Vec<u32> = block.iter().map(|n| n - offset).collect();
        let _ = writeln!(
            text,
            "    cd {dir} && sbatch --array={} array.sbatch{argument}",
            ranges(&indices)
        );
    }
    // It leaves the shards that are whole.
    let _ = writeln!(text, "or on this machine:\n    cd {dir} && sh local");
    Ok(text)
}

/// The command that removes these files, if there are any.
fn how_to_remove<'a>(dir: &Path, files: impl Iterator<Item = &'a PathBuf>) -> Result<String> {
    let names = files.map(|file| file.strip_prefix(dir).unwrap_or(file).to_string_lossy());
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        return Ok(String::new());
    }
    let names = command_line(names)?;
    Ok(format!(
        "Remove them first:\n    cd {} && rm -- {names}\n",
        folder_word(dir)?
    ))
}

/// What to do about shards that a task would leave as they are and that are not the plan's.
fn refused(dir: &Path, survey: &Survey) -> Result<String> {
    let planned = survey.tool.shown();
    let other = survey.refused.iter().find(|(_, _, tool)| *tool != survey.tool);
    let text = match other {
        Some((_, _, tool)) => format!(
            "The plan is of cyclewise {planned}, and shards are of {}, so tasks make shards that do not fit: give the program of \
             {planned} by `fleet plan --program`, or plan again in a new folder.\nIf the tasks run {planned} again, start them after this.\n",
            tool.shown()
        ),
        None => "Shards are of another sweep than the plan, so tasks make shards that do not fit: a machine's file, a script or the plan \
                 was modified. Plan again in a new folder.\nIf the files are as planned again, start the tasks after this.\n"
            .to_owned(),
    };
    let files = survey.refused.iter().map(|(_, file, _)| file);
    Ok(text + &how_to_remove(dir, files.chain(survey.claims.values().flatten()))?)
}

/// Ascending numbers as sbatch reads them: `3,17,40-42`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let run = |run: &[u32]| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    };
    runs.map(run).collect::<Vec<_>>().join(",")
}

/// Writes the whole sweep.
fn write(survey: &Survey, target: &Path) -> Result<()> {
    let head = json::simulation_head(&survey.tool, &survey.sweep, None)?;
    output::stream(target, &|out| {
        out.write_all(head.as_bytes())?;
        shards::merge(survey, |point, line| {
            out.write_all(json::point_separator(point).as_bytes())?;
            out.write_all(line)
        })?;
        out.write_all(json::SIMULATION_END.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_sbatch_reads_them() {
        assert_eq!(ranges(&[3, 17, 40, 41, 42]), "3,17,40-42");
        assert_eq!(ranges(&[1, 2]), "1-2");
        assert_eq!(ranges(&[7]), "7");
    }

    #[test]
    fn later_thousands_are_arrays_with_an_offset() {
        let text = how_to_make(Path::new("/a b"), &[1, 2, 1000, 1001, 2500]).unwrap();
        assert_says!(
            text,
            "    cd '/a b' && sbatch --array=1-2,1000 array.sbatch\n",
            "    cd '/a b' && sbatch --array=1 array.sbatch +1000\n",
            "    cd '/a b' && sbatch --array=500 array.sbatch +2000\n"
        );
    }
    #[test]
    fn lines_are_short_however_many_are_missing() {
        let pairs_and_singles: [Vec<u32>; 3] = [
            (1..=100_000).collect(),
            (1..=100_000).filter(|n| n % 2 == 0).collect(),
            (1..=100_000).filter(|n| n % 3 > 0).collect(),
        ];
        for missing in pairs_and_singles {
            let text = how_to_make(Path::new("/a"), &missing).unwrap();
            assert_eq!(text.lines().filter(|line| line.contains("sbatch ")).count(), 100);
            assert!(text.lines().all(|line| line.len() < 3000), "a line is long");
            assert!(text.ends_with("    cd /a && sh local\n"), "{text}");
        }
    }
}
