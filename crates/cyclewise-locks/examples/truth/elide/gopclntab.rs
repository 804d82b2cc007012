//! Go's table of functions, `.gopclntab`, which a stripped program keeps because the garbage collector reads it.
//!
//! Only the layout of Go 1.18 and later is read; a table of another one gives nothing.
//!
//! # References
//! `src/runtime/symtab.go` of Go, `pcHeader` and `functab`; `src/cmd/link/internal/ld/pcln.go`, `writeFuncData`.

use object::{Object, ObjectSection, ObjectSymbol};

/// The first word of a table: since Go 1.18, and since Go 1.20.
const MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];

/// The word of the module's data that is the address of its text: after `pcHeader`, six slices, `findfunctab`, `minpc` and `maxpc`.
const TEXT_WORD: usize = 22;

/// Each function's addresses, with the padding after it.
pub(super) fn functions(file: &object::File<'_>) -> Vec<(u64, u64)> {
    let table = file
        .section_by_name(".gopclntab")
        .or_else(|| file.section_by_name(".data.rel.ro.gopclntab"));
    let Some(Ok(table)) = table.map(|section| section.data()) else {
        return Vec::new();
    };
    let starts = offsets(table).unwrap_or_default();
    let stored = word(table, 24).unwrap_or(0);
    match if stored == 0 { text(file) } else { Some(stored) } {
        Some(text) => starts
            .windows(2)
            .map(|pair| (text.wrapping_add(pair[0].into()), text.wrapping_add(pair[1].into())))
            .collect(),
        None => Vec::new(),
    }
}

/// Where functions start, from the start of the text, and where the last one ends.
fn offsets(table: &[u8]) -> Option<Vec<u32>> {
    let [magic, _] = table.first_chunk::<8>().map(|b| [&b[..4], &b[4..]])?;
    let is_known = MAGICS.map(u32::to_le_bytes).iter().any(|known| known == magic);
    // The size of a pointer; this reads the layout for 8 bytes alone.
    if !is_known || table.get(7) != Some(&8) {
        return None;
    }
    let count = usize::try_from(word(table, 8)?).ok()?;
    let list = table.get(usize::try_from(word(table, 64)?).ok()?..)?;
    // Pairs of where a function is and where its description is, and where the last one ends.
    let list = list.get(..count.checked_mul(8)?.checked_add(4)?)?;
    let starts: Vec<u32> = list
        .chunks(8)
        .map(|pair| u32::from_le_bytes([pair[0], pair[1], pair[2], pair[3]]))
        .collect();
    starts.is_sorted().then_some(starts)
}

/// Where the text starts, as the symbol or the module's data says: since Go 1.26 the table does not have it.
fn text(file: &object::File<'_>) -> Option<u64> {
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok("runtime.text"));
    if let Some(symbol) = symbol {
        return Some(symbol.address());
    }
    let module = file.section_by_name(".go.module")?;
    let text = word(module.data().ok()?, TEXT_WORD * 8)?;
    // 0 in a file that is relocated when it is loaded.
    let section = file.section_by_name(".text")?;
    let is_inside = text.checked_sub(section.address())? < section.size();
    is_inside.then_some(text)
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::offsets;

    fn table(magic: u32, count: u64, starts: &[u32]) -> Vec<u8> {
        let mut table = magic.to_le_bytes().to_vec();
        table.extend([0, 0, 1, 8]);
        table.extend(count.to_le_bytes());
        table.resize(64, 0);
        table.extend(72_u64.to_le_bytes());
        for start in starts {
            table.extend(start.to_le_bytes());
            table.extend([0xaa; 4]);
        }
        table
    }

    #[test]
    fn a_table_says_where_functions_start_and_the_last_one_ends() {
        let table = table(0xffff_fff1, 2, &[0, 0x40, 0x90]);
        assert_eq!(offsets(&table), Some(vec![0, 0x40, 0x90]));
    }

    #[test]
    fn a_table_that_is_cut_out_of_order_or_of_an_older_go_gives_nothing() {
        assert_eq!(offsets(&table(0xffff_fffb, 2, &[0, 0x40, 0x90])), None);
        assert_eq!(offsets(&table(0xffff_fff1, 9, &[0, 0x40, 0x90])), None);
        assert_eq!(offsets(&table(0xffff_fff1, u64::MAX, &[0, 0x40, 0x90])), None);
        assert_eq!(offsets(&table(0xffff_fff1, 2, &[0, 0x90, 0x40])), None);
        assert_eq!(offsets(&[0xf1, 0xff]), None);
    }
}
