//! Functions of Go programs without symbols, by the table that Go's runtime has for its own backtraces.
//!
//! # References
//! `src/internal/abi/symtab.go` and `src/debug/gosym/pclntab.go` of Go, for the formats of Go 1.18 and 1.20.

use super::symbols::{Ends, Symbols};

/// Magic numbers of Go 1.18 and of Go 1.20 and later.
const MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];

/// Functions beyond this number are not plausible.
const MOST: u64 = 8 << 20;

/// The functions in the bytes of `.gopclntab`; `text` is where the code starts, if the table does not say.
pub(super) fn functions(table: &[u8], text: Option<u64>) -> Option<Symbols> {
    let magic = u32::try_from(number(table, 0, 4)?).ok()?;
    let size = usize::from(*table.get(7)?);
    if !MAGICS.contains(&magic) || size != 8 {
        return None;
    }
    let field = |n: usize| number(table, 8 + n * size, size);
    let count = field(0).filter(|n| *n <= MOST)?;
    let start = match field(2)? {
        0 => text?,
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
