//! Every cancellation point of the sources is held off.

use std::path::Path;
use std::string::String;
use std::vec::Vec;
use std::{fs, println};

/// What may be a cancellation point by pthreads(7), of what this crate may come to call.
const POINTS: [&str; 26] = [
    "libc::clock_nanosleep(",
    "libc::close(",
    "libc::fcntl(",
    "libc::fstat(",
    "libc::fsync(",
    "libc::ioctl(",
    "libc::lseek(",
    "libc::nanosleep(",
    "libc::open(",
    "libc::openat(",
    "libc::poll(",
    "libc::ppoll(",
    "libc::pread64(",
    "libc::pthread_join(",
    "libc::pwrite64(",
    "libc::read(",
    "libc::select(",
    "libc::sigsuspend(",
    "libc::sigtimedwait(",
    "libc::stat(",
    "libc::usleep(",
    "libc::waitpid(",
    "libc::write(",
    "thread::sleep(",
    "= thread.join()",
    "available_parallelism(",
];

/// The lines of a file, up to its tests, that call a cancellation point while the thread may be cancelled.
fn uncovered(source: &str) -> Vec<&str> {
    let lines = source.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    lines
        .filter(|line| POINTS.iter().any(|point| line.contains(point)))
        .filter(|line| !line.contains("held_off(") && !line.trim().starts_with("//"))
        .collect()
}

fn look(folder: &Path, found: &mut Vec<String>) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        // Files of tests alone.
        if ["tests", "tests.rs", "for_tests"].contains(&name) {
            continue;
        }
        if path.is_dir() {
            files += look(&path, found);
        } else {
            files += 1;
            let source = fs::read_to_string(&path).unwrap();
            found.extend(
                uncovered(&source)
                    .iter()
                    .map(|line| std::format!("{}: {line}", path.display())),
            );
        }
    }
    files
}

#[test]
fn every_cancellation_point_is_held_off() {
    let mut found = Vec::new();
    for (source, files) in [("src", 100), ("../cyclewise-c/src", 20)] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        if !source.is_dir() {
            println!("skipped: there is no {} to read", source.display());
            continue;
        }
        assert!(look(&source, &mut found) >= files, "{}", source.display());
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn twin_a_point_that_is_not_held_off_is_seen() {
    let line = "    let n = unsafe { libc::read(file, to, length) };";
    assert_eq!(uncovered(line), [line]);
    assert!(uncovered("    let n = held_off(|| unsafe { libc::read(file, to, length) });").is_empty());
}
