//! Executed files: from an address in one to its function, its lines and its code.
//!
//! # Invariants
//! 1. At most [`Limits::bytes`] of a file's tables and `PAGES` pages of its code are held, whatever its headers say.
//! 2. Broken files give less: no names, no lines, no code. None makes this panic.

mod elf;
mod frame;
mod lines;
mod linkage;
mod names;
mod pclntab;
pub(crate) mod perf_map;
mod reader;
mod separate;
mod symbols;
#[cfg(test)]
mod tests;
mod unwind;

use crate::counts::Arch;
use elf::{Elf, Segment};
use lines::Lines;
use linkage::{Linkage, STUB};
use names::demangle;
use reader::Reader;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use symbols::Symbols;

pub use frame::Frame;
pub use perf_map::PerfMap;
pub use symbols::Function;

/// Where debug information is looked for, and how much of it is read.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Folders with separate debug information.
    pub debug_roots: Vec<PathBuf>,
    /// Bytes of tables of one file, decompressed; files with more are read without their debug information.
    pub bytes: u64,
    /// Whether debug information is read at all.
    pub debug: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            debug_roots: vec![PathBuf::from("/usr/lib/debug")],
            // The debug information of a browser's largest library, without its types, is about this size.
            bytes: 2 << 30,
            debug: true,
        }
    }
}

/// Bytes of code that are read at once.
const PAGE: u64 = 16 << 10;

/// Pages of code that are held: 64 MiB.
const PAGES: usize = 4096;

/// An executed file.
pub struct Image {
    file: File,
    size: u64,
    segments: Vec<Segment>,
    symbols: Symbols,
    linkage: Linkage,
    /// Functions that have no symbols.
    nameless: Vec<Range<u64>>,
    lines: Option<Lines>,
    pages: RefCell<HashMap<u64, Rc<[u8]>>>,
    /// Names that were demangled already, by the function's first address.
    names: RefCell<HashMap<u64, String>>,
    pub build_id: Option<Vec<u8>>,
    /// The name that it gives itself, if it is a library.
    pub soname: Option<String>,
    /// What could not be read of it, and why.
    pub missing: Vec<String>,
}

impl Image {
    /// Opens a file and reads its tables; the reason, where it is no file of this architecture.
    pub fn open(path: &Path, arch: Arch, limits: &Limits) -> Result<Self, String> {
        let reader = Reader::open(path, limits.bytes)?;
        let elf = Elf::parse(&reader)?;
        if elf.arch() != Some(arch) {
            return Err("a file of another architecture".to_owned());
        }
        let segments = elf.segments()?;
        let mut missing = Vec::new();
        let mut symbols = elf.symbols();
        // A Go program that was stripped has no symbols, or only those of the C libraries that it uses.
        let section = |name: &str| elf.bytes(name.as_bytes()).ok().flatten();
        if let Some(functions) = pclntab::functions(&section, elf.section_range(b".text").as_ref())
            && functions.len() > symbols.len()
        {
            symbols = functions;
        }
        let debug = match (limits.debug, elf.has_dwarf()) {
            (false, _) => None,
            (true, true) => Some(path.to_owned()),
            (true, false) => separate::debug_file(path, &elf, &limits.debug_roots),
        };
        let linkage = Linkage::read(&elf, arch);
        let (build_id, soname) = (elf.build_id(), elf.soname());
        let mut lines = None;
        if let Some(debug) = debug {
            match read_debug(&debug, debug != path, &mut symbols, limits) {
                Ok(read) => lines = Some(read),
                Err(reason) => missing.push(format!("debug information of {}: {reason}", debug.display())),
            }
        }
        let nameless = if lines.is_some() || elf.has_all_symbols() {
            Vec::new()
        } else {
            elf.unwound()
        };
        let file = File::open(path).map_err(|e| e.to_string())?;
        let size = file.metadata().map_err(|e| e.to_string())?.len();
        Ok(Self {
            file,
            size,
            segments,
            symbols,
            linkage,
            nameless,
            lines,
            pages: RefCell::default(),
            names: RefCell::default(),
            build_id,
            soname,
            missing,
        })
    }

    /// The address by the file's program headers of what is at an offset of the file.
    pub fn address(&self, offset: u64) -> Option<u64> {
        let has = |s: &&Segment| offset >= s.offset && offset - s.offset < s.size;
        let executable = self.segments.iter().filter(|s| s.is_executable).find(has);
        let segment = executable.or_else(|| self.segments.iter().find(has))?;
        segment.address.checked_add(offset - segment.offset)
    }

    /// The offset in the file of what is at an address.
    pub fn offset(&self, address: u64) -> Option<u64> {
        let segment = self
            .segments
            .iter()
            .find(|s| address >= s.address && address - s.address < s.size)?;
        segment.offset.checked_add(address - segment.address)
    }

    /// The function that an address lies in, by the symbol table; in a file without one, by the table for unwinding, which has no names.
    pub fn function(&self, address: u64) -> Option<Function> {
        self.symbols.find(address).or_else(|| {
            let Range { start, end } = unwind::find(&self.nameless, address)?;
            Some(Function {
                start,
                end,
                name: String::new(),
            })
        })
    }

    /// Whether it has a function of this name.
    pub fn defines(&self, name: &str) -> bool {
        self.symbols.has(name)
    }

    /// Its name, as it was written; that of another file's function at the stub that calls it, and where its address is.
    pub fn function_name(&self, address: u64) -> Option<String> {
        let linked = self.linkage.function(address, || self.bytes(address, STUB));
        let own = || {
            let address = self.linkage.own(address).unwrap_or(address);
            // A function without a size ends with the code.
            let has = |s: &Segment| s.is_executable && address >= s.address && address - s.address < s.size;
            self.symbols
                .find_name(address)
                .filter(|_| self.segments.iter().any(has))
        };
        let (start, raw) = linked.or_else(own)?;
        if let Some(name) = self.names.borrow().get(&start) {
            return Some(name.clone());
        }
        let name = demangle(&String::from_utf8_lossy(raw));
        self.names.borrow_mut().insert(start, name.clone());
        Some(name)
    }

    /// The functions at an address with their lines, the innermost inlined one first; empty where nothing is known.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let mut frames = self.lines.as_ref().map_or_else(Vec::new, |l| l.frames(address));
        let symbol = || self.function_name(address).unwrap_or_default();
        if let Some(last) = frames.last_mut() {
            // C++'s inlined functions and line tables alone leave names out.
            if last.function.is_empty() {
                last.function = symbol();
            }
            return frames;
        }
        match symbol() {
            name if name.is_empty() => frames,
            function => vec![Frame {
                function,
                file: None,
                line: None,
            }],
        }
    }

    /// Executable parts of the file: addresses, and how many bytes.
    pub fn code(&self) -> Vec<(u64, u64)> {
        let executable = self.segments.iter().filter(|s| s.is_executable);
        executable.map(|s| (s.address, s.size)).collect()
    }

    /// Up to `length` bytes at an address; fewer at the end of what the file has.
    pub fn bytes(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let offset = self.offset(address)?;
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let at = offset.checked_add(bytes.len() as u64)?;
            let page = self.page(at / PAGE)?;
            let from = usize::try_from(at % PAGE).ok()?;
            let rest = page.get(from..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let take = rest.len().min(length - bytes.len());
            bytes.extend_from_slice(&rest[..take]);
        }
        (!bytes.is_empty()).then_some(bytes)
    }

    fn page(&self, number: u64) -> Option<Rc<[u8]>> {
        if let Some(page) = self.pages.borrow().get(&number) {
            return Some(page.clone());
        }
        let start = number.checked_mul(PAGE)?;
        let length = self.size.saturating_sub(start).min(PAGE);
        let mut page = vec![0; usize::try_from(length).ok()?];
        // A file that has become shorter gives nothing rather than zeros.
        self.file.read_exact_at(&mut page, start).ok()?;
        let page: Rc<[u8]> = page.into();
        let mut pages = self.pages.borrow_mut();
        if pages.len() >= PAGES {
            pages.clear();
        }
        pages.insert(number, page.clone());
        Some(page)
    }
}

/// Reads DWARF of a file, and its symbols where there are none yet.
fn read_debug(debug: &Path, is_separate: bool, symbols: &mut Symbols, limits: &Limits) -> Result<Lines, String> {
    let reader = Reader::open(debug, limits.bytes)?;
    let elf = Elf::parse(&reader)?;
    if is_separate {
        let others = elf.symbols();
        if !others.is_empty() {
            *symbols = others;
        }
    }
    let shared = separate::shared_file(debug, &elf, &limits.debug_roots);
    let is_shared = elf.alt_link().is_some();
    if is_shared && shared.is_none() {
        return Err("the file that it shares with others was not found".to_owned());
    }
    Lines::read(debug, shared.as_deref(), limits.bytes)
}
