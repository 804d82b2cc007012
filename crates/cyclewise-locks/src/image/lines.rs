//! Functions, inlined calls and lines, from DWARF.

use super::elf::Elf;
use super::frame::Frame;
use super::names::demangle;
use super::reader::{Reader, Reason};
use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{Dwarf, EndianArcSlice, Reader as _, RunTimeEndian, SectionId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Slice = EndianArcSlice<RunTimeEndian>;

/// The debug information of a file.
pub(super) struct Lines {
    context: Context<Slice>,
    split: Split,
}

/// Frames at one address; a longer chain of inlined calls is cut.
const DEEPEST: usize = 64;

/// The deepest nesting of entries. addr2line takes a call on the stack for each inlined call around another, and a file of 20 kB can
/// nest ten thousand.
const NESTED: isize = 500;

impl Lines {
    /// Reads it from `file`, with the shared part from `shared`; at most `limit` bytes of each.
    pub(super) fn read(file: &Path, shared: Option<&Path>, limit: u64) -> Result<Self, Reason> {
        let reader = Reader::open(file, limit)?;
        let elf = Elf::parse(&reader)?;
        let mut dwarf = Dwarf::load(|id| section(&elf, id.name()))?;
        if let Some(shared) = shared {
            let reader = Reader::open(shared, limit)?;
            let elf = Elf::parse(&reader)?;
            dwarf.load_sup(|id| section(&elf, id.name()))?;
        }
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        if is_too_deep(&dwarf) {
            return Err(format!("its entries nest deeper than {NESTED}"));
        }
        let context = Context::from_dwarf(dwarf).map_err(|e| format!("bad DWARF: {e}"))?;
        Ok(Self {
            context,
            split: Split::new(file, limit),
        })
    }

    /// Functions and lines at an address, the innermost inlined one first. Nothing where nothing is known or it is broken.
    pub(super) fn frames(&self, address: u64) -> Vec<Frame> {
        // addr2line adds one to it.
        if address == u64::MAX {
            return Vec::new();
        }
        let mut lookup = self.context.find_frames(address);
        let found = loop {
            match lookup {
                LookupResult::Output(found) => break found,
                LookupResult::Load { load, continuation } => {
                    let loaded = self.split.load(&load);
                    lookup = continuation.resume(loaded);
                }
            }
        };
        let mut frames = Vec::new();
        let Ok(mut found) = found else { return frames };
        while let Ok(Some(frame)) = found.next() {
            if frames.len() == DEEPEST {
                break;
            }
            let function = frame.function.and_then(|f| f.raw_name().ok().map(|n| demangle(&n)));
            frames.push(Frame {
                function: function.unwrap_or_default(),
                file: frame.location.as_ref().and_then(|l| l.file).map(str::to_owned),
                line: frame.location.as_ref().and_then(|l| l.line),
            });
        }
        frames
    }
}

/// Whether an entry of a unit is nested deeper than addr2line may follow. What cannot be read is not followed.
fn is_too_deep(dwarf: &Dwarf<Slice>) -> bool {
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let Ok(mut entries) = unit.entries_raw(None) else {
            continue;
        };
        while !entries.is_empty() {
            if entries.next_depth() > NESTED {
                return true;
            }
            let skipped = match entries.read_abbreviation() {
                Ok(Some(abbreviation)) => entries.skip_attributes(abbreviation.attributes()),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            if skipped.is_err() {
                break;
            }
        }
    }
    false
}

fn section(elf: &Elf<'_>, name: &str) -> Result<Slice, Reason> {
    let bytes = elf.bytes(name.as_bytes())?.unwrap_or_else(|| Arc::from([]));
    Ok(Slice::new(bytes, endian(elf)))
}

fn endian(elf: &Elf<'_>) -> RunTimeEndian {
    if elf.is_big() {
        RunTimeEndian::Big
    } else {
        RunTimeEndian::Little
    }
}

type Loaded = Option<Arc<Dwarf<Slice>>>;

/// Debug information that a compiler left in files of its own (`-gsplit-dwarf`), or that was packed into one.
struct Split {
    package: PathBuf,
    limit: u64,
    opened: RefCell<Option<Option<gimli::DwarfPackage<Slice>>>>,
    loaded: RefCell<HashMap<u64, Loaded>>,
}

impl Split {
    fn new(file: &Path, limit: u64) -> Self {
        let mut package = file.as_os_str().to_owned();
        package.push(".dwp");
        Self {
            package: package.into(),
            limit,
            opened: RefCell::default(),
            loaded: RefCell::default(),
        }
    }

    fn load(&self, load: &SplitDwarfLoad<Slice>) -> Loaded {
        if let Some(loaded) = self.loaded.borrow().get(&load.dwo_id.0) {
            return loaded.clone();
        }
        let loaded = self.packed(load).or_else(|| self.unpacked(load));
        self.loaded.borrow_mut().insert(load.dwo_id.0, loaded.clone());
        loaded
    }

    fn packed(&self, load: &SplitDwarfLoad<Slice>) -> Loaded {
        let mut opened = self.opened.borrow_mut();
        let package = opened.get_or_insert_with(|| {
            let reader = Reader::open(&self.package, self.limit).ok()?;
            let elf = Elf::parse(&reader).ok()?;
            let empty = Slice::new(Arc::from([]), endian(&elf));
            gimli::DwarfPackage::load::<_, Box<dyn std::error::Error>>(|id| Ok(dwo_section(&elf, id)?), empty).ok()
        });
        let found = package.as_ref()?.find_cu(load.dwo_id, &load.parent).ok()??;
        (!is_too_deep(&found)).then(|| Arc::new(found))
    }

    fn unpacked(&self, load: &SplitDwarfLoad<Slice>) -> Loaded {
        let text = |slice: &Slice| slice.to_string_lossy().ok().map(|s| PathBuf::from(s.as_ref()));
        let mut path = load.comp_dir.as_ref().and_then(text).unwrap_or_default();
        path.push(text(load.path.as_ref()?)?);
        let reader = Reader::open(&path, self.limit).ok()?;
        let elf = Elf::parse(&reader).ok()?;
        let mut dwarf = Dwarf::load(|id| dwo_section(&elf, id)).ok()?;
        let header = dwarf.units().next().ok()??;
        let unit = dwarf.unit(header).ok()?;
        // The file may be of a later compilation.
        if unit.dwo_id != Some(load.dwo_id) {
            return None;
        }
        dwarf.make_dwo(&load.parent);
        (!is_too_deep(&dwarf)).then(|| Arc::new(dwarf))
    }
}

fn dwo_section(elf: &Elf<'_>, id: SectionId) -> Result<Slice, Reason> {
    match id.dwo_name() {
        Some(name) => section(elf, name),
        None => Ok(Slice::new(Arc::from([]), endian(elf))),
    }
}
