//! Functions by address.
//!
//! Names stay where the file has them, in one table: many functions of a broken file may claim one long name, and copies of it would
//! fill the memory.

use std::cell::Cell;
use std::ops::Range;

/// Functions with their addresses, sizes and names.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    entries: Vec<Entry>,
    names: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    address: u64,
    size: u64,
    name: (u32, u32),
    /// Which of several names of one function is shown: the lowest.
    rank: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its first address.
    pub start: u64,
    /// The address after its last.
    pub end: u64,
    /// Its name, as the symbol table has it; empty where none has it.
    pub name: String,
}

/// How many symbols before an address may lie inside of the function that has it.
const NESTED: usize = 16;

/// Underscores in front of a name that are counted.
const UNDERSCORES: usize = 16;

/// Ends of names in a table of strings: asked for in the order of their starts, they are found in one pass.
pub(super) struct Ends<'a> {
    strings: &'a [u8],
    /// The name that was found last.
    last: Cell<(usize, usize)>,
}

impl<'a> Ends<'a> {
    pub(super) fn new(strings: &'a [u8]) -> Self {
        Self {
            strings,
            last: Cell::new((0, 0)),
        }
    }

    /// Where the name that starts at `start` ends, at the latest with the table; none outside of it.
    pub(super) fn of(&self, start: usize) -> Option<usize> {
        let (from, to) = self.last.get();
        // In the same name, or at its end.
        let scan = if (from..=to).contains(&start) { to } else { start };
        let rest = self.strings.get(scan..)?;
        let end = scan + rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
        self.last.set((start.min(scan), end));
        Some(end)
    }
}

impl Symbols {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// None yet, with names in `names`.
    pub(super) fn with_names(names: &[u8]) -> Self {
        Self {
            entries: Vec::new(),
            names: names.to_vec(),
        }
    }

    /// Adds one whose name is a range of the names; [`Self::sort`] has to follow.
    pub(super) fn add(&mut self, address: u64, size: u64, name: Range<usize>, rank: u8) {
        // Names beyond 4 GiB are left out.
        let (Ok(at), Ok(length)) = (u32::try_from(name.start), u32::try_from(name.len())) else {
            return;
        };
        self.entries.push(Entry {
            address,
            size,
            name: (at, length),
            rank,
        });
    }

    /// Sorts by address, and keeps the best of several names.
    pub(super) fn sort(&mut self) {
        let names = &self.names;
        let underscores = |e: &Entry| {
            let front = name_of(names, e).iter().take(UNDERSCORES);
            front.take_while(|b| **b == b'_').count()
        };
        self.entries
            .sort_by_key(|e| (e.address, e.size == 0, e.rank, underscores(e), e.name.1, e.name.0));
        self.entries.dedup_by_key(|e| e.address);
    }

    /// The function that an address lies in. One without a size ends where the next one starts.
    pub(super) fn find(&self, address: u64) -> Option<Function> {
        let (entry, end) = self.entry(address)?;
        Some(Function {
            start: entry.address,
            end,
            name: String::from_utf8_lossy(name_of(&self.names, entry)).into_owned(),
        })
    }

    /// Where the function of an address starts, and its name.
    pub(super) fn find_name(&self, address: u64) -> Option<(u64, &[u8])> {
        let (entry, _) = self.entry(address)?;
        Some((entry.address, name_of(&self.names, entry)))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.entries
            .iter()
            .any(|entry| name_of(&self.names, entry) == name.as_bytes())
    }

    fn entry(&self, address: u64) -> Option<(&Entry, u64)> {
        let after = self.entries.partition_point(|e| e.address <= address);
        (after.saturating_sub(NESTED)..after).rev().find_map(|n| {
            let entry = &self.entries[n];
            let next = self
                .entries
                .get(n + 1)
                .map_or(entry.address.saturating_add(1 << 16), |e| e.address);
            let end = match entry.size {
                0 => next,
                size => entry.address.saturating_add(size),
            };
            (address < end).then_some((entry, end))
        })
    }
}

fn name_of<'a>(names: &'a [u8], entry: &Entry) -> &'a [u8] {
    let at = entry.name.0 as usize;
    names.get(at..at + entry.name.1 as usize).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols() -> Symbols {
        let names = b"without_size\0__GI_outer\0inner\0last\0";
        let mut symbols = Symbols::with_names(names);
        symbols.add(0x200, 0, 0..12, 4);
        symbols.add(0x100, 0x80, 13..23, 2);
        // A linker keeps a name that is another one's end once.
        symbols.add(0x100, 0x80, 18..23, 0);
        symbols.add(0x110, 0x10, 24..29, 2);
        symbols.add(0x300, 0x10, 30..34, 0);
        symbols.sort();
        symbols
    }

    #[test]
    fn the_innermost_function_that_has_the_address_is_found_by_its_best_name() {
        let symbols = symbols();
        let name = |a| symbols.find(a).map(|f| f.name);
        assert_eq!(name(0x100).as_deref(), Some("outer"));
        assert_eq!(name(0x11f).as_deref(), Some("inner"));
        assert_eq!(name(0x120).as_deref(), Some("outer"));
        assert_eq!(name(0x180), None, "behind its size");
        assert_eq!(name(0x2ff).as_deref(), Some("without_size"));
        assert_eq!(name(0x310), None);
        assert_eq!(name(0xff), None);
    }
}
