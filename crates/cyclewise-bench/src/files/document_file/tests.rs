//! Replacing files: links, modes and pipes, what a failure leaves, and a program that is killed in the middle.

use super::*;
use crate::sys::signal;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use tempfile::TempDir;

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_and_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    write(&path, "first").unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    // Held open, so that the new file cannot have the old one's inode.
    let old = File::open(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write(&path, "second").unwrap();
    let now = fs::metadata(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "second");
    assert_eq!(now.mode() & 0o7777, 0o640);
    assert!(now.ino() != inode && old.metadata().unwrap().nlink() == 0);
    assert_eq!(names(&folder), ["r.json"]);
}

#[test]
fn an_error_of_the_content_is_kept_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    fs::write(&path, "old").unwrap();
    let fails = |out: &mut dyn Write| {
        out.write_all(b"one")?;
        Err(io::Error::other(Error::check("the second part is missing")))
    };
    assert_eq!(
        write_with(&path, &fails),
        Err(Error::check("the second part is missing"))
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(&folder), ["r.json"]);
}

#[test]
fn a_file_keeps_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    fs::write(&path, "old").unwrap();
    if std::os::unix::fs::chown(&path, Some(12_345), Some(54_321)).is_err() {
        return println!("skipped: only root may give a file away");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    write(&path, "new").unwrap();
    let now = fs::metadata(&path).unwrap();
    assert_eq!((now.uid(), now.gid(), now.mode() & 0o7777), (12_345, 54_321, 0o4755));
}

#[test]
fn the_target_of_a_link_is_replaced_and_not_the_link() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("sub/real"), "old").unwrap();
    symlink("sub/real", at("link")).unwrap();
    symlink(at("link"), at("second")).unwrap();
    symlink("new", at("dangling")).unwrap();
    symlink("circle", at("circle")).unwrap();
    write(&at("second"), "text").unwrap();
    write(&at("dangling"), "text").unwrap();
    for name in ["sub/real", "new"] {
        assert_eq!(fs::read_to_string(at(name)).unwrap(), "text", "{name}");
    }
    for name in ["link", "second", "dangling"] {
        assert!(fs::symlink_metadata(at(name)).unwrap().is_symlink(), "{name}");
    }
    let error = write(&at("circle"), "text").unwrap_err();
    assert_says!(error.message, "circle");
}

#[test]
fn what_is_no_file_of_its_own_is_written_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(Path::new("/dev/null"), "text").unwrap();
    fs::write(at("one"), "a longer text").unwrap();
    fs::hard_link(at("one"), at("two")).unwrap();
    write(&at("one"), "text").unwrap();
    assert_eq!(fs::read_to_string(at("two")).unwrap(), "text");
    // As /dev/stdout is of a program whose output goes to a file.
    let open = File::create(at("open")).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    symlink(format!("/proc/self/fd/{number}"), at("stdout")).unwrap();
    write(&at("stdout"), "text").unwrap();
    assert!(open.metadata().unwrap().nlink() == 1 && open.metadata().unwrap().len() == 4);
    let error = write(Path::new("/dev/full"), "text").unwrap_err();
    assert_eq!(error.status, crate::error::Status::Unsupported);
    assert!(error.message.ends_with("not whole"), "{error}");
    assert_says!(error.message, "free space");
}

#[test]
fn names_that_end_in_gz_get_gzip_with_the_same_bytes_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a.json.gz", "b.csv.gz"].map(|name| folder.path().join(name));
    let text = "{\"schema\": 1}\n".repeat(1000);
    for path in [&a, &b] {
        write(path, &text).unwrap();
        assert_eq!(crate::record::read(path).unwrap(), text);
    }
    let packed = fs::read(&a).unwrap();
    assert!(packed.len() < 200 && packed == fs::read(&b).unwrap());
    assert_eq!(packed[3..8], [0; 5], "no name and no time: RFC 1952, section 2.3");
}

/// Where this program, started once more, writes and kills itself, and how.
const VICTIM: &str = "CYCLEWISE_TEST_KILLED";
const OLD: &str = "the old document\n";

fn new() -> String {
    "new ".repeat(10_000)
}

/// Killed between the writing and the rename; its twin writes in place, and is killed in the middle.
fn be_killed(path: &Path, in_place: bool) {
    let text = new();
    if in_place {
        File::create(path).unwrap().write_all(&text.as_bytes()[..5000]).unwrap();
    } else {
        let mut staged = Staged::create(path).unwrap().unwrap();
        staged.file.write_all(text.as_bytes()).unwrap();
        staged.file.sync_all().unwrap();
        signal::raise(libc::SIGKILL);
    }
    signal::raise(libc::SIGKILL);
}

#[test]
fn a_kill_before_the_rename_leaves_the_old_document() {
    if let Some(path) = std::env::var_os(VICTIM) {
        return be_killed(Path::new(&path), std::env::var_os("CYCLEWISE_TEST_IN_PLACE").is_some());
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let test = "files::document_file::tests::a_kill_before_the_rename_leaves_the_old_document";
    let killed = |in_place: bool| {
        fs::write(&path, OLD).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).env(VICTIM, &path);
        if in_place {
            command.env("CYCLEWISE_TEST_IN_PLACE", "1");
        }
        let output = command.output().unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, Some(libc::SIGKILL), "{output:?}");
        fs::read_to_string(&path).unwrap()
    };
    assert_eq!(killed(false), OLD);
    let left = names(&folder);
    assert!(
        left.len() == 2 && left[0].starts_with(".cyclewise-") && left[0].ends_with(".tmp"),
        "{left:?}"
    );
    let torn = killed(true);
    assert!(
        torn != OLD && torn != new(),
        "the twin writes in place and loses the document"
    );
    write(&path, &new()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), new());
}

#[test]
fn a_document_that_fails_in_the_middle_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["r.csv", "r.csv.gz"] {
        let path = folder.path().join(name);
        write(&path, "old").unwrap();
        let old = fs::read(&path).unwrap();
        let error = write_with(&path, &|out| {
            out.write_all(&[b'x'; 100_000])?;
            Err(io::Error::from_raw_os_error(libc::ENOSPC))
        })
        .unwrap_err();
        assert_says!(error.message, "unchanged");
        assert_eq!(
            (error.status, fs::read(&path).unwrap()),
            (crate::error::Status::Unsupported, old)
        );
        // The twin: what ends well replaces it.
        write_with(&path, &|out| out.write_all(b"new")).unwrap();
        assert_eq!(crate::record::read(&path).unwrap(), "new");
    }
    assert_eq!(names(&folder).len(), 2);
}

#[test]
fn processes_with_one_result_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("r.json");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                for _ in 0..30 {
                    try_beside(path).unwrap();
                    write(path, "whole").unwrap();
                    // Whoever tries the name next leaves it there.
                    assert_eq!(fs::read_to_string(path).unwrap(), "whole");
                }
            });
        }
    });
    assert_eq!(names(&folder), ["r.json"]);
}
