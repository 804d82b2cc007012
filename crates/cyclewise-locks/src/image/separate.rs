//! Debug information that is kept apart from the file: where it may be, and whether it belongs to the file.
//!
//! # References
//! GDB's manual, "Debugging Information in Separate Files".

use super::elf::Elf;
use super::reader::Reader;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// How much of a file's headers is read to see whether it belongs.
const HEADERS: u64 = 64 << 20;

/// The file with the debug information of the one at `path`, by its build id or by its link.
pub(super) fn debug_file(path: &Path, elf: &Elf<'_>, roots: &[PathBuf]) -> Option<PathBuf> {
    let id = elf.build_id();
    if let Some(id) = &id {
        for root in roots {
            let candidate = root.join(".build-id").join(by_id(id, ".debug")?);
            if has_id(&candidate, id) {
                return Some(candidate);
            }
        }
    }
    let (name, crc) = elf.debug_link()?;
    // The folder as it is, without links: /lib is one on most machines.
    let path = std::fs::canonicalize(path).ok()?;
    let folder = path.parent()?;
    // The link is a file's name; a path in it would lead elsewhere.
    let name = Path::new(OsStr::from_bytes(&name)).file_name()?;
    let mut candidates = vec![folder.join(name), folder.join(".debug").join(name)];
    let inside = folder.strip_prefix("/").unwrap_or(folder);
    candidates.extend(roots.iter().map(|root| root.join(inside).join(name)));
    let belongs = |candidate: &PathBuf| match &id {
        Some(id) => has_id(candidate, id),
        None => checksum(candidate) == Some(crc),
    };
    candidates.into_iter().filter(|c| *c != path).find(belongs)
}

/// The file that `debug` shares debug information with (DWZ), by its link.
pub(super) fn shared_file(debug: &Path, elf: &Elf<'_>, roots: &[PathBuf]) -> Option<PathBuf> {
    let (name, id) = elf.alt_link()?;
    let name = Path::new(OsStr::from_bytes(&name));
    let mut candidates = vec![debug.parent()?.join(name)];
    if let Ok(real) = std::fs::canonicalize(debug) {
        candidates.push(real.parent()?.join(name));
    }
    for root in roots {
        candidates.push(root.join(".build-id").join(by_id(&id, ".debug")?));
        candidates.push(root.join(".dwz").join(name.file_name()?));
    }
    candidates.into_iter().find(|c| has_id(c, &id))
}

/// A build id as a path: the first byte is the folder.
fn by_id(id: &[u8], suffix: &str) -> Option<PathBuf> {
    let (first, rest) = id.split_first()?;
    let mut name = String::new();
    for byte in rest {
        write!(name, "{byte:02x}").ok()?;
    }
    name.push_str(suffix);
    Some(Path::new(&format!("{first:02x}")).join(name))
}

fn has_id(path: &Path, id: &[u8]) -> bool {
    let Ok(reader) = Reader::open(path, HEADERS) else {
        return false;
    };
    Elf::parse(&reader).is_ok_and(|elf| elf.build_id().as_deref() == Some(id))
}

/// The checksum of a debug link: CRC-32 of the whole file, read in parts.
fn checksum(path: &Path) -> Option<u32> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut crc = !0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(!crc),
            n => crc = buffer[..n].iter().fold(crc, |crc, byte| crc_step(crc, *byte)),
        }
    }
}

/// One byte of the CRC-32 with the reflected polynomial 0xedb88320 (ISO 3309).
fn crc_step(crc: u32, byte: u8) -> u32 {
    (0..8).fold(crc ^ u32::from(byte), |crc, _| {
        (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_published_one() {
        let crc = b"123456789".iter().fold(!0, |crc, b| crc_step(crc, *b));
        // The check value of CRC-32 in Koopman's and Williams's catalogues.
        assert_eq!(!crc, 0xcbf4_3926);
    }

    #[test]
    fn a_build_id_is_a_path_of_two_parts() {
        assert_eq!(
            by_id(&[0xab, 0xcd, 0x01], ".debug"),
            Some(PathBuf::from("ab/cd01.debug"))
        );
        assert_eq!(by_id(&[], ".debug"), None);
    }
}
