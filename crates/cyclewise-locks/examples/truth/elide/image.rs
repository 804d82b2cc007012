//! A file whose LOCK prefixes are looked for, what is known of each site, and the copy without those that are proven.

use super::proof::{Proof, Section, prove, sweep};
use super::ranges;
use super::site::{DS, LOCK, Site, SiteKind};
use object::elf::SHF_EXECINSTR;
use object::{Architecture, BinaryFormat, Object, ObjectKind, ObjectSection, SectionFlags};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// A site, where it is in the file, and whether it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundSite {
    pub(super) site: Site,
    pub(super) offset: u64,
    pub(super) proof: Proof,
}

impl FoundSite {
    /// Where in the file the prefix is that may be replaced; none where it has to stay.
    pub(super) fn replaceable(&self) -> Option<u64> {
        if self.proof == Proof::Proven && self.site.kind.is_replaceable() {
            self.site.prefix.map(|prefix| self.offset + prefix as u64)
        } else {
            None
        }
    }

    /// What becomes of it: `replaced`, or why not.
    pub(super) fn outcome(&self) -> &'static str {
        match (self.replaceable(), self.proof) {
            (Some(_), _) => "replaced",
            (None, Proof::Proven) => self.site.kind.name(),
            (None, proof) => proof.name(),
        }
    }
}

/// A file and its sites.
pub(super) struct Image {
    pub(super) bytes: Vec<u8>,
    pub(super) sites: Vec<FoundSite>,
}

impl Image {
    /// Reads the file and looks for sites.
    ///
    /// # Errors
    /// One line, where it is no program or library for x86-64, or has no table of sections.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| cannot("read", path, &error))?;
        let sites = sites(&bytes).map_err(|what| format!("{}: {what}", path.display()))?;
        Ok(Self { bytes, sites })
    }

    /// Writes the copy, in which a `replaced` prefix is DS and all else is as it was; returns how many there are.
    ///
    /// The copy never is set-user-ID.
    ///
    /// # Errors
    /// One line, where the copy would be the file itself, or cannot be written.
    pub(super) fn write(&self, original: &Path, copy: &Path) -> Result<usize, String> {
        let of = fs::metadata(original).map_err(|error| cannot("read", original, &error))?;
        if fs::metadata(copy).is_ok_and(|to| (to.dev(), to.ino()) == (of.dev(), of.ino())) {
            return Err(format!("{} is the file itself; name another one", copy.display()));
        }
        let offsets: Vec<u64> = self.sites.iter().filter_map(FoundSite::replaceable).collect();
        let bytes = replaced(&self.bytes, &offsets)?;
        // Under another name first: a program that runs cannot be written to, and a copy is all there or not at all.
        let mut part = copy.as_os_str().to_owned();
        part.push(".part");
        let part = Path::new(&part);
        let permissions = fs::Permissions::from_mode(of.permissions().mode() & 0o777 | 0o200);
        fs::write(part, bytes)
            .and_then(|()| fs::set_permissions(part, permissions))
            .and_then(|()| fs::rename(part, copy))
            .map_err(|error| {
                // What is there of it may be nothing.
                let _ = fs::remove_file(part);
                cannot("write", copy, &error)
            })?;
        Ok(offsets.len())
    }
}

/// The bytes with DS for LOCK at each offset.
fn replaced(bytes: &[u8], offsets: &[u64]) -> Result<Vec<u8>, String> {
    let mut bytes = bytes.to_vec();
    for offset in offsets {
        match usize::try_from(*offset).ok().and_then(|at| bytes.get_mut(at)) {
            Some(byte) if *byte == LOCK => *byte = DS,
            other => return Err(format!("at {offset:#x} of the file is {other:02x?} in place of LOCK")),
        }
    }
    Ok(bytes)
}

fn sites(bytes: &[u8]) -> Result<Vec<FoundSite>, String> {
    let file = object::File::parse(bytes).map_err(|error| format!("no program or library: {error}"))?;
    if file.format() != BinaryFormat::Elf || file.architecture() != Architecture::X86_64 {
        return Err(format!(
            "for {:?} as {:?}; only ELF files for x86-64 have LOCK as F0",
            file.architecture(),
            file.format()
        ));
    }
    if !matches!(file.kind(), ObjectKind::Executable | ObjectKind::Dynamic) {
        return Err(format!("{:?}, not linked; give the program or library", file.kind()));
    }
    let sections: Vec<Section<'_>> = file.sections().filter_map(|s| executable(&s)).collect();
    if sections.is_empty() {
        return Err("no executable section; a file without its table of sections cannot be swept".to_owned());
    }
    let ranges = ranges::of(&file);
    let mut found = Vec::new();
    for section in &sections {
        let sites = sweep(section);
        let proofs = prove(section, &sites, &ranges);
        found.extend(sites.into_iter().zip(proofs).map(|(site, proof)| FoundSite {
            site,
            offset: section.offset + (site.address - section.address),
            proof,
        }));
    }
    Ok(found)
}

/// The section, where it has instructions as they are in the file.
fn executable<'a>(section: &object::Section<'a, '_>) -> Option<Section<'a>> {
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
        return None;
    };
    let (offset, size) = section.file_range()?;
    let bytes = section.data().ok()?;
    let is_code = sh_flags.contains(SHF_EXECINSTR) && bytes.len() as u64 == size;
    is_code.then_some(Section {
        address: section.address(),
        offset,
        bytes,
    })
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

/// The sites by what becomes of them, with their kinds: how many of each.
pub(super) fn tally(sites: &[FoundSite]) -> Vec<(&'static str, SiteKind, usize)> {
    let mut counts: Vec<(&'static str, SiteKind, usize)> = Vec::new();
    for found in sites {
        let (outcome, kind) = (found.outcome(), found.site.kind);
        match counts.iter_mut().find(|(o, k, _)| (*o, *k) == (outcome, kind)) {
            Some((.., count)) => *count += 1,
            None => counts.push((outcome, kind, 1)),
        }
    }
    counts.sort_by_key(|(outcome, kind, _)| (*outcome != "replaced", *outcome, *kind));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lock_is_replaced() {
        assert_eq!(replaced(&[1, LOCK, LOCK], &[1]), Ok(vec![1, DS, LOCK]));
        assert!(replaced(&[1, LOCK], &[0]).unwrap_err().contains("in place of LOCK"));
        assert!(replaced(&[1, LOCK], &[2]).unwrap_err().contains("None"));
    }

    #[test]
    fn what_is_no_program_is_refused_in_one_line() {
        for (bytes, what) in [(&b""[..], "no program"), (b"#!/bin/sh\n", "no program")] {
            let error = sites(bytes).unwrap_err();
            assert!(error.contains(what) && !error.contains('\n'), "{error}");
        }
        assert!(
            Image::read(Path::new("/nonexistent"))
                .err()
                .unwrap()
                .starts_with("cannot read /nonexistent")
        );
    }
}
