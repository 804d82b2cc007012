//! Documents are whole or not there: compressed names, and a limit of file sizes.

use super::*;

/// A sweep that takes milliseconds, as JSON to a path.
const SWEEP: &str = "simulate cas-loop --machine thunderx2 --threads 1..16 --ops 50 --json";

fn sweep(path: &str) -> Output {
    cyclewise(&words(&format!("{SWEEP} {path}")))
}

pub(crate) fn files(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path("")).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A shell with a limit of 1024 bytes a file; dash and bash count in blocks of 512 or 1024.
fn limited(path: &str) -> Output {
    super::common::simulator();
    let program = env!("CARGO_BIN_EXE_cyclewise");
    let line = format!("ulimit -f 1 && exec '{program}' {SWEEP} '{path}'");
    Command::new("sh").args(["-c", &line]).output().unwrap()
}

#[test]
fn beyond_a_limit_the_old_document_stays() {
    let folder = Folder::new();
    let path = folder.with("r.json", "old\n");
    let output = limited(&path);
    let said = stderr(&output);
    let line = said.lines().find(|l| l.starts_with("cyclewise:")).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(line.contains("ulimit -f") && line.ends_with("unchanged"), "{line}");
    assert_eq!(
        (files(&folder), folder.read("r.json")),
        (vec!["r.json".to_owned()], "old\n".to_owned())
    );
    // Where there was none, there is none.
    assert_eq!(limited(&folder.name("new.json")).status.code(), Some(3));
    assert_eq!(files(&folder), ["r.json"]);
    // The twin: a program that writes in place.
    let twin = format!("ulimit -f 1; yes new > '{path}'");
    Command::new("sh").args(["-c", &twin]).output().unwrap();
    assert_ne!(folder.read("r.json"), "old\n");
}

#[test]
fn a_name_that_run_took_is_given_back_where_nothing_can_be_written() {
    let folder = Folder::new();
    let program = env!("CARGO_BIN_EXE_cyclewise");
    let line = format!("ulimit -f 1 && exec '{program}' run null-syscall --quick --time 0.3");
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &line]).current_dir(folder.path("")).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let line = said.lines().find(|l| l.starts_with("cyclewise: writing")).unwrap();
    assert_says!(line, "ulimit -f");
    assert!(
        stdout(&output).contains("null-syscall"),
        "the table is printed all the same"
    );
    assert_eq!(files(&folder), [""; 0]);
}

#[test]
fn where_no_file_can_be_made_the_old_one_is_written_in_place() {
    let folder = Folder::new();
    let sub = folder.path("sub");
    std::fs::create_dir(&sub).unwrap();
    let path = sub.join("r.json");
    std::fs::write(&path, "old\n").unwrap();
    let inode = || std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&path).unwrap());
    let before = inode();
    let mode = |mode: u32| std::fs::set_permissions(&sub, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    mode(0o555);
    // In a user namespace root has no power over this folder.
    let mut shell = Command::new("unshare");
    shell.args(["--user", env!("CARGO_BIN_EXE_cyclewise")]);
    shell.args(words(SWEEP));
    let output = shell.arg(&path).output();
    mode(0o755);
    let Ok(output) = output else {
        return println!("skipped: there is no unshare(1)");
    };
    if !stderr(&output).contains("wrote") && stderr(&output).contains("unshare") {
        return println!("skipped: no user namespace here: {}", stderr(&output));
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!((std::fs::read(&path).unwrap(), inode()), (sweep("-").stdout, before));
    assert_eq!(std::fs::read_dir(&sub).unwrap().count(), 1);
}
