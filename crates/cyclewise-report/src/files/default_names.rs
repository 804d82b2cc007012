//! Names of the files that `run` writes where none is named: they carry the machine and the time, and are always new.

use super::document_file;
use crate::error::{Error, Result};
use crate::record::Record;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Upper bound on name collisions, of one machine and second.
const TRIES: u32 = 1000;

/// `cyclewise-amd-epyc-9b14-20261122T102441Z`, from the record's machine and the time at which it ended.
pub fn stem(record: &Record) -> String {
    let whole_second = record.created.split('.').next().unwrap_or_default();
    let mut time: String = whole_second.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    if !time.ends_with('Z') {
        time.push('Z');
    }
    format!("cyclewise-{}-{time}", slug(&record.machine.cpu_model))
}

/// A CPU's name as part of a file's name: what makes it out, in lower case, joined by dashes.
fn slug(model: &str) -> String {
    // The nominal clock, marks, and words that all names have.
    let model = model.split('@').next().unwrap_or_default().to_lowercase();
    let model = ["(r)", "(tm)"].iter().fold(model, |m, mark| m.replace(mark, " "));
    let words = model.split(|c: char| !c.is_ascii_alphanumeric());
    let telling = words.filter(|w| !w.is_empty() && !["cpu", "processor"].contains(w));
    let joined = telling.take(6).collect::<Vec<_>>().join("-");
    match joined.is_empty() {
        true => std::env::consts::ARCH.to_string(),
        false => joined.chars().take(48).collect(),
    }
}

/// Checks that a new file can be made in `folder`, before anything is measured.
pub fn check(folder: &Path) -> Result<()> {
    let name = format!("cyclewise-{}.tmp", std::process::id());
    let path = folder.join(name);
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|_| std::fs::remove_file(&path))
        .map_err(|e| {
            Error::usage(format!(
                "no file can be made here for the record: {e}; name one with --json, or run in another folder"
            ))
        })
}

/// Writes each text to a new file in `folder`: `STEM.EXTENSION`, or `STEM-2.EXTENSION` where one of them exists.
/// Returns the paths.
pub fn write(folder: &Path, stem: &str, documents: &[(&str, String)]) -> Result<Vec<PathBuf>> {
    'next: for n in 1..=TRIES {
        let numbered = if n == 1 {
            stem.to_string()
        } else {
            format!("{stem}-{n}")
        };
        let paths: Vec<PathBuf> = documents
            .iter()
            .map(|(extension, _)| folder.join(format!("{numbered}.{extension}")))
            .collect();
        if paths.iter().any(|p| p.symlink_metadata().is_ok()) {
            continue;
        }
        for (path, (_, text)) in paths.iter().zip(documents) {
            // Created only if it is new: another run may have taken the name since.
            match OpenOptions::new().write(true).create_new(true).open(path) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue 'next,
                Err(e) => {
                    return Err(Error::usage(format!(
                        "writing {}: {e}; name a file with --json",
                        path.display()
                    )));
                }
                Ok(_) => {}
            }
            document_file::write(path, text).inspect_err(|_| {
                // The name was taken for this text, and holds nothing.
                let _ = std::fs::remove_file(path);
            })?;
        }
        return Ok(paths);
    }
    Err(Error::usage(format!(
        "{stem} exists {TRIES} times here; name a file with --json"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Machine;

    #[test]
    fn names_carry_the_machine_and_the_time() {
        for (model, slug) in [
            ("AMD EPYC 9B14", "amd-epyc-9b14"),
            (
                "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz",
                "intel-xeon-platinum-8481c",
            ),
            ("../Ampère/ Altra", "amp-re-altra"),
            ("", std::env::consts::ARCH),
        ] {
            let record = Record {
                created: "2026-11-22T10:24:41.899174479Z".to_string(),
                machine: Machine {
                    cpu_model: model.to_string(),
                    ..Machine::default()
                },
                ..Record::default()
            };
            assert_eq!(stem(&record), format!("cyclewise-{slug}-20261122T102441Z"));
        }
    }

    #[test]
    fn a_file_that_exists_is_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let put = |text: &str| {
            write(
                folder.path(),
                "x",
                &[("json", text.to_string()), ("html", text.to_string())],
            )
            .unwrap()
        };
        assert_eq!(put("first"), ["x.json", "x.html"].map(|n| folder.path().join(n)));
        // Half a pair counts too, and so does a link to nothing.
        std::os::unix::fs::symlink("nowhere", folder.path().join("x-2.html")).unwrap();
        assert_eq!(put("second")[0], folder.path().join("x-3.json"));
        for (name, text) in [("x.json", "first"), ("x.html", "first"), ("x-3.html", "second")] {
            assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), text);
        }
        assert!(!folder.path().join("x-2.json").exists());
    }

    #[test]
    fn a_folder_that_takes_no_file_is_refused_before_measuring() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check(folder.path()).is_ok());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let error = check(&folder.path().join("absent")).unwrap_err();
        assert_says!(error.message, "--json");
    }
}
