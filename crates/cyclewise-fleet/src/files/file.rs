//! Reads one file of a fleet, in memory that does not depend on what the file claims.

use crate::record::fleet::{Fault, ProblemKind};
use crate::record::unpacked;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The longest text that is read whole: a full run has 15 MB. A file of a few kB may unpack to more than any memory.
const LONGEST: u64 = 128 << 20;

/// Room that is kept from file to file; a longer text's is given back.
const KEPT: usize = 16 << 20;

/// Bytes of a buffer between the file and its reader.
const BUFFER: usize = 128 << 10;

/// A file's bytes, unpacked if they are packed.
pub(crate) type Bytes = BufReader<Box<dyn Read>>;

/// Opens a file, and sees what it begins with.
///
/// # Errors
/// It cannot be read.
pub(super) fn open(path: &Path) -> Result<Bytes, Fault> {
    let read = || -> io::Result<Bytes> {
        let packed = BufReader::with_capacity(BUFFER, File::open(path)?);
        let mut bytes = BufReader::with_capacity(BUFFER, unpacked(packed)?);
        bytes.fill_buf()?;
        Ok(bytes)
    };
    read().map_err(|e| torn(&e))
}

/// Reads the whole text into `room`, which is emptied first.
///
/// # Errors
/// It is too long, not text, or ends before its end.
pub(super) fn read_text(bytes: Bytes, room: &mut Vec<u8>) -> Result<&str, Fault> {
    read_at_most(LONGEST, bytes, room)
}

fn read_at_most(longest: u64, bytes: Bytes, room: &mut Vec<u8>) -> Result<&str, Fault> {
    room.clear();
    room.shrink_to(KEPT);
    bytes.take(longest + 1).read_to_end(room).map_err(|e| torn(&e))?;
    if room.len() as u64 > longest {
        let why = format!("has more than {longest} bytes; no cyclewise writes such a record");
        return Err(Fault(ProblemKind::Mangled, why));
    }
    // What a crash leaves of a file whose length was written before its data.
    if !room.is_empty() && room.iter().all(|byte| *byte == 0) {
        return Err(Fault(
            ProblemKind::Torn,
            "has zero bytes only; its disk or machine failed".to_owned(),
        ));
    }
    let is_object = room.trim_ascii_start().first() == Some(&b'{');
    match std::str::from_utf8(room) {
        Ok(text) => Ok(text),
        Err(e) if is_object => Err(Fault(ProblemKind::Mangled, format!("is not UTF-8: {e}"))),
        Err(_) => Err(Fault(ProblemKind::Foreign, "is not text".to_owned())),
    }
}

/// What is wrong with a file that cannot be read to its end.
pub(super) fn torn(e: &io::Error) -> Fault {
    let why = match e.kind() {
        io::ErrorKind::Unsupported => return Fault(ProblemKind::Foreign, e.to_string()),
        io::ErrorKind::UnexpectedEof => format!("ends too early: {e}"),
        _ => format!("cannot be read to its end: {e}"),
    };
    Fault(ProblemKind::Torn, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::{folder, packed};

    #[test]
    fn a_file_that_unpacks_to_too_much_is_refused_and_no_more_is_read() {
        let longest = 1000;
        let many = "0".repeat(5_000_000);
        for (text, is_read) in [(&many[..1000], true), (&many[..1001], false), (&many[..], false)] {
            let folder = folder(&[("a", text.as_bytes()), ("b", &packed(text))]);
            for name in ["a", "b"] {
                let mut room = Vec::new();
                let read = read_at_most(longest, open(&folder.path().join(name)).unwrap(), &mut room);
                match read {
                    Ok(read) => assert!(is_read && read == text),
                    Err(Fault(kind, why)) => {
                        assert!(!is_read && kind == ProblemKind::Mangled, "{why}");
                        assert_says!(why, "1000 bytes");
                    }
                }
                assert!(room.capacity() < 10_000, "{}", room.capacity());
            }
        }
    }
}
