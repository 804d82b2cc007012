//! Where a file says that its functions are: unwind tables, symbols with a size, and Go's own table.

use cyclewise_locks::image::{go_functions, unwound_functions};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::BTreeSet;

/// Ranges of addresses, first to one past the last, each once; in order of their starts.
pub(super) type Ranges = BTreeSet<(u64, u64)>;

/// Every range that any table of the file has.
///
/// A table that cannot be read to its end gives what came before: a range that is missing proves less, and nothing wrong.
pub(super) fn of(file: &object::File<'_>) -> Ranges {
    let mut ranges = Ranges::new();
    add_unwind_entries(file, &mut ranges);
    add_symbols(file, &mut ranges);
    add_go(file, &mut ranges);
    ranges.retain(|(start, end)| start < end);
    ranges
}

fn add_symbols(file: &object::File<'_>, ranges: &mut Ranges) {
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let functions = symbols.filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    ranges
        .extend(functions.filter_map(|symbol| Some((symbol.address(), symbol.address().checked_add(symbol.size())?))));
}

fn add_go(file: &object::File<'_>, ranges: &mut Ranges) {
    let bytes = |name: &str| Some(file.section_by_name(name)?.data().ok()?.into());
    let text = file.section_by_name(".text");
    let text = text.map(|section| section.address()..section.address().saturating_add(section.size()));
    let functions = go_functions(&bytes, text.as_ref()).into_iter();
    ranges.extend(functions.map(|function| (function.start, function.end)));
}

fn add_unwind_entries(file: &object::File<'_>, ranges: &mut Ranges) {
    let Some(section) = file.section_by_name(".eh_frame") else {
        return;
    };
    let Ok(table) = section.data() else { return };
    let text = file.section_by_name(".text").map(|text| text.address());
    let functions = unwound_functions(table, section.address(), text).into_iter();
    ranges.extend(functions.map(|function| (function.start, function.end)));
}
