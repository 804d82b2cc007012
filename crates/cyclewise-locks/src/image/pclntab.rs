//! Functions of Go programs without symbols, by the table that Go's runtime has for its own backtraces.
//!
//! # References
//! `src/internal/abi/symtab.go` and `src/debug/gosym/pclntab.go` of Go, for the formats of Go 1.18 and 1.20; `src/runtime/symtab.go`,
//! `moduledata`.

use super::symbols::{Ends, Symbols};
use std::ops::Range;
use std::sync::Arc;

/// Magic numbers of Go 1.18 and of Go 1.20 and later.
const MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];

/// Functions beyond this number are not plausible.
const MOST: u64 = 8 << 20;

/// The table's section, in programs for one place in memory and in those for any.
const TABLES: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];

/// The word of the module's data that is the code's address: after `pcHeader`, six slices, `findfunctab`, `minpc` and `maxpc`.
const TEXT_WORD: usize = 22;

/// The functions by a program's sections. Since Go 1.26 the table does not say where the code starts: the module's data do, and else it is
/// where `text`, the section of the code, does. With C code in the program the two differ.
pub(super) fn functions(bytes: &dyn Fn(&str) -> Option<Arc<[u8]>>, text: Option<&Range<u64>>) -> Option<Symbols> {
    let table = TABLES.iter().find_map(|name| bytes(name))?;
    let in_module = || {
        let start = number(&bytes(".go.module")?, TEXT_WORD * 8, 8)?;
        // 0 in a file that is relocated when it is loaded.
        text?.contains(&start).then_some(start)
    };
    read(&table, || in_module().or_else(|| Some(text?.start)))
}

/// The functions in the table's bytes; `start` says where the code starts, if the table does not.
pub(super) fn read(table: &[u8], start: impl FnOnce() -> Option<u64>) -> Option<Symbols> {
    let magic = u32::try_from(number(table, 0, 4)?).ok()?;
    let size = usize::from(*table.get(7)?);
    if !MAGICS.contains(&magic) || size != 8 {
        return None;
    }
    let field = |n: usize| number(table, 8 + n * size, size);
    let count = field(0).filter(|n| *n <= MOST)?;
    let start = match field(2)? {
        0 => start()?,
        start => start,
    };
    let names = usize::try_from(field(3)?).ok()?;
    let strings = table.get(names..usize::try_from(field(4)?).ok()?)?;
    let entries = usize::try_from(field(7)?).ok()?;
    let mut found = Vec::new();
    for n in 0..usize::try_from(count).ok()? {
        let at = entries.checked_add(n * 8)?;
        let (entry, next) = (number(table, at, 4)?, number(table, at + 8, 4)?);
        let data = entries.checked_add(usize::try_from(number(table, at + 4, 4)?).ok()?)?;
        let name = usize::try_from(number(table, data.checked_add(4)?, 4)?).ok()?;
        found.push((name, start.wrapping_add(entry), next.saturating_sub(entry)));
    }
    let mut symbols = Symbols::with_names(strings);
    let ends = Ends::new(strings);
    found.sort_unstable();
    for (name, address, size) in found {
        symbols.add(address, size, name..ends.of(name)?, 0);
    }
    symbols.sort();
    Some(symbols)
}

fn number(table: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = table.get(at..at.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0, |n, b| (n << 8) | u64::from(*b)))
}
