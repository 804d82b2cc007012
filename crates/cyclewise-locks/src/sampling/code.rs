//! Code of the files that were executed, and the functions in it: read from the files, by parts.
//!
//! Addresses here are offsets in the file. Only headers, symbol tables and the functions around samples are read, so a file may be of any
//! size.

use crate::counts::Arch;
use object::read::elf::{ElfFile, FileHeader};
use object::{Object, ObjectSegment, ObjectSymbol, ReadCache, ReadRef, SymbolKind};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The longest function that is read.
const LONGEST: u64 = 1 << 20;

/// A file that was executed.
#[derive(Debug)]
pub(super) struct CodeFile {
    file: File,
    pub(super) arch: Option<Arch>,
    pub(super) build_id: Option<Vec<u8>>,
    /// Starts and ends of functions, by start.
    functions: Vec<(u64, u64)>,
}

impl CodeFile {
    /// Reads the tables of `path`.
    ///
    /// # Errors
    /// It cannot be opened. What is no ELF file has no functions.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut code = Self {
            file: file.try_clone()?,
            arch: None,
            build_id: None,
            functions: Vec::new(),
        };
        let cache = ReadCache::new(file);
        if let Ok(elf) = ElfFile::<object::elf::FileHeader64<object::Endianness>, _>::parse(&cache) {
            code.read_tables(&elf);
        }
        Ok(code)
    }

    fn read_tables<'a, H: FileHeader, R: ReadRef<'a>>(&mut self, elf: &ElfFile<'a, H, R>) {
        self.arch = match elf.architecture() {
            object::Architecture::X86_64 => Some(Arch::X86_64),
            object::Architecture::Aarch64 => Some(Arch::Aarch64),
            _ => None,
        };
        self.build_id = elf.build_id().ok().flatten().map(<[u8]>::to_vec);
        let segments: Vec<_> = elf
            .segments()
            .map(|s| (s.address(), s.file_range().0, s.file_range().1))
            .collect();
        let offset = |address: u64| {
            let inside =
                |(start, _, length): &&(u64, u64, u64)| (*start..start.saturating_add(*length)).contains(&address);
            let (start, file_offset, _) = segments.iter().find(inside)?;
            file_offset.checked_add(address - start)
        };
        let all = elf.symbols().chain(elf.dynamic_symbols());
        self.functions = all
            .filter(|s| s.kind() == SymbolKind::Text && s.size() > 0)
            .filter_map(|s| {
                let start = offset(s.address())?;
                Some((start, start.checked_add(s.size())?))
            })
            .collect();
        self.functions.sort_unstable();
        self.functions.dedup();
    }

    /// The function at `offset`: the latest that begins before it and reaches it.
    pub(super) fn function(&self, offset: u64) -> Option<(u64, u64)> {
        let after = self.functions.partition_point(|&(start, _)| start <= offset);
        // Symbols may overlap: a few before it are enough for those of one place.
        let near = self.functions[..after].iter().rev().take(16);
        near.copied()
            .find(|&(start, end)| offset < end && end - start <= LONGEST)
    }

    /// Up to `length` bytes at `offset`.
    pub(super) fn read(&self, offset: u64, length: u64) -> Vec<u8> {
        let mut bytes = vec![0; length.min(LONGEST) as usize];
        let mut done = 0;
        while done < bytes.len() {
            let Some(at) = offset.checked_add(done as u64) else {
                break;
            };
            match self.file.read_at(&mut bytes[done..], at) {
                Ok(0) | Err(_) => break,
                Ok(n) => done += n,
            }
        }
        bytes.truncate(done);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mangle::{Owes, hold};

    /// This program, whose functions are known by their addresses.
    fn this() -> (CodeFile, u64) {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let address = cyclewise_bench::machine::lock_event::locked_loop as *const () as u64;
        let line = maps
            .lines()
            .find(|l| {
                let (start, rest) = l.split_once('-').unwrap();
                let end = rest.split(' ').next().unwrap();
                let [start, end] = [start, end].map(|h| u64::from_str_radix(h, 16).unwrap());
                (start..end).contains(&address)
            })
            .unwrap();
        let fields: Vec<_> = line.split_whitespace().collect();
        let start = u64::from_str_radix(fields[0].split('-').next().unwrap(), 16).unwrap();
        let offset = u64::from_str_radix(fields[2], 16).unwrap() + (address - start);
        (CodeFile::open(&std::env::current_exe().unwrap()).unwrap(), offset)
    }

    #[test]
    fn a_function_of_this_program_is_found_with_its_bytes() {
        let (code, offset) = this();
        assert_eq!(code.arch, Some(crate::sampling::arch()));
        let (start, end) = code.function(offset).unwrap();
        assert_eq!(start, offset);
        assert!(end > start + 8);
        // What is in the file is what is in memory.
        let bytes = code.read(start, end - start);
        assert_eq!(bytes.len() as u64, end - start);
        // Behind it is another function, or none.
        assert_ne!(code.function(end).map(|f| f.0), Some(start));
    }

    #[test]
    fn what_is_no_program_has_no_functions() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "#!/bin/sh\n").unwrap();
        let code = CodeFile::open(file.path()).unwrap();
        assert_eq!((code.arch, code.function(0)), (None, None));
        assert_eq!(code.read(2, 100), b"/bin/sh\n");
        assert!(CodeFile::open(Path::new("/does/not/exist")).is_err());
        assert!(CodeFile::open(Path::new("/dev/null")).is_err());
    }

    #[test]
    fn mangled_programs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p");
        let source = folder.path().join("p.c");
        std::fs::write(&source, "void f(void) {}\nvoid _start(void) { f(); for (;;) ; }\n").unwrap();
        let mut cc = std::process::Command::new("cc");
        cc.args(["-nostdlib", "-static", "-o"]).arg(&path).arg(&source);
        if !cc.output().is_ok_and(|out| out.status.success()) {
            return println!("skipped: cc is missing");
        }
        let good = std::fs::read(&path).unwrap();
        let owes = Owes {
            // A function of up to `LONGEST` is read, whatever the symbols' number.
            most_bytes: |file| (8 << 20) + 64 * file,
            ..Owes::default()
        };
        hold(&[&good], owes, move |bytes| {
            let _ = &folder;
            std::fs::write(&path, bytes).unwrap();
            let code = CodeFile::open(&path).map_err(|e| e.to_string())?;
            let starts = code.functions.iter().take(8).map(|(start, _)| *start);
            let found = |offset| code.function(offset).map(|(start, end)| code.read(start, end - start));
            Ok(starts.chain([0, u64::MAX]).map(found).collect::<Vec<_>>())
        });
    }
}
