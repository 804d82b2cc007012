//! Joins the shards of a sweep, or says what is missing and how to make it.

use crate::command::cli::JoinArgs;
use crate::command::output;
use crate::error::{Error, Result};
use crate::export::job::{LAST_OF_ARRAY, command_line};
use crate::export::json;
use crate::fleet::shards::{self, Survey};
use crate::record::fleet::ProblemKind;
use crate::record::plan::Plan;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The most shards or files that are named one on a line; the commands have all.
const NAMED: usize = 1000;

pub(super) fn join(args: &JoinArgs, plan: Option<&Plan>) -> Result<()> {
    let survey = shards::survey(&args.dir, plan)?;
    let missing: Vec<u32> = survey.missing().collect();
    let target = args.json.clone().unwrap_or_else(|| args.dir.join("joined.json"));
    let on_stdout = target == Path::new("-");
    let said = findings(&survey, &missing);
    if missing.is_empty() {
        write(&survey, &target)?;
    }
    let said = match (missing.is_empty(), plan) {
        (true, _) if on_stdout => said,
        (true, _) => format!("{said}wrote {}\n", target.display()),
        (false, Some(_)) => said + &how_to_make(&args.dir, &missing)?,
        (false, None) => said + "Make them by `simulate` with the same arguments and --shard\n",
    };
    if on_stdout {
        crate::command::progress::tell(said.trim_end());
    } else {
        output::put(Path::new("-"), &said)?;
    }
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
        "{} of {} shards by {} are whole: a sweep of {} points\n",
        survey.found.len(),
        survey.count,
        survey.by.name(),
        survey.sweep.points()
    );
    let gone = missing
        .iter()
        .map(|n| format!("missing: shard {n} of {}", survey.count));
    let wrong = survey
        .problems
        .iter()
        .map(|p| format!("{}: {}: {}", kind(p.kind), p.name, p.why));
    let left = survey
        .left_over
        .iter()
        .map(|name| format!("ignored: {name}: a task that did not end left it"));
    let mut lines = gone.chain(wrong).chain(left);
    for line in lines.by_ref().take(NAMED) {
        let _ = writeln!(text, "{line}");
    }
    let more = lines.count();
    if more > 0 {
        let _ = writeln!(text, "and {more} more lines such as these");
    }
    text
}

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

/// The commands that make these shards and no others.
fn how_to_make(dir: &Path, missing: &[u32]) -> Result<String> {
    let dir = std::path::absolute(dir).map_err(|e| Error::system("the folder's path", &e, "give it in full"))?;
    let dir = command_line([dir.to_string_lossy()])?;
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
    let numbers: Vec<String> = missing.iter().map(u32::to_string).collect();
    let _ = writeln!(
        text,
        "or on this machine:\n    cd {dir} && for i in {}; do sh array.sbatch $i; done",
        numbers.join(" ")
    );
    Ok(text)
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

/// Writes the whole sweep to a new file, which then takes the target's name.
fn write(survey: &Survey, target: &Path) -> Result<()> {
    if target == Path::new("-") {
        return write_to(survey, std::io::stdout().lock(), "stdout");
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = target.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let written = write_file(survey, &temporary, target);
    if written.is_err() {
        // The error that is returned says more than this one could.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

fn write_file(survey: &Survey, temporary: &PathBuf, target: &Path) -> Result<()> {
    let name = target.display().to_string();
    let failed = |e: std::io::Error| Error::usage(format!("writing {name}: {e}; name a file that can be written"));
    let file = File::create(temporary).map_err(failed)?;
    write_to(survey, &file, &name)?;
    file.sync_all().map_err(failed)?;
    std::fs::rename(temporary, target).map_err(failed)
}

fn write_to(survey: &Survey, out: impl Write, name: &str) -> Result<()> {
    let failed = |e: std::io::Error| {
        Error::usage(format!(
            "writing {name}: {e}; name a file that can be written, or make space"
        ))
        .in_one_line()
    };
    let mut out = BufWriter::new(out);
    let head = json::simulation_head(&survey.tool, &survey.sweep, None)?;
    out.write_all(head.as_bytes()).map_err(failed)?;
    shards::merge(survey, |point, line| {
        out.write_all(json::point_separator(point).as_bytes()).map_err(failed)?;
        out.write_all(line).map_err(failed)
    })?;
    out.write_all(json::SIMULATION_END.as_bytes()).map_err(failed)?;
    out.flush().map_err(failed)
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
        for line in [
            "    cd '/a b' && sbatch --array=1-2,1000 array.sbatch\n",
            "    cd '/a b' && sbatch --array=1 array.sbatch +1000\n",
            "    cd '/a b' && sbatch --array=500 array.sbatch +2000\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
