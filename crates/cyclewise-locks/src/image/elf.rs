//! What is needed of an ELF file: segments, symbols, its build id, and where its debug information is.

use super::reader::{Bounded, Reader, Reason};
use super::symbols::{Ends, Symbols};
use super::unwind;
use crate::counts::Arch;
use object::elf::{self, FileHeader64, SectionHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader, Rela, SectionHeader, SectionTable, Sym};
use object::read::{CompressedData, CompressionFormat};
use object::{Endianness, ReadRef};
use std::ops::Range;
use std::sync::Arc;

/// What a compressed byte comes to at most: 1032 in zlib's format (RFC 1951: a match of 258 bytes in two bits), and a block of 128 KiB
/// in four bytes in zstd's (RFC 8878, section 3.1.1.2), which no compiler's output comes near.
const PER_BYTE: u64 = 1032;

/// What any section may come to: a short one of zeros in zstd's format.
const PER_FRAME: u64 = 1 << 20;

/// A loaded part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) offset: u64,
    pub(super) address: u64,
    /// Bytes in the file.
    pub(super) size: u64,
    pub(super) is_executable: bool,
}

/// A file, opened and its headers read.
pub(super) struct Elf<'a> {
    endian: Endianness,
    header: &'a FileHeader64<Endianness>,
    sections: SectionTable<'a, FileHeader64<Endianness>, Bounded<'a>>,
    reader: &'a Reader,
}

impl<'a> Elf<'a> {
    pub(super) fn parse(reader: &'a Reader) -> Result<Self, Reason> {
        let data = reader.data();
        let ident = data.read_bytes_at(0, 16).map_err(|()| "not an ELF file".to_owned())?;
        if ident[..4] != elf::ELFMAG {
            return Err("not an ELF file".to_owned());
        }
        if ident[4] == 1 {
            return Err("a 32-bit file".to_owned());
        }
        let header = FileHeader64::<Endianness>::parse(data).map_err(|e| e.to_string())?;
        let endian = header.endian().map_err(|e| e.to_string())?;
        // A file without section headers can be executed; one with broken ones has no names.
        let sections = header.sections(endian, data).unwrap_or_default();
        Ok(Self {
            endian,
            header,
            sections,
            reader,
        })
    }

    /// The architecture, if it is one of ours.
    pub(super) fn arch(&self) -> Option<Arch> {
        match self.header.e_machine(self.endian) {
            elf::EM_X86_64 => Some(Arch::X86_64),
            elf::EM_AARCH64 => Some(Arch::Aarch64),
            _ => None,
        }
    }

    /// Whether its numbers are big-endian.
    pub(super) fn is_big(&self) -> bool {
        self.endian == Endianness::Big
    }

    pub(super) fn segments(&self) -> Result<Vec<Segment>, Reason> {
        let headers = self
            .header
            .program_headers(self.endian, self.reader.data())
            .map_err(|e| e.to_string())?;
        let loaded = headers.iter().filter(|h| h.p_type(self.endian) == elf::PT_LOAD);
        Ok(loaded
            .map(|h| Segment {
                offset: h.p_offset(self.endian),
                address: h.p_vaddr(self.endian),
                size: h.p_filesz(self.endian),
                is_executable: h.p_flags(self.endian).contains(elf::PF_X),
            })
            .collect())
    }

    pub(super) fn build_id(&self) -> Option<Vec<u8>> {
        for section in self.sections.iter() {
            let Ok(Some(mut notes)) = section.notes(self.endian, self.reader.data()) else {
                continue;
            };
            while let Ok(Some(note)) = notes.next() {
                if note.name() == elf::ELF_NOTE_GNU && note.n_type(self.endian) == elf::NT_GNU_BUILD_ID {
                    return Some(note.desc().to_vec());
                }
            }
        }
        None
    }

    /// The name that a library gives itself, by which others ask for it.
    pub(super) fn soname(&self) -> Option<String> {
        let data = self.reader.data();
        let (entries, strings) = self.sections.dynamic(self.endian, data).ok()??;
        let strings = self.sections.section(strings).ok()?.data(self.endian, data).ok()?;
        let entry = entries.iter().find(|e| e.d_tag(self.endian) == elf::DT_SONAME)?;
        let name = strings.get(usize::try_from(entry.d_val(self.endian)).ok()?..)?;
        let end = name.iter().position(|b| *b == 0)?;
        Some(String::from_utf8_lossy(&name[..end]).into_owned())
    }

    fn section(&self, name: &[u8]) -> Option<&'a SectionHeader64<Endianness>> {
        let found = self.sections.section_by_name(self.endian, name);
        found
            .map(|(_, section)| section)
            .filter(|s| s.sh_type(self.endian) != elf::SHT_NOBITS)
    }

    /// A section's addresses.
    pub(super) fn section_range(&self, name: &[u8]) -> Option<Range<u64>> {
        let section = self.section(name)?;
        let start = section.sh_addr(self.endian);
        Some(start..start.checked_add(section.sh_size(self.endian))?)
    }

    /// A section's bytes, decompressed; none where it is missing, an error where it is too large or broken.
    pub(super) fn bytes(&self, name: &[u8]) -> Result<Option<Arc<[u8]>>, Reason> {
        let Some(section) = self.section(name) else {
            return Ok(None);
        };
        let name = || String::from_utf8_lossy(name).into_owned();
        let data = self.reader.data();
        let compression = section.compression(self.endian, data).map_err(|e| e.to_string())?;
        let Some((header, offset, size)) = compression else {
            let bytes = section
                .data(self.endian, data)
                .map_err(|_| format!("{} is outside of the file, or larger than the limit", name()))?;
            return Ok(Some(bytes.into()));
        };
        use object::read::elf::CompressionHeader as _;
        let compressed = CompressedData {
            format: match header.ch_type(self.endian) {
                elf::ELFCOMPRESS_ZLIB => CompressionFormat::Zlib,
                elf::ELFCOMPRESS_ZSTD => CompressionFormat::Zstandard,
                _ => CompressionFormat::Unknown,
            },
            data: data
                .read_bytes_at(offset, size)
                .map_err(|()| format!("{} is outside of the file", name()))?,
            uncompressed_size: header.ch_size(self.endian),
        };
        if !self.reader.take(compressed.uncompressed_size) {
            return Err(format!("{} is larger than the limit", name()));
        }
        // Memory is asked for by this number, so it must be one that the bytes can come to.
        let most = compressed.data.len() as u64 * PER_BYTE + PER_FRAME;
        if compressed.uncompressed_size > most {
            return Err(format!("{} cannot have the size that it claims", name()));
        }
        let bytes = compressed.decompress().map_err(|e| e.to_string())?;
        Ok(Some(bytes.into()))
    }

    /// The name and checksum of a file with its debug information.
    pub(super) fn debug_link(&self) -> Option<(Vec<u8>, u32)> {
        let bytes = self.bytes(b".gnu_debuglink").ok()??;
        let end = bytes.iter().position(|b| *b == 0)?;
        let at = (end + 4) & !3;
        let crc = bytes.get(at..at + 4)?.first_chunk()?;
        let crc = if self.is_big() {
            u32::from_be_bytes(*crc)
        } else {
            u32::from_le_bytes(*crc)
        };
        Some((bytes[..end].to_vec(), crc))
    }

    /// The name and build id of a file that several files' debug information share.
    pub(super) fn alt_link(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let bytes = self.bytes(b".gnu_debugaltlink").ok()??;
        let end = bytes.iter().position(|b| *b == 0)?;
        Some((bytes[..end].to_vec(), bytes[end + 1..].to_vec()))
    }

    /// Whether it has debug information of its own.
    pub(super) fn has_dwarf(&self) -> bool {
        self.section(b".debug_info").is_some() || self.section(b".debug_line").is_some()
    }

    /// Whether it has the names of all of its functions.
    pub(super) fn has_all_symbols(&self) -> bool {
        self.section(b".symtab").is_some()
    }

    /// Functions by the table for unwinding.
    pub(super) fn unwound(&self) -> Vec<Range<u64>> {
        let (name, text) = (b".eh_frame", self.section_range(b".text"));
        match (self.bytes(name), self.section_range(name)) {
            (Ok(Some(table)), Some(at)) if !self.is_big() => unwind::functions(&table, at.start, text.map(|t| t.start)),
            _ => Vec::new(),
        }
    }

    /// Functions by `.symtab`; where there are none, by `.dynsym`.
    pub(super) fn symbols(&self) -> Symbols {
        let mut symbols = self.table(elf::SHT_SYMTAB);
        if symbols.is_empty() {
            symbols = self.table(elf::SHT_DYNSYM);
        }
        symbols
    }

    /// Symbols by where the dynamic linker writes their addresses.
    pub(super) fn slots(&self) -> Symbols {
        let Some((entries, strings)) = self.entries(elf::SHT_DYNSYM) else {
            return Symbols::default();
        };
        let mut slots: Vec<(usize, u64)> = self
            .relocations()
            .filter_map(|row| {
                let symbol = row.symbol(self.endian, false)?;
                Some((
                    entries.get(symbol.0)?.st_name(self.endian) as usize,
                    row.r_offset(self.endian),
                ))
            })
            .collect();
        slots.sort_unstable();
        let mut symbols = Symbols::with_names(strings);
        let ends = Ends::new(strings);
        for (start, slot) in slots {
            if let Some(end) = ends.of(start).filter(|end| *end > start) {
                symbols.add(slot, 8, start..end, 0);
            }
        }
        symbols.sort();
        symbols
    }

    /// Where the dynamic linker writes addresses of this file's own functions, as far as calls read them from there; sorted.
    pub(super) fn own_slots(&self) -> Vec<(u64, u64)> {
        let Some(table) = self.section_range(b".got") else {
            return Vec::new();
        };
        let is_own = |row: &&elf::Rela64<Endianness>| {
            let kind = row.r_type(self.endian, false);
            let relative = [elf::R_X86_64_RELATIVE, elf::R_AARCH64_RELATIVE];
            relative.contains(&kind) && table.contains(&row.r_offset(self.endian))
        };
        let rows = self.relocations().filter(is_own);
        let mut slots: Vec<_> = rows
            .map(|row| (row.r_offset(self.endian), row.r_addend(self.endian).cast_unsigned()))
            .collect();
        slots.sort_unstable();
        slots
    }

    fn relocations(&self) -> impl Iterator<Item = &'a elf::Rela64<Endianness>> + '_ {
        let rows = |name: &[u8]| {
            let rows = self.section(name)?.rela(self.endian, self.reader.data()).ok()?;
            rows.map(|(rows, _)| rows)
        };
        let tables = [b".rela.plt".as_slice(), b".rela.dyn"];
        tables.into_iter().filter_map(rows).flatten()
    }

    /// A table of symbols, and the bytes of their names.
    fn entries(&self, kind: elf::SectionType) -> Option<(&'a [elf::Sym64<Endianness>], &'a [u8])> {
        let data = self.reader.data();
        let section = self.sections.iter().find(|s| s.sh_type(self.endian) == kind)?;
        let names = self.sections.section(section.link(self.endian)).ok()?;
        let entries = section.data_as_array(self.endian, data).ok()?;
        Some((entries, names.data(self.endian, data).ok()?))
    }

    fn table(&self, kind: elf::SectionType) -> Symbols {
        let Some((entries, strings)) = self.entries(kind) else {
            return Symbols::default();
        };
        let mut symbols = Symbols::with_names(strings);
        let ends = Ends::new(strings);
        let mut entries: Vec<_> = entries.iter().collect();
        entries.sort_by_key(|e| e.st_name(self.endian));
        for entry in entries {
            self.add(&mut symbols, entry, strings, &ends);
        }
        symbols.sort();
        symbols
    }

    fn add(&self, symbols: &mut Symbols, entry: &elf::Sym64<Endianness>, strings: &[u8], ends: &Ends<'_>) {
        let kind = entry.st_type();
        // Functions in assembly may have no type.
        let is_code = kind == elf::STT_FUNC || kind == elf::STT_GNU_IFUNC || kind == elf::STT_NOTYPE;
        if !is_code || entry.is_undefined(self.endian) || entry.st_value(self.endian) == 0 {
            return;
        }
        let start = entry.st_name(self.endian) as usize;
        let Some(name) = ends.of(start).map(|end| start..end) else {
            return;
        };
        let is_in_code = self
            .sections
            .section(object::SectionIndex(usize::from(entry.st_shndx(self.endian).0)))
            .is_ok_and(|s| s.sh_flags(self.endian).contains(elf::SHF_EXECINSTR));
        // `$x` and `$d` are AArch64's marks of code and data.
        if !is_in_code || name.is_empty() || strings[start] == b'$' {
            return;
        }
        let rank = u8::from(kind == elf::STT_NOTYPE) * 4
            + match entry.st_bind() {
                elf::STB_GLOBAL => 0,
                elf::STB_WEAK => 1,
                _ => 2,
            };
        symbols.add(entry.st_value(self.endian), entry.st_size(self.endian), name, rank);
    }
}
