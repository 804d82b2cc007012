//! The image that is counted: its file, and the control file that all images of the run share.

use crate::command_line::Launcher;
use crate::descriptor;
use crate::handover::Needs;
use crate::layout::{self, Control, Header, Text};
use crate::memory::{Arena, Placed, link};
use crate::sys;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// What is known when the plugin is installed, and holds for the process and those it forks.
pub struct Run {
    /// How the emulator was called, for programs that are executed.
    pub launcher: Launcher,
    /// The control file.
    pub control: &'static Control,
    /// `layout::ARCH_...`
    pub arch: u32,
    /// The program as it was given to the emulator, and its arguments.
    pub command: Vec<OsString>,
    /// The program's path from the root. A link that was given is kept: it is the name that people know.
    pub program: PathBuf,
    /// What a further emulator needs.
    pub needs: Needs,
    /// The name of the emulator's thread, which is not the program's.
    pub own_name: [u8; 16],
}

/// Set once, when the plugin is installed.
pub static RUN: OnceLock<Run> = OnceLock::new();

/// The file's records, and where they are linked.
pub struct Image {
    /// Where records come from.
    pub arena: Arena,
    /// The header; none before the plugin was installed.
    pub header: Option<&'static Header>,
}

static IMAGE: Mutex<Image> = Mutex::new(Image {
    arena: Arena::private(),
    header: None,
});

/// The image, for as long as the guard lives. It is the innermost lock.
pub fn lock() -> MutexGuard<'static, Image> {
    IMAGE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Image {
    /// A new record, filled and then put into the list.
    pub fn add<T: crate::memory::Record>(
        &mut self,
        list: impl FnOnce(&'static Header) -> &'static AtomicU64,
        next: impl FnOnce(&'static T) -> &'static AtomicU64,
        fill: impl FnOnce(&'static T),
    ) -> &'static T {
        let Placed { record, offset } = self.arena.record::<T>();
        fill(record);
        if let Some(header) = self.header {
            link(list(header), next(record), offset);
        }
        self.tell_loss();
        record
    }

    /// Notes in the header that the file no longer grows.
    pub fn tell_loss(&self) {
        if let (Some(header), lost @ 1..) = (self.header, self.arena.lost()) {
            header.lost.store(lost.cast_unsigned(), Ordering::Relaxed);
        }
    }
}

/// Why an image is not counted.
pub enum Refusal {
    /// By the limit of images.
    Limit,
    /// The run is over.
    Closed,
    /// By an error number.
    Error(i32),
}

/// Begins the file of this process's image. What the file was before is given back, so that it can be released.
///
/// Where there is none, records are private memory, which nobody reads.
pub fn begin(run: &Run, parent: u32) -> (Arena, Result<(), Refusal>) {
    let (arena, result) = match create(run) {
        Ok(arena) => (arena, Ok(())),
        Err(refusal) => (Arena::private(), Err(refusal)),
    };
    let mut image = lock();
    let before = std::mem::replace(&mut image.arena, arena);
    let header = image.arena.record::<Header>().record;
    let text = image.arena.record::<Text>();
    let command = command(run);
    store_text(text.record, &command);
    header.arch.store(run.arch, Ordering::Relaxed);
    header.pid.store(std::process::id(), Ordering::Relaxed);
    header.parent.store(parent, Ordering::Relaxed);
    header.command.store(text.offset, Ordering::Relaxed);
    // Release: pairs with the reader's look at the file, which has a header by then.
    header.magic.store(layout::MAGIC, Ordering::Release);
    image.header = Some(header);
    (before, result)
}

fn create(run: &Run) -> Result<Arena, Refusal> {
    if run.control.closed.load(Ordering::SeqCst) != 0 {
        return Err(Refusal::Closed);
    }
    let number = run.control.images.fetch_add(1, Ordering::Relaxed);
    if number >= run.control.limit.load(Ordering::Relaxed) {
        run.control.refused.fetch_add(1, Ordering::Relaxed);
        return Err(Refusal::Limit);
    }
    let path = run.launcher.folder.join(layout::image_name(number));
    let created = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| 0)
        .and_then(Arena::create);
    created.map_err(|error| {
        if number > 0 {
            run.control.later_error.store(error.cast_unsigned(), Ordering::Relaxed);
            run.control.later_errors.fetch_add(1, Ordering::Relaxed);
        }
        Refusal::Error(error)
    })
}

/// The program and its arguments, each followed by a zero.
fn command(run: &Run) -> Vec<u8> {
    // A file without a name, which a descriptor holds open, has something like one all the same.
    let named = descriptor::number(&run.program).and_then(|_| std::fs::read_link(&run.program).ok());
    let program = named.as_ref().unwrap_or(&run.program);
    let mut bytes = program.as_os_str().as_bytes().to_vec();
    bytes.push(0);
    for argument in run.command.iter().skip(1) {
        bytes.extend(argument.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// Writes bytes, as many as have room.
pub fn store_text(text: &Text, bytes: &[u8]) {
    let len = store_bytes(&text.bytes, bytes);
    text.len.store(len as u64, Ordering::Relaxed);
}

/// Writes bytes, as many as have room, and says how many.
pub fn store_bytes(into: &[std::sync::atomic::AtomicU8], bytes: &[u8]) -> usize {
    for (to, byte) in into.iter().zip(bytes) {
        to.store(*byte, Ordering::Relaxed);
    }
    bytes.len().min(into.len())
}

/// Sets how the image ends.
pub fn set_end(end: u32) {
    if let Some(header) = lock().header {
        header.end.store(end, Ordering::Relaxed);
    }
}

/// Adds a line to the notes, unless there is no room for it.
pub fn note(run: &Run, line: &str) {
    let line = format!("{}\n", line.replace(['\n', '\0'], " "));
    let room = layout::NOTES.saturating_sub(line.len()) as u64;
    if run.control.notes_len.load(Ordering::Relaxed) > room {
        return;
    }
    let at = run.control.notes_len.fetch_add(line.len() as u64, Ordering::Relaxed);
    if let Some(into) = usize::try_from(at).ok().and_then(|at| run.control.notes.get(at..)) {
        store_bytes(into, line.as_bytes());
    }
}

/// The emulator's own thread name, and whether a thread still has it.
pub fn name_or<'a>(run: &'a Run, name: &'a [u8; 16]) -> &'a [u8] {
    if *name != run.own_name {
        return name;
    }
    let given = run.command.first().map(Path::new).and_then(Path::file_name);
    given.map_or(b"", OsStrExt::as_bytes)
}

/// This thread's name, as the program would see it.
pub fn current_name(run: &Run) -> Vec<u8> {
    let name = sys::thread_name();
    let mut name = name_or(run, &name).to_vec();
    // The kernel keeps 15 bytes.
    name.truncate(15);
    name
}
