//! Which file lies at an address.
//!
//! The kernel's list is read anew when the program has changed its mappings and code of a new place is translated.

use crate::image::{self, store_text};
use crate::layout;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the system calls that may change which file lies where.
static CHANGES: AtomicU64 = AtomicU64::new(1);

/// To be called before and after such a call.
pub fn changed() {
    // Release: pairs with the Acquire of `Maps::find`, so that it reads a list that is as new.
    CHANGES.fetch_add(1, Ordering::Release);
}

/// A line of the kernel's list that names a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MapsLine {
    start: u64,
    end: u64,
    offset: u64,
    path: OsString,
}

/// A mapping that has a record.
struct Known {
    record: &'static layout::Mapping,
    /// Where the file's first byte would be.
    base: u64,
    path: OsString,
}

/// The lines, and the mappings that sites lie in.
#[derive(Default)]
pub struct Maps {
    lines: Vec<MapsLine>,
    read_at: u64,
    known: Vec<Known>,
    /// Whether it was told that the list cannot be read.
    is_told: bool,
}

impl Maps {
    /// The index of the mapping of a file that `address` of this process lies in; the program's addresses are lower by `base`.
    pub fn find(&mut self, address: u64, base: u64) -> u32 {
        // Acquire: pairs with the Release of `changed`.
        let changes = CHANGES.load(Ordering::Acquire);
        if changes != self.read_at {
            self.read_at = changes;
            match std::fs::read("/proc/self/maps") {
                Ok(list) => self.lines = list.split(|b| *b == b'\n').filter_map(line).collect(),
                Err(error) => self.tell_unread(&error),
            }
        }
        let Some(line) = self.lines.iter().find(|l| l.start <= address && address < l.end) else {
            return layout::NO_MAPPING;
        };
        let (start, end) = (line.start.wrapping_sub(base), line.end.wrapping_sub(base));
        let file_base = start.wrapping_sub(line.offset);
        let known = self
            .known
            .iter()
            .position(|k| k.base == file_base && k.path == line.path);
        if let Some(at) = known {
            widen(self.known[at].record, start, end, line.offset);
            return u32::try_from(at).unwrap_or(layout::NO_MAPPING);
        }
        let index = u32::try_from(self.known.len()).unwrap_or(layout::NO_MAPPING);
        let record = add(index, &line.path, [start, end, line.offset]);
        self.known.push(Known {
            record,
            base: file_base,
            path: line.path.clone(),
        });
        index
    }

    /// What was there when the list could be read is there still, most of it.
    fn tell_unread(&mut self, error: &std::io::Error) {
        let (Some(run), false) = (image::RUN.get(), self.is_told) else {
            return;
        };
        self.is_told = true;
        image::note(
            run,
            &format!(
                "incomplete: process {} cannot read /proc/self/maps ({error}): the files of code that it maps are not known",
                std::process::id()
            ),
        );
    }

    /// Writes the mappings into the file of a new image.
    pub fn begin_again(&mut self) {
        self.is_told = false;
        for (index, known) in self.known.iter_mut().enumerate() {
            let old = known.record;
            let range = [&old.start, &old.end, &old.offset].map(|w| w.load(Ordering::Relaxed));
            known.record = add(u32::try_from(index).unwrap_or(layout::NO_MAPPING), &known.path, range);
        }
    }
}

fn add(index: u32, path: &OsString, [start, end, offset]: [u64; 3]) -> &'static layout::Mapping {
    image::lock().add(
        |header| &header.mappings,
        |mapping: &layout::Mapping| &mapping.next,
        |mapping| {
            mapping.index.store(index, Ordering::Relaxed);
            mapping.start.store(start, Ordering::Relaxed);
            mapping.end.store(end, Ordering::Relaxed);
            mapping.offset.store(offset, Ordering::Relaxed);
            store_text(&mapping.path, path.as_bytes());
        },
    )
}

/// Parts of one file that lie as they do in the file are one mapping: protections part them, and the emulator changes those.
fn widen(record: &layout::Mapping, start: u64, end: u64, offset: u64) {
    if start < record.start.load(Ordering::Relaxed) {
        record.start.store(start, Ordering::Relaxed);
        record.offset.store(offset, Ordering::Relaxed);
    }
    record.end.fetch_max(end, Ordering::Relaxed);
}

/// A line, where it names a file: `7f00-7f10 r-xp 00001000 08:01 1234   /lib/x.so`.
fn line(line: &[u8]) -> Option<MapsLine> {
    let mut fields = line.splitn(6, |b| *b == b' ');
    let mut text = || std::str::from_utf8(fields.next()?).ok();
    let (start, end) = text()?.split_once('-')?;
    let _protection = text()?;
    let offset = text()?;
    let (_device, _inode) = (text()?, text()?);
    let path = fields.next()?.trim_ascii_start();
    // What is not a file is named in brackets; memory that has only a name is a file nobody can open.
    if !path.starts_with(b"/") || path.starts_with(b"/memfd:") || path.starts_with(b"/dev/zero") {
        return None;
    }
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(MapsLine {
        start: number(start)?,
        end: number(end)?,
        offset: number(offset)?,
        path: OsString::from_vec(path.to_vec()),
    })
}

#[cfg(test)]
mod tests {
    use super::{MapsLine, line};

    #[test]
    fn lines() {
        let expected = MapsLine {
            start: 0x7f00,
            end: 0x7f10,
            offset: 0x1000,
            path: "/lib/a b.so".into(),
        };
        assert_eq!(
            line(b"7f00-7f10 r-xp 00001000 08:01 1234       /lib/a b.so"),
            Some(expected)
        );
        assert_eq!(line(b"7f00-7f10 rw-p 00000000 00:00 0 "), None);
        assert_eq!(line(b"7f00-7f10 rw-p 00000000 00:00 0          [heap]"), None);
        assert_eq!(
            line(b"7f00-7f10 rwxs 00000000 00:01 7          /memfd:jit (deleted)"),
            None
        );
        assert_eq!(line(b""), None);
        assert_eq!(line(b"zz-7f10 r-xp 00001000 08:01 1234 /lib/a"), None);
    }
}
