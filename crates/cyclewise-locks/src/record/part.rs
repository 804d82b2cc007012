//! What one counted program leaves in a folder for the process that joins several: those that `cargo test` runs.

use super::Exit;
use crate::counts::Counts;
use crate::error::{Error, Result};
use crate::forecast::NativeTime;
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// One counted program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its counts, and those of the programs that it started.
    pub counts: Counts,
    pub exit: Exit,
    /// User time of the counted run, seconds.
    pub counted_user_s: f64,
    /// Its time without counting, if it was taken.
    pub native: Option<NativeTime>,
    /// Why its counts are not those of the program: the counted run did not end as one without counting, or nobody knows whether it did.
    pub ended_otherwise: Option<String>,
    /// What is not as it was asked for, a line each.
    pub notes: Vec<String>,
}

impl Part {
    /// Its counts, which are no longer in it.
    pub fn take_counts(&mut self) -> Counts {
        let rest = Counts {
            method: self.counts.method.clone(),
            arch: self.counts.arch,
            processes: Vec::new(),
            missing: Vec::new(),
        };
        std::mem::replace(&mut self.counts, rest)
    }

    /// Writes the part to a new file of the folder.
    ///
    /// # Errors
    /// Exit 3: the disk is full, or the folder is gone.
    pub fn write(&self, folder: &Path) -> Result<PathBuf> {
        let failed = |e: io::Error| {
            Error::system(
                &format!("writing counts into {}", folder.display()),
                &e,
                "free space there, or name another folder by TMPDIR",
            )
        };
        // The order of the names is that in which the programs ended.
        for n in 0..100_000 {
            let path = folder.join(format!("{n:05}.json"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return self.write_into(file).map(|()| path).map_err(failed),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(failed(e)),
            }
        }
        Err(Error::unsupported("cargo ran 100000 programs; count fewer by a filter"))
    }

    /// Writes the part in place of what [`Self::write`] wrote. Where that fails the file stays as it was.
    pub fn replace(&self, file: &Path) {
        let new = file.with_extension("new");
        let _ = fs::File::create(&new)
            .and_then(|out| self.write_into(out))
            .and_then(|()| fs::rename(&new, file));
    }

    fn write_into(&self, file: fs::File) -> io::Result<()> {
        let mut out = io::BufWriter::new(file);
        serde_json::to_writer(&mut out, self)?;
        io::Write::flush(&mut out)
    }

    /// The parts in a folder, in the order in which their programs ended, and a line for each that is not whole.
    ///
    /// # Errors
    /// Exit 3: the folder cannot be read.
    pub fn read_all(folder: &Path) -> Result<(Vec<Self>, Vec<String>)> {
        let failed = |e: io::Error| Error::system("reading the counts", &e, "run again");
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            names.push(entry.map_err(failed)?.path());
        }
        names.retain(|name| name.extension().is_some_and(|e| e == "json"));
        names.sort();
        let (mut parts, mut torn) = (Vec::new(), Vec::new());
        for name in names {
            let text = fs::read_to_string(&name);
            match text.and_then(|text| serde_json::from_str(&text).map_err(io::Error::from)) {
                Ok(part) => parts.push(part),
                Err(e) => torn.push(format!("the counts of a program that cargo ran are not whole: {e}")),
            }
        }
        Ok((parts, torn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::{Arch, Method};

    fn part(code: i32) -> Part {
        Part {
            counts: Counts {
                method: Method::Emulator {
                    version: "7".to_owned(),
                },
                arch: Arch::X86_64,
                processes: Vec::new(),
                missing: Vec::new(),
            },
            exit: Exit {
                code: Some(code),
                ..Exit::default()
            },
            counted_user_s: 1.5,
            native: None,
            ended_otherwise: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn parts_come_back_in_order_and_a_torn_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        for code in [0, 7] {
            part(code).write(folder.path()).unwrap();
        }
        let (parts, torn) = Part::read_all(folder.path()).unwrap();
        assert_eq!((parts, torn.len()), (vec![part(0), part(7)], 0));
        part(3).replace(&folder.path().join("00000.json"));
        assert_eq!(Part::read_all(folder.path()).unwrap().0, [part(3), part(7)]);
        part(0).replace(&folder.path().join("00000.json"));
        std::fs::write(folder.path().join("00001.json"), "{\"counts\":").unwrap();
        let (parts, torn) = Part::read_all(folder.path()).unwrap();
        assert_eq!(parts, [part(0)]);
        assert!(torn.len() == 1 && torn[0].contains("not whole"), "{torn:?}");
    }

    #[test]
    fn a_folder_that_is_gone_is_an_error() {
        let folder = tempfile::tempdir().unwrap().path().join("gone");
        assert!(part(0).write(&folder).unwrap_err().message.contains("TMPDIR"));
        assert!(Part::read_all(&folder).is_err());
    }
}
