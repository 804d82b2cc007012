//! `cyclewise run --object`: benchmarks of a shared object in C or C++, measured by the harness as a Rust program's are.
//!
//! The command line is the harness's own: what does not name the object goes to it unread.

use crate::error::{Error, Result};
use crate::sys::bench_object::{self, Benchmark, Loops, Refused, VERSION};
use crate::sys::{crash, interrupt};
use cyclewise_bench::suite;
use cyclewise_report::files::output::put;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What the harness has for programs of Rust alone: an allocator that counts, what cargo passes, and other builds by cargo.
const NOT_HERE: [&str; 4] = ["--memory-limit", "--bench", "--against", "--fail-on"];

/// Runs the benchmarks, if the command line (with this program's name) is `run` with an object; `None` if it is not.
pub(super) fn start(words: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let (object, rest) = asked(words.skip(1).collect())?;
    let status = object.and_then(|object| run(&object, rest));
    Some(match status {
        Ok(status) => ExitCode::from(status),
        Err(error) => super::failed(&error.in_one_line()),
    })
}

/// The object, and the other words behind `run`.
fn asked(words: Vec<OsString>) -> Option<(Result<PathBuf>, Vec<OsString>)> {
    if words.first().is_none_or(|word| word != "run") {
        return None;
    }
    let (mut objects, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.into_iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_bytes().strip_prefix(b"--object") {
            Some(b"") => objects.push(words.next()),
            Some([b'=', path @ ..]) => objects.push(Some(std::ffi::OsStr::from_bytes(path).to_os_string())),
            _ => rest.push(word),
        }
    }
    let object = match &objects[..] {
        [] => return None,
        [Some(path)] if !path.is_empty() => Ok(PathBuf::from(path)),
        [_] => Err(Error::usage(
            "--object names no file; give it a shared object, such as ./mine.so",
        )),
        _ => Err(Error::usage(
            "--object is given twice; link what is to be compared into one shared object",
        )),
    };
    Some((object, rest))
}

fn run(path: &Path, rest: Vec<OsString>) -> Result<u8> {
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        put(Path::new("-"), &help())?;
        return Ok(0);
    }
    let is = |word: &OsString, option: &str| word.to_string_lossy().split('=').next() == Some(option);
    if let Some(option) = NOT_HERE.iter().find(|option| rest.iter().any(|word| is(word, option))) {
        return Err(Error::usage(format!("{option} is for programs of Rust; leave it out")));
    }
    let mut groups = groups(load(path)?);
    // The benchmarks of a group may have been left out by the preprocessor.
    groups.retain(|(_, members)| !members.is_empty());
    if groups.is_empty() {
        return Err(no_benchmarks(path));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments = std::iter::once("--bench".into()).chain(rest);
    let status = suite::run(arguments, move |s| {
        s.foreign(name);
        for (group, members) in groups {
            let mut group = s.group(group);
            for (name, loops) in members {
                group = group.bench_compiled(name, loops);
            }
        }
    });
    if interrupt::asked() {
        interrupt::end();
    }
    Ok(status)
}

/// The harness's help, but for its first line and what is not here.
fn help() -> String {
    let options = suite::HELP.split_once('\n').map_or("", |(_, rest)| rest);
    let mut is_left_out = false;
    let options = options.lines().filter(|line| {
        // A line that goes on begins with more space than an option.
        if !line.starts_with("            ") {
            is_left_out = NOT_HERE.iter().any(|option| line.contains(option));
        }
        !is_left_out
    });
    let mut text = "Usage: cyclewise run --object FILE [FILTER]... [OPTION]...\n\n\
                    Measures the benchmarks that <cyclewise/bench.h> has put into a shared object.\n"
        .to_string();
    options.for_each(|line| {
        text.push_str(line);
        text.push('\n');
    });
    text
}

/// The members of each group.
type Groups = Vec<(String, Vec<(String, Loops)>)>;

/// In the order of translation units and of lines. A group may go on in another unit; what is in none is called as its unit.
fn groups(mut benchmarks: Vec<Benchmark>) -> Groups {
    let mut files: Vec<String> = Vec::new();
    for benchmark in &benchmarks {
        if !files.contains(&benchmark.file) {
            files.push(benchmark.file.clone());
        }
    }
    benchmarks.sort_by_key(|b| (files.iter().position(|file| *file == b.file), b.order));
    let mut groups: Groups = Vec::new();
    let mut current: Option<(String, String)> = None;
    for Benchmark { file, name, loops, .. } in benchmarks {
        let group = match (&loops, &current) {
            (None, _) => name.clone(),
            (_, Some((of, group))) if *of == file => group.clone(),
            _ => stem(&file),
        };
        let at = groups.iter().position(|(known, _)| *known == group).unwrap_or_else(|| {
            groups.push((group.clone(), Vec::new()));
            groups.len() - 1
        });
        current = Some((file, group));
        groups[at].1.extend(loops.map(|loops| (name, loops)));
    }
    groups
}

fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Loads the object.
///
/// # Errors
/// Exit 2, in one line: what it is instead, or why it does not load.
fn load(path: &Path) -> Result<Vec<Benchmark>> {
    let shown = path.display();
    let refused = |why: String| Error::usage(format!("--object {shown}: {why}"));
    // The loader searches its folders for a name without a slash.
    let full = path
        .canonicalize()
        .map_err(|e| refused(format!("{e}; name a shared object")))?;
    let mut head = Vec::new();
    File::open(&full)
        .and_then(|file| file.take(64).read_to_end(&mut head))
        .map_err(|e| refused(format!("{e}; name a shared object")))?;
    check_head(&head).map_err(|why| refused(why.to_string()))?;
    let Some(name) = bench_object::path(&full) else {
        return Err(refused("a name with a zero byte cannot be loaded".to_string()));
    };
    crash::listen();
    bench_object::load(&name).map_err(|why| match why {
        Refused::NoTable => no_benchmarks(path),
        Refused::Load(why) => refused(format!("it does not load: {why}")),
        Refused::Version(found) => refused(format!(
            "it was compiled with version {found} of <cyclewise/bench.h>, and this program reads version {VERSION}; \
             compile it with the header of this program"
        )),
        Refused::Size(found) => refused(format!(
            "its table of benchmarks is damaged, since a part of it has {found} bytes; compile it again with <cyclewise/bench.h>"
        )),
    })
}

fn no_benchmarks(path: &Path) -> Error {
    Error::usage(format!(
        "--object {}: it has no benchmarks; include <cyclewise/bench.h>, write CW_BENCH(name, expression) at file scope, and do not hide \
         the symbol cyclewise_bench_table",
        path.display()
    ))
}

/// This machine's number in an ELF header.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

/// Whether a file that begins so is a shared object for this machine; else what it is.
///
/// gABI, ELF header: magic, class and byte order in `e_ident`, `e_type` at 16, `e_machine` at 18.
fn check_head(head: &[u8]) -> std::result::Result<(), &'static str> {
    let how = "it is no shared object; link one with cc -shared -fPIC";
    if !head.starts_with(b"\x7fELF") || head.len() < 20 {
        return Err(how);
    }
    if head[4] != 2 || head[5] != 1 || u16::from_le_bytes([head[18], head[19]]) != MACHINE {
        return Err("it is for another architecture than this program; compile it for this one");
    }
    match u16::from_le_bytes([head[16], head[17]]) {
        1 => Err("it is an object file that is not linked; link it with cc -shared"),
        2 => Err("it is a program and no shared object; link it with cc -shared -fPIC"),
        3 => Ok(()),
        _ => Err(how),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(class: u8, kind: u16, machine: u16) -> Vec<u8> {
        let mut head = vec![0; 64];
        head[..4].copy_from_slice(b"\x7fELF");
        (head[4], head[5]) = (class, 1);
        head[16..18].copy_from_slice(&kind.to_le_bytes());
        head[18..20].copy_from_slice(&machine.to_le_bytes());
        head
    }

    #[test]
    fn a_file_that_is_no_shared_object_of_this_machine_is_refused() {
        assert_eq!(check_head(&head(2, 3, MACHINE)), Ok(()));
        for (head, why) in [
            (b"#!/bin/sh\n".to_vec(), "no shared object"),
            (head(2, 3, MACHINE)[..19].to_vec(), "no shared object"),
            (head(2, 4, MACHINE), "no shared object"),
            (head(2, 1, MACHINE), "not linked"),
            (head(2, 2, MACHINE), "a program"),
            (head(1, 3, MACHINE), "another architecture"),
            (head(2, 3, 243), "another architecture"),
        ] {
            let found = check_head(&head).unwrap_err();
            assert!(found.contains(why), "{found}");
        }
    }

    fn asked_of(line: &str) -> Option<(Result<PathBuf>, String)> {
        let (object, rest) = asked(line.split_whitespace().map(OsString::from).collect())?;
        Some((object, rest.join(" ".as_ref()).into_string().unwrap()))
    }

    #[test]
    fn the_harness_gets_all_but_the_object() {
        for line in ["run --object a.so --quick sum", "run --quick --object=a.so sum"] {
            assert_eq!(asked_of(line), Some((Ok("a.so".into()), "--quick sum".to_string())));
        }
        for line in ["run --object", "run --object=", "run --object a.so --object=b.so"] {
            assert!(asked_of(line).unwrap().0.is_err(), "{line}");
        }
        // The twins: other command lines stay as they are.
        for line in ["", "run --objects a.so --quick", "time --object a.so", "help run"] {
            match asked_of(line) {
                None => {}
                Some(found) => panic!("{line}: {found:?}"),
            }
        }
    }

    fn of(file: &str, order: u32, name: &str) -> Benchmark {
        Benchmark {
            file: file.to_string(),
            order,
            name: name.to_string(),
            loops: None,
        }
    }

    #[test]
    fn groups_stand_in_the_order_of_units_and_lines() {
        let benchmarks = vec![
            of("b.c", 2, "later"),
            of("b.c", 1, "early"),
            of("a.c", 7, "last"),
            of("a.c", 0, "early"),
        ];
        let names: Vec<String> = groups(benchmarks).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["early", "later", "last"]);
        assert_eq!(stem("src/mine.c"), "mine");
    }

    #[test]
    fn the_help_is_the_harness_own_but_for_what_is_not_here() {
        let help = help();
        assert!(help.starts_with("Usage: cyclewise run --object FILE") && help.contains("--call-limit SECONDS"));
        assert!(!help.contains("--memory-limit") && !help.contains("Usage: cargo"));
        assert!(
            !help.contains("half of what is free") && help.contains("other [5]"),
            "{help}"
        );
    }
}
