//! The file that all open: 512 read-only bytes in its own directory, removed on drop.

use crate::error::{Error, Result};
use crate::sys::file;
use std::ffi::{CStr, CString};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bytes of the file: one block of `dd`, as in the source.
pub(super) const SIZE: usize = 512;

pub(super) struct Target {
    directory: PathBuf,
    file: CString,
}

impl Target {
    /// Creates the file in a new directory under `parent`.
    pub(super) fn create(parent: &Path) -> Result<Self> {
        let failed = |e: io::Error| {
            let what = format!("cannot make its file in {}", parent.display());
            Error::system(&what, &e, "set TMPDIR to a writable directory")
        };
        let directory = Self::directory(parent).map_err(failed)?;
        let path = directory.join("file");
        // From here on, dropping removes what was created.
        let target = Self {
            file: CString::new(path.as_os_str().as_bytes()).map_err(|e| failed(e.into()))?,
            directory,
        };
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o400)
            .open(&path)
            .map_err(failed)?;
        file.write_all(&b"hello\n".repeat(SIZE)[..SIZE]).map_err(failed)?;
        Ok(target)
    }

    fn directory(parent: &Path) -> io::Result<PathBuf> {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        loop {
            // Relaxed: only uniqueness matters.
            let serial = SERIAL.fetch_add(1, Relaxed);
            let path = parent.join(format!("cyclewise-{}-{serial}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(path),
                // Left by a killed process with the same ID: never use what another process may have created.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }

    pub(super) fn path(&self) -> &CStr {
        &self.file
    }

    pub(super) fn file_system(&self) -> String {
        file::file_system(&self.file).unwrap_or_else(|| "an unknown file system".to_string())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // An error has no remedy here; it leaves 512 bytes in the temporary directory.
        let _ = fs::remove_dir_all(&self.directory);
    }
}
