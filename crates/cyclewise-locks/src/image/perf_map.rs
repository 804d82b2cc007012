//! Names of generated code, by what its program writes for perf: a map with a start, a size and a name a line, numbers in hexadecimal; or a
//! dump of all code.
//!
//! node writes the map with `--perf-basic-prof` and the dump with `--perf-prof`, .NET the map with `DOTNET_PerfMapEnabled=1`, Java either by
//! an agent. Dumps are looked for in the current folder.
//!
//! # References
//! Linux's `tools/perf/Documentation/jit-interface.txt` and `jitdump-specification.txt`.

use std::io::Read;
use std::path::Path;

/// Bytes of a map that are read: a large program's has some ten megabytes.
const MOST: u64 = 256 << 20;

/// Functions of generated code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerfMap {
    /// Start, end and name, by the start. Of functions at one place the later one is kept: code is replaced.
    functions: Vec<(u64, u64, String)>,
}

impl PerfMap {
    /// What a process wrote; empty where it wrote nothing.
    pub fn of_process(pid: u32) -> Self {
        let map = read(&Path::new("/tmp").join(format!("perf-{pid}.map")));
        let dump = || read(Path::new(&format!("jit-{pid}.dump")));
        match map {
            Some(map) => Self::parse(&String::from_utf8_lossy(&map)),
            None => dump().map_or_else(Self::default, |dump| Self::parse_dump(&dump)),
        }
    }

    /// Reads a dump; empty where it is none, and up to where it is torn.
    pub(crate) fn parse_dump(dump: &[u8]) -> Self {
        let word = |bytes: &[u8], at: usize| bytes.get(at..at + 4)?.first_chunk().map(|b| u32::from_le_bytes(*b));
        let long = |bytes: &[u8], at: usize| bytes.get(at..at + 8)?.first_chunk().map(|b| u64::from_le_bytes(*b));
        let mut functions = Vec::new();
        let header = (word(dump, 0) == Some(DUMP_MAGIC)).then(|| word(dump, 8)).flatten();
        let mut rest = header.and_then(|size| dump.get(size as usize..)).unwrap_or_default();
        while let (Some(id), Some(size)) = (word(rest, 0), word(rest, 4)) {
            let Some(record) = rest.get(..size as usize).filter(|record| record.len() >= RECORD_HEADER) else {
                break;
            };
            let name = record
                .get(CODE_NAME..)
                .and_then(|text| text.split(|byte| *byte == 0).next());
            if let (CODE_LOAD, Some(start), Some(size), Some(name)) = (id, long(record, 32), long(record, 40), name) {
                let name = String::from_utf8_lossy(name).into_owned();
                functions.extend(start.checked_add(size).map(|end| (start, end, name)));
            }
            rest = &rest[record.len()..];
        }
        Self::sorted(functions)
    }

    pub(crate) fn parse(text: &str) -> Self {
        let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
        let function = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let (start, size) = (number(words.next()?)?, number(words.next()?)?);
            Some((start, start.checked_add(size)?, words.next()?.trim().to_owned()))
        };
        Self::sorted(text.lines().filter_map(function).collect())
    }

    fn sorted(mut functions: Vec<(u64, u64, String)>) -> Self {
        // Stable: of equal starts the last one written is last.
        functions.sort_by_key(|(start, ..)| *start);
        functions.reverse();
        functions.dedup_by_key(|(start, ..)| *start);
        functions.reverse();
        Self { functions }
    }

    pub fn name(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|(start, ..)| *start <= address);
        let (_, end, name) = self.functions.get(after.checked_sub(1)?)?;
        (address < *end && !name.is_empty()).then_some(name)
    }
}

/// "JiTD" of a machine that is little-endian, as both architectures are.
const DUMP_MAGIC: u32 = 0x4a69_5444;
/// A record's identity, size and time.
const RECORD_HEADER: usize = 16;
/// The record of a function, whose address is at 32, its size at 40 and its name, ended by a zero, here.
const CODE_LOAD: u32 = 0;
const CODE_NAME: usize = 56;

/// The file, if it is one: the folder of maps is everybody's, and reading a pipe would wait for ever.
fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .ok()?
        .take(MOST)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{CODE_LOAD, DUMP_MAGIC, PerfMap};

    /// A dump with two functions, and a record of another kind between them.
    pub(crate) fn dump() -> Vec<u8> {
        let mut dump = Vec::new();
        for word in [DUMP_MAGIC, 1, 40, 62, 0, 4711, 0, 0, 0, 0] {
            dump.extend(word.to_le_bytes());
        }
        for (id, start, name) in [
            (CODE_LOAD, 0x3f00_u64, "first\0"),
            (3, 0, ""),
            (CODE_LOAD, 0x4000, "second\0code"),
        ] {
            let fields = [start, start, 0x20, 1];
            let size = 24 + fields.len() * 8 + name.len();
            for word in [id, size as u32, 0, 0, 4711, 4711] {
                dump.extend(word.to_le_bytes());
            }
            fields.iter().for_each(|field| dump.extend(field.to_le_bytes()));
            dump.extend(name.as_bytes());
        }
        dump
    }

    #[test]
    fn a_dump_has_the_names_of_its_functions_as_far_as_it_is_whole() {
        let all = dump();
        let map = PerfMap::parse_dump(&all);
        assert_eq!((map.name(0x3f1f), map.name(0x401f)), (Some("first"), Some("second")));
        assert_eq!((map.name(0x3f20), map.name(0)), (None, None));
        let torn = PerfMap::parse_dump(&all[..all.len() - 1]);
        assert_eq!((torn.name(0x3f00), torn.name(0x4000)), (Some("first"), None));
        assert_eq!(PerfMap::parse_dump(b"no dump"), PerfMap::default());
    }

    #[test]
    fn functions_have_their_names_and_the_later_of_two_wins() {
        let map = PerfMap::parse(
            "3ef0 10 LazyCompile:~a b.js:1\nbroken\n3f00 20 old\n0x3f00 8 new\n5000 0 empty\nffffffffffffffff 10 over\n",
        );
        assert_eq!(map.name(0x3ef0), Some("LazyCompile:~a b.js:1"));
        assert_eq!(map.name(0x3eef), None);
        assert_eq!((map.name(0x3f07), map.name(0x3f08)), (Some("new"), None));
        assert_eq!(map.name(0x5000), None);
        assert_eq!(PerfMap::parse(""), PerfMap::default());
    }
}
