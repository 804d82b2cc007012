//! What `install-docs` writes is read by the programs that it is for: three shells, and `man`.

#[macro_use]
extern crate cyclewise_bench;

mod common;

use common::{Folder, cyclewise, text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BASH: &str = "share/bash-completion/completions/cyclewise";
const ZSH: &str = "share/zsh/site-functions/_cyclewise";
const FISH: &str = "share/fish/vendor_completions.d/cyclewise.fish";

/// The files that were written.
fn installed(folder: &Folder) -> Vec<PathBuf> {
    let output = cyclewise(&["install-docs", "--prefix", &folder.name("")]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(PathBuf::from).collect()
}

/// Runs a program that may not be here. `None`, with a line on why, where it is not; in CI it has to be.
fn run(command: &mut Command) -> Option<Output> {
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            skip(&command.get_program().display().to_string(), &error.to_string());
            None
        }
    }
}

fn skip(program: &str, why: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{program}: {why}");
    println!("skipped: {program}: {why}");
}

#[test]
fn every_file_is_where_it_says() {
    let folder = Folder::new();
    let files = installed(&folder);
    for name in [
        BASH,
        ZSH,
        FISH,
        "share/man/man1/cyclewise.1",
        "share/man/man1/cyclewise-run.1",
    ] {
        assert!(files.contains(&folder.path(name)), "{name} in {files:?}");
    }
    for file in &files {
        assert!(file.is_file(), "{}", file.display());
    }
    // Again, over the first; nothing else is left there.
    assert_eq!(installed(&folder), files);
    let man = std::fs::read_dir(folder.path("share/man/man1")).unwrap().count();
    assert_eq!(man + 3, files.len());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = Folder::new();
    let file = folder.with("file", "");
    let (status, line) = common::refused(&["install-docs", "--prefix", &file]);
    assert_eq!(status, 2);
    assert!(line.contains(&file) && line.contains("--prefix"), "{line}");
    assert_eq!(common::refused(&["completions", "ksh"]).0, 2);
}

#[test]
fn each_shell_parses_its_script() {
    let folder = Folder::new();
    installed(&folder);
    for (shell, option, file) in [("bash", "-n", BASH), ("zsh", "-n", ZSH), ("fish", "--no-execute", FISH)] {
        let printed = cyclewise(&["completions", shell]);
        assert_eq!(text(&printed.stdout), folder.read(file), "{shell}");
        // And the twin: it would have noticed.
        let broken = folder.with("broken", &format!("{}\nif \"", folder.read(file)));
        for (file, parses) in [(folder.name(file), true), (broken, false)] {
            let Some(output) = run(Command::new(shell).arg(option).arg(&file)) else {
                continue;
            };
            assert_eq!(
                output.status.success(),
                parses,
                "{shell} {file}: {}",
                text(&output.stderr)
            );
        }
    }
}

/// What bash offers for each line, whose last word is unfinished.
fn offered(script: &Path, lines: &[Vec<String>]) -> Option<Vec<BTreeSet<String>>> {
    // A script for a bash without settings; words come in as arguments, so nothing in them is expanded.
    let program = r#"
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
        _cyclewise cyclewise "${@: -1}" "${@: -2:1}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let offer = |words: &Vec<String>| {
        let mut bash = Command::new("bash");
        bash.args(["--norc", "--noprofile", "-c", program, "bash"]);
        let output = run(bash.arg(script).args(words))?;
        assert!(output.stderr.is_empty(), "{words:?}: {}", text(&output.stderr));
        Some(text(&output.stdout).split_whitespace().map(String::from).collect())
    };
    lines.iter().map(offer).collect()
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(String::from).collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn bash_offers_subcommands_options_and_names() {
    let folder = Folder::new();
    installed(&folder);
    let lines = [
        ("cyclewise do", &["doctor"][..]),
        ("cyclewise run --qu", &["--quick"]),
        ("cyclewise run --quick lock-p", &["lock-prefix", "lock-prefix-ring0"]),
        ("cyclewise run --test ", &["median", "welch"]),
        ("cyclewise completions ", &["bash", "fish", "zsh"]),
        // The lab's own, which no help shows.
        ("cyclewise run --run-", &[]),
    ];
    let asked: Vec<_> = lines.iter().map(|(line, _)| words(line)).collect();
    let Some(found) = offered(&folder.path(BASH), &asked) else {
        return;
    };
    for ((line, expected), mut found) in lines.iter().zip(found) {
        if expected.len() == 3 {
            found.retain(|word| !word.starts_with('-'));
        }
        assert_eq!(found, set(expected), "{line}");
    }
}

/// The long options in a subcommand's help.
fn in_help(subcommand: &[&str]) -> BTreeSet<String> {
    let help = text(&cyclewise(&[subcommand, &["--help"]].concat()).stdout);
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let long = lines.filter_map(|line| line.split([' ', ',', '=', '[']).find(|word| word.starts_with("--")));
    long.map(String::from).collect()
}

/// The options in the help of a subcommand that bash does not offer.
fn not_offered(script: &Path, subcommand: &[&str]) -> Option<BTreeSet<String>> {
    let line = [&["cyclewise"], subcommand, &["--"]].concat().join(" ");
    let found = offered(script, &[words(&line)])?.remove(0);
    Some(in_help(subcommand).difference(&found).cloned().collect())
}

#[test]
fn every_option_of_every_subcommand_is_offered() {
    let folder = Folder::new();
    let files = installed(&folder);
    let pages: Vec<_> = files
        .iter()
        .filter_map(|file| file.to_str()?.strip_suffix(".1")?.rsplit_once('/'))
        .collect();
    let mut options = 0;
    // The options of other programs are in their help.
    for (_, page) in pages.into_iter().filter(|(_, page)| !OTHER_PROGRAMS.contains(page)) {
        let subcommand: Vec<_> = subcommand_of(page);
        let Some(missing) = not_offered(&folder.path(BASH), &subcommand) else {
            return;
        };
        assert!(missing.is_empty(), "{page}: {missing:?}");
        options += in_help(&subcommand).len();
    }
    assert!(options > 60, "{options}");
}

/// The twin: an option that is left out of the script is missed.
#[test]
fn an_option_that_is_not_offered_is_noticed() {
    let folder = Folder::new();
    installed(&folder);
    folder.with("broken", &folder.read(BASH).replace(" --quick ", " "));
    let Some(missing) = not_offered(&folder.path("broken"), &["run"]) else {
        return;
    };
    assert_eq!(missing, set(&["--quick"]));
}

/// Pages of subcommands that start another program.
const OTHER_PROGRAMS: &[&str] = &["cyclewise-simulate", "cyclewise-recommend"];

/// The words of `cyclewise-simulate-fit`. One name has a dash of its own.
fn subcommand_of(page: &str) -> Vec<&str> {
    match page.strip_prefix("cyclewise-") {
        None => Vec::new(),
        Some("install-docs") => vec!["install-docs"],
        Some(words) => words.split('-').collect(),
    }
}

#[test]
fn every_subcommand_has_its_page_or_is_a_program_that_has() {
    let folder = Folder::new();
    let files = installed(&folder);
    let help = text(&cyclewise(&["--help"]).stdout);
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let names = commands.lines().take_while(|line| !line.is_empty());
    // A line that goes on further right belongs to the name above it.
    let names = names.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<_> = names.filter(|name| !name.is_empty() && *name != "help").collect();
    assert!(names.contains(&"run") && names.len() > 10, "{names:?}");
    for name in names {
        let page = folder.path(&format!("share/man/man1/cyclewise-{name}.1"));
        // Two are programs of that name, which have this page.
        assert_eq!(files.contains(&page), !["locks", "fleet"].contains(&name), "{name}");
    }
}

/// What `man` says about a page besides showing it.
fn warnings(page: &Path) -> Option<String> {
    let mut man = Command::new("man");
    man.args(["--warnings", "--encoding=UTF-8", "--local-file"]).arg(page);
    // Not as wide as a terminal may be, and no wider than its longest word.
    let output = run(man.env("MANWIDTH", "100").env("LC_ALL", "C.UTF-8"))?;
    let shown = text(&output.stdout);
    if shown.contains("has been minimized") {
        skip("man", "this system has had its man replaced by a notice");
        return None;
    }
    assert!(
        output.status.success() && shown.contains("NAME"),
        "{}: {shown}",
        page.display()
    );
    Some(text(&output.stderr))
}

#[test]
fn man_shows_every_page_without_a_warning() {
    let folder = Folder::new();
    for page in installed(&folder)
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "1"))
    {
        let Some(said) = warnings(page) else { return };
        assert_eq!(said, "", "{}", page.display());
    }
}

/// The twin: a page with a macro that there is not.
#[test]
fn a_warning_of_man_is_noticed() {
    let folder = Folder::new();
    installed(&folder);
    let page = folder.read("share/man/man1/cyclewise.1");
    folder.with("broken.1", &format!("{page}\n.NOSUCHMACRO\n"));
    let Some(said) = warnings(&folder.path("broken.1")) else {
        return;
    };
    assert_says!(said, "NOSUCHMACRO");
}
