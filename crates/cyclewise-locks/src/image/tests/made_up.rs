//! Makes ELF files of given sections.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use tempfile::TempDir;

/// A section of a made-up file.
#[derive(Clone)]
pub(super) struct Section {
    pub(super) name: &'static str,
    pub(super) kind: u32,
    pub(super) flags: u64,
    pub(super) address: u64,
    /// The size that the header claims, where it is not that of the bytes.
    pub(super) claims: Option<u64>,
    pub(super) bytes: Vec<u8>,
    pub(super) link: u32,
    pub(super) entry: u64,
}

impl Section {
    pub(super) fn new(name: &'static str, kind: u32, bytes: Vec<u8>) -> Self {
        Self {
            name,
            kind,
            flags: 0,
            address: 0,
            claims: None,
            bytes,
            link: 0,
            entry: 0,
        }
    }
}

pub(super) const PROGBITS: u32 = 1;
pub(super) const SYMTAB: u32 = 2;
pub(super) const STRTAB: u32 = 3;
pub(super) const CODE: u64 = 0x40_0000;

/// An x86-64 file with one executable segment at `CODE`, which begins at 0x1000 of the file, and these sections, of which the
/// first is the code.
pub(super) fn elf(code_size: u64, sections: &[Section]) -> Vec<u8> {
    let mut names = vec![0];
    let mut body = vec![0; 0x1000];
    let mut headers = vec![[0u64; 10]];
    for section in sections {
        let (at, is_code) = match section.address {
            CODE => (0x1000, true),
            _ => (body.len() as u64, false),
        };
        let claimed = if is_code { code_size } else { section.bytes.len() as u64 };
        headers.push([
            names.len() as u64,
            section.kind.into(),
            section.flags,
            section.address,
            at,
            section.claims.unwrap_or(claimed),
            section.link.into(),
            0,
            1,
            section.entry,
        ]);
        names.extend_from_slice(section.name.as_bytes());
        names.push(0);
        if !is_code {
            body.extend_from_slice(&section.bytes);
        }
    }
    let shstrndx = headers.len() as u16;
    headers.push([
        names.len() as u64,
        STRTAB.into(),
        0,
        0,
        body.len() as u64,
        0,
        0,
        0,
        1,
        0,
    ]);
    names.extend_from_slice(b".shstrtab\0");
    headers[usize::from(shstrndx)][5] = names.len() as u64;
    body.extend_from_slice(&names);
    let shoff = body.len() as u64;
    for [name, kind, flags, address, offset, size, link, info, align, entry] in headers {
        for (value, width) in [
            (name, 4),
            (kind, 4),
            (flags, 8),
            (address, 8),
            (offset, 8),
            (size, 8),
            (link, 4),
            (info, 4),
            (align, 8),
            (entry, 8),
        ] {
            body.extend_from_slice(&u64::to_le_bytes(value)[..width]);
        }
    }
    let mut head = b"\x7fELF\x02\x01\x01".to_vec();
    head.resize(16, 0);
    for (value, width) in [
        (2, 2),
        (62, 2),
        (1, 4),
        (CODE, 8),
        (64, 8),
        (shoff, 8),
        (0, 4),
        (64, 2),
        (56, 2),
        (1, 2),
        (64, 2),
        (u64::from(shstrndx) + 1, 2),
        (u64::from(shstrndx), 2),
    ] {
        head.extend_from_slice(&u64::to_le_bytes(value)[..width]);
    }
    for (value, width) in [
        (1, 4),
        (5, 4),
        (0x1000, 8),
        (CODE, 8),
        (CODE, 8),
        (code_size, 8),
        (code_size, 8),
        (0x1000, 8),
    ] {
        head.extend_from_slice(&u64::to_le_bytes(value)[..width]);
    }
    body[..head.len()].copy_from_slice(&head);
    body
}

pub(super) fn code() -> Section {
    Section {
        flags: 6,
        address: CODE,
        ..Section::new(".text", PROGBITS, Vec::new())
    }
}

/// A symbol table with one function, and its names.
pub(super) fn symbols(address: u64, size: u64) -> [Section; 2] {
    let mut entry = vec![0; 24];
    entry.extend_from_slice(&1u32.to_le_bytes());
    entry.extend_from_slice(&[0x12, 0, 1, 0]);
    entry.extend_from_slice(&address.to_le_bytes());
    entry.extend_from_slice(&size.to_le_bytes());
    let table = Section {
        link: 3,
        entry: 24,
        ..Section::new(".symtab", SYMTAB, entry)
    };
    [table, Section::new(".strtab", STRTAB, b"\0work\0".to_vec())]
}

pub(super) fn write(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made-up");
    File::create(&path).unwrap().write_all(bytes).unwrap();
    (folder, path)
}
