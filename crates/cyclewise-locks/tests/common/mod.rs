//! What the tests of the emulator share: programs that are compiled for them, and runs of those.
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of it")]

mod executable;
pub mod long;
pub mod signals;

pub(crate) use executable::{copy_executable, write_executable};

use cyclewise_locks::counts::{Arch, Counts, Process, Site};
use cyclewise_locks::emulator::{self, Emulator, Settings};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The emulator of this machine's programs; `None`, with the reason printed, where a test has to be skipped.
pub fn emulator() -> Option<Emulator> {
    static FOUND: OnceLock<Option<Emulator>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            if !cfg!(target_arch = "x86_64") {
                println!("skipped: the programs of these tests are for x86-64");
                return None;
            }
            emulator::find(Arch::X86_64)
                .inspect_err(|error| println!("skipped: {error}"))
                .ok()
        })
        .clone()
}

/// A program of `tests/emulator/programs`, compiled into `folder`.
pub fn compile(folder: &Path, source: &str, options: &[&str]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/emulator/programs")
        .join(source);
    let program = folder.join(source.file_stem().unwrap());
    let rust = source.extension().is_some_and(|e| e == "rs");
    let mut command = if rust {
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--edition=2024", "-Copt-level=2", "-Cdebuginfo=0"]);
        rustc
    } else {
        let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        cc.args(["-O1", "-Wall", "-pthread"]);
        cc
    };
    command.args(options).arg("-o").arg(&program).arg(&source);
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(program)
        }
        Err(error) => {
            println!(
                "skipped: {} cannot be started: {error}",
                command.get_program().display()
            );
            None
        }
    }
}

/// A program that is compiled in a folder of its own, and the emulator that counts it.
pub fn compiled(source: &str, options: &[&str]) -> Option<(Emulator, TempDir, PathBuf)> {
    let emulator = emulator()?;
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), source, options)?;
    Some((emulator, folder, program))
}

/// Counts a program whose output is captured.
pub fn count_with(
    emulator: &Emulator,
    settings: &Settings,
    program: impl AsRef<Path>,
    arguments: &[&str],
) -> (Output, Counts) {
    let folder = emulator::prepare_folder(emulator, settings).unwrap();
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let mut command = folder
        .runner()
        .unwrap()
        .command(program.as_ref().as_os_str(), &arguments)
        .unwrap();
    let output = command.output().unwrap();
    (output, emulator::collect(folder.path()).unwrap())
}

/// Counts a program that has to succeed.
pub fn count(emulator: &Emulator, program: impl AsRef<Path>, arguments: &[&str]) -> (String, Counts) {
    let (output, counts) = count_with(emulator, &Settings::default(), program, arguments);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}: {said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(counts.missing, Vec::<String>::new());
    (said, counts)
}

/// Where each symbol is in the file.
pub fn symbols(program: &Path) -> BTreeMap<String, u64> {
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let place = |symbol: &object::Symbol<'_, '_>| {
        let section = file.section_by_index(symbol.section_index()?).ok()?;
        let inside = symbol.address().checked_sub(section.address())?;
        Some((symbol.name().ok()?.to_owned(), section.file_range()?.0 + inside))
    };
    file.symbols().filter_map(|s| place(&s)).collect()
}

/// Where in its file a site is; none in generated code.
pub fn offset_of(process: &Process, site: &Site) -> Option<u64> {
    let mapping = &process.mappings[site.mapping? as usize];
    Some(site.address - mapping.start + mapping.offset)
}

/// The sites of the program's own file that are at `offset`.
pub fn sites_at(process: &Process, offset: u64) -> impl Iterator<Item = &Site> {
    process.sites.iter().filter(move |site| {
        let own = site.mapping.map(|m| &process.mappings[m as usize].path) == Some(&process.program);
        own && offset_of(process, site) == Some(offset)
    })
}

/// Whether the counts of the process are those that the program printed, a label and a number a line.
pub fn compare(process: &Process, symbols: &BTreeMap<String, u64>, printed: &str) -> Result<usize, String> {
    let mut lines = 0;
    for line in printed.lines() {
        let (label, number) = line.split_once(' ').ok_or("a line without a number")?;
        let expected: u64 = number.parse().map_err(|_| format!("{line}: no number"))?;
        let offset = *symbols.get(label).ok_or(format!("{label} is no symbol"))?;
        let counted: u64 = sites_at(process, offset).map(Site::total).sum();
        if counted != expected {
            return Err(format!("{label}: counted {counted}, executed {expected}"));
        }
        lines += 1;
    }
    Ok(lines)
}

/// Executions of all sites of a process.
pub fn total(process: &Process) -> u64 {
    process.sites.iter().map(Site::total).sum()
}
