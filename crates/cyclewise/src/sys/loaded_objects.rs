//! dl_iterate_phdr(3): the objects that the dynamic linker lists, and their segments.
//!
//! It lists those of the caller's namespace (dlmopen(3)), the ones that are being loaded or unloaded among them. While it does, it
//! holds a lock without which none is added or unmapped.
//!
//! # Safety
//! 1. The dynamic linker maps an object's segments before it lists it, and unmaps them after.
//! 2. An object's headers are valid while it is listed. Its segments lie where they say.
//! 3. The visitor neither unwinds nor waits: a fork meanwhile leaves the lock taken in the child.
#![expect(unsafe_code, reason = "dl_iterate_phdr, reading mapped segments")]

use core::ffi::{c_int, c_void};
use core::ops::Range;
#[cfg(target_pointer_width = "32")]
use libc::Elf32_Phdr as Header;
#[cfg(target_pointer_width = "64")]
use libc::Elf64_Phdr as Header;
use libc::{PF_R, PF_W, PF_X, PT_GNU_RELRO, PT_LOAD, PT_NOTE};

/// An object that is listed.
pub(crate) struct Object<'a> {
    base: usize,
    headers: &'a [Header],
}

/// Shows `visit` each object, until it returns false.
pub(crate) fn each(mut visit: impl FnMut(&Object<'_>) -> bool) {
    unsafe extern "C" fn one<V: FnMut(&Object<'_>) -> bool>(
        information: *mut libc::dl_phdr_info,
        _size: usize,
        visit: *mut c_void,
    ) -> c_int {
        // SAFETY: `each` passed it, and waits for dl_iterate_phdr.
        let visit = unsafe { &mut *visit.cast::<V>() };
        // SAFETY: the dynamic linker's, for this call.
        let information = unsafe { &*information };
        let (start, count) = (information.dlpi_phdr, usize::from(information.dlpi_phnum));
        if start.is_null() {
            return 0;
        }
        // SAFETY: Invariant 2.
        let headers = unsafe { core::slice::from_raw_parts(start, count) };
        let base = information.dlpi_addr as usize;
        c_int::from(!visit(&Object { base, headers }))
    }
    fn callback<V: FnMut(&Object<'_>) -> bool>(
        _: &V,
    ) -> unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int {
        one::<V>
    }
    let callback = callback(&visit);
    // SAFETY: the callback for the type of what is passed with it (Invariant 3).
    unsafe { libc::dl_iterate_phdr(Some(callback), (&raw mut visit).cast()) };
}

impl Object<'_> {
    fn range(&self, header: &Header) -> Range<usize> {
        let start = self.base.wrapping_add(header.p_vaddr as usize);
        start..start.saturating_add(header.p_memsz as usize)
    }

    fn of_kind(&self, kind: u32) -> impl Iterator<Item = &Header> {
        self.headers.iter().filter(move |header| header.p_type == kind)
    }

    /// Whether it lies in one segment with these permissions and without those.
    fn is_in(&self, range: &Range<usize>, with: u32, without: u32) -> bool {
        self.of_kind(PT_LOAD).any(|header| {
            let segment = self.range(header);
            let holds = segment.start <= range.start && range.start <= range.end && range.end <= segment.end;
            holds && header.p_flags & with == with && header.p_flags & without == 0
        })
    }

    /// Whether it can be read.
    pub(crate) fn is_readable(&self, range: &Range<usize>) -> bool {
        self.is_in(range, PF_R, 0)
    }

    /// Whether it is data that can be written, also after relocation.
    pub(crate) fn is_writable(&self, range: &Range<usize>) -> bool {
        let becomes_read_only = |header| {
            let relro = self.range(header);
            relro.start < range.end && range.start < relro.end
        };
        self.is_in(range, PF_R | PF_W, 0) && !self.of_kind(PT_GNU_RELRO).any(becomes_read_only)
    }

    /// Whether it is text.
    pub(crate) fn is_text(&self, range: &Range<usize>) -> bool {
        self.is_in(range, PF_R | PF_X, PF_W)
    }

    /// From its first segment to its last.
    pub(crate) fn bounds(&self) -> Range<usize> {
        let mut segments = self.of_kind(PT_LOAD).map(|header| self.range(header));
        let first = segments.next().unwrap_or(0..0);
        segments.fold(first, |all, one| all.start.min(one.start)..all.end.max(one.end))
    }

    /// Shows `visit` the contents of each of its notes with this name and type.
    pub(crate) fn notes(&self, name: &[u8], kind: u32, mut visit: impl FnMut(&[u8])) {
        for header in self.of_kind(PT_NOTE) {
            let range = self.range(header);
            if !self.is_readable(&range) || !range.start.is_multiple_of(4) {
                continue;
            }
            let start = core::ptr::with_exposed_provenance(range.start);
            // SAFETY: in a segment that can be read (Invariants 1 and 2). A note is not written.
            let bytes = unsafe { core::slice::from_raw_parts(start, range.len()) };
            let alignment = if header.p_align == 8 { 8 } else { 4 };
            notes_in(bytes, alignment, |found, found_kind, contents| {
                if found == name && found_kind == kind {
                    visit(contents);
                }
            });
        }
    }
}

/// Reads the notes of a segment: name, type, contents. Ends at one that does not fit.
fn notes_in(mut bytes: &[u8], alignment: usize, mut visit: impl FnMut(&[u8], u32, &[u8])) {
    const HEADER: usize = 12;
    let word = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(word))
    };
    loop {
        let [Some(name), Some(contents), Some(kind)] = [0, 4, 8].map(|at| word(bytes, at)) else {
            return;
        };
        let [name, contents] = [name as usize, contents as usize];
        let at = (HEADER + name).next_multiple_of(alignment);
        let [Some(name), Some(found)] = [bytes.get(HEADER..HEADER + name), bytes.get(at..at + contents)] else {
            return;
        };
        visit(name, kind, found);
        let Some(rest) = bytes.get((at + contents).next_multiple_of(alignment)..) else {
            return;
        };
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn note(name: &[u8], kind: u32, contents: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [name.len() as u32, contents.len() as u32, kind] {
            bytes.extend(word.to_ne_bytes());
        }
        for part in [name, contents] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Vec<(Vec<u8>, u32, Vec<u8>)> {
        let mut found = Vec::new();
        notes_in(bytes, 4, |name, kind, contents| {
            found.push((name.to_vec(), kind, contents.to_vec()));
        });
        found
    }

    #[test]
    fn notes_are_read_up_to_one_that_does_not_fit() {
        let two = [note(b"GNU\0", 3, &[7; 5]), note(b"cyclewise\0", 1, &[1, 2, 3, 4])].concat();
        let expected = [
            (b"GNU\0".to_vec(), 3, [7; 5].to_vec()),
            (b"cyclewise\0".to_vec(), 1, [1, 2, 3, 4].to_vec()),
        ];
        assert_eq!(read(&two), expected);
        for length in 0..two.len() {
            assert!(read(&two[..length]).len() < 2, "{length}");
        }
        for lie in [0, 1] {
            let mut wrong = two.clone();
            wrong[4 * lie..4 * lie + 4].copy_from_slice(&u32::MAX.to_ne_bytes());
            assert_eq!(read(&wrong), []);
        }
    }

    #[test]
    fn this_function_is_text_of_one_object_and_a_local_of_none() {
        let here = this_function_is_text_of_one_object_and_a_local_of_none as fn() as usize;
        let local = 0_u8;
        let (mut holds, mut objects) = (0, 0);
        each(|object| {
            objects += 1;
            holds += u32::from(object.is_text(&(here..here + 1)));
            let at = (&raw const local).addr();
            assert!(!object.is_readable(&(at..at + 1)));
            assert!(!object.is_writable(&(here..here + 1)));
            true
        });
        assert_eq!(holds, 1);
        let mut seen = 0;
        each(|_| {
            seen += 1;
            false
        });
        assert!(objects >= 1 && seen == 1);
    }
}
