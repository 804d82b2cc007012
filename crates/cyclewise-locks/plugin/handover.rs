//! Handing a process over to another emulator: whether that one could begin, and that the run's folder stays until it has.
//!
//! An emulator that cannot load the plugin, or the plugin that cannot map its files, would end the program. A process may have
//! changed its user or its root since it began, so this is looked at before the other emulator is executed.
//!
//! # Memory ordering
//! Whoever executes adds to `starting`, then looks at `closed`; whoever ends the run sets `closed`, then looks at `starting`. All
//! of it is SeqCst, so that one of both sees the other.

use crate::command_line::Launcher;
use crate::layout::{CONTROL, Control, PLUGIN};
use crate::sys::{self, rights};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// What a further emulator has to find, and which files those were when this one began.
pub struct Needs {
    files: Vec<(PathBuf, i32, Option<Identity>)>,
    folder: PathBuf,
}

/// A file, whatever it is called.
type Identity = (u64, u64);

impl Needs {
    /// Looks at the files.
    pub fn of(launcher: &Launcher) -> Self {
        let folder = &launcher.folder;
        let files = [
            (launcher.emulator.clone(), rights::READ | rights::EXECUTE),
            (folder.clone(), rights::WRITE | rights::EXECUTE),
            (folder.join(PLUGIN), rights::READ),
            (folder.join(CONTROL), rights::READ | rights::WRITE),
        ];
        let files = files.map(|(path, rights)| {
            let identity = identity(&path).ok();
            (path, rights, identity)
        });
        Self {
            files: files.into(),
            folder: folder.clone(),
        }
    }

    /// Why another emulator could not begin in this process, if it could not.
    pub fn obstacle(&self) -> Option<String> {
        let user = sys::effective_user();
        for (path, rights, then) in &self.files {
            match identity(path) {
                Ok(now) if Some(now) == *then => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Some(not_for(user)),
                _ => {
                    return Some(
                        "its process has another root folder, where the emulator and the counts are not".to_owned(),
                    );
                }
            }
            let may = CString::new(path.as_os_str().as_bytes()).is_ok_and(|path| sys::may(&path, *rights));
            if !may {
                return Some(not_for(user));
            }
        }
        // A right that rests on a capability is lost when a process that is not root's executes anything.
        let owns = std::fs::metadata(&self.folder).is_ok_and(|m| m.uid() == user);
        if user != 0 && !owns {
            return Some(not_for(user));
        }
        let described = Path::new("/proc/self/cmdline").exists();
        (!described).then(|| "its process has no /proc, which the emulator needs".to_owned())
    }
}

fn not_for(user: u32) -> String {
    format!("its process runs as user {user}, who may not use the folder of the counts")
}

fn identity(path: &Path) -> io::Result<Identity> {
    std::fs::metadata(path).map(|m| (m.dev(), m.ino()))
}

/// An emulator is about to be executed. Unless it begins, this is dropped.
pub struct Start<'a>(&'a Control);

impl<'a> Start<'a> {
    /// None where the run is over: its folder may be gone before the emulator has begun.
    pub fn new(control: &'a Control) -> Option<Self> {
        control.starting.fetch_add(1, Ordering::SeqCst);
        let start = Self(control);
        (control.closed.load(Ordering::SeqCst) == 0).then_some(start)
    }
}

impl Drop for Start<'_> {
    fn drop(&mut self) {
        begun(self.0);
    }
}

/// The emulator has begun, or could not be executed.
pub fn begun(control: &Control) {
    let less = |n: u32| n.checked_sub(1);
    // A control file that somebody wrote to may say 0, and stays at it.
    let _ = control.starting.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
}
