//! A linked file: where its records of LOCK sites point, which of its instructions have LOCK, and its link unit's descriptor.

use iced_x86::{Decoder, DecoderOptions, Instruction};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// LOCK-prefixed instructions in the functions `probe_*` of the example `sites`, at least.
const PROBED: usize = 5;

/// The size of a descriptor.
const DESCRIPTOR: u64 = 96;

/// What a file is, beside correct.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// Sites, each of which has one record.
    pub(super) sites: usize,
    /// The linker, as it signs its work: `LLD`, `mold`, `gold`, or else `bfd`, which does not.
    pub(super) linker: &'static str,
    /// Whether it has to be at the addresses in the file.
    pub(super) is_fixed: bool,
    /// Whether it names a dynamic linker.
    pub(super) has_interpreter: bool,
}

/// Checks the file, and says what it is or what is wrong.
pub(super) fn check(path: &Path) -> Result<Image, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let file = object::File::parse(&*bytes).map_err(|e| format!("{}: {e}", path.display()))?;
    let data = |name: &str| {
        let section = file.section_by_name(name).ok_or(format!("no section {name}"))?;
        let data = section.data().map_err(|e| format!("{name}: {e}"))?;
        Ok::<_, String>((section.address(), data))
    };
    let (table, data_of_table) = data("cyclewise_lock_v1")?;
    let records = records(table, data_of_table);
    let (note, data_of_note) = data(".note.cyclewise")?;
    let descriptor = descriptor(note, data_of_note)?;
    let holds = |s: &object::Section<'_, '_>| {
        let from = descriptor.checked_sub(s.address());
        from.is_some_and(|from| from + DESCRIPTOR <= s.size())
    };
    // Not among what is read-only after relocation.
    let is_data = |s: &object::Section<'_, '_>| s.kind() == SectionKind::Data && s.name() == Ok(".data");
    if !file.sections().any(|section| is_data(&section) && holds(&section)) {
        return Err(format!("the descriptor at {descriptor:#x} is not in .data"));
    }
    let (base, code) = data(".text")?;
    if file.symbols().next().is_none() {
        return Err("no symbols, so nothing to decode by".to_owned());
    }
    let mut all = BTreeSet::new();
    let mut ours = BTreeMap::new();
    for symbol in file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0) {
        let start = symbol.address().wrapping_sub(base);
        let body = start.checked_add(symbol.size()).map(|end| start as usize..end as usize);
        let Some(body) = body.and_then(|range| code.get(range)) else {
            continue;
        };
        let locked = locked(symbol.address(), body);
        let name = symbol.name().unwrap_or("");
        if is_ours(name) {
            ours.extend(locked.iter().map(|at| (*at, name)));
        }
        all.extend(locked);
    }
    let comment = data(".comment").map_or(&[][..], |(_, text)| text);
    Ok(Image {
        sites: compare(&records, &all, &ours)?,
        linker: signature(
            &String::from_utf8_lossy(comment),
            file.section_by_name(".note.gnu.gold-version").is_some(),
        ),
        is_fixed: file.kind() == object::ObjectKind::Executable,
        has_interpreter: file.section_by_name(".interp").is_some(),
    })
}

/// Where the note of a link unit points: exactly one, with the distance from its last field.
fn descriptor(address: u64, note: &[u8]) -> Result<u64, String> {
    const HEADER: &[u8] = b"\x0a\0\0\0\x04\0\0\0\x01\0\0\0cyclewise\0\0\0";
    let distance = note
        .strip_prefix(HEADER)
        .and_then(|rest| <[u8; 4]>::try_from(rest).ok());
    let distance = distance.ok_or_else(|| format!("the link unit's note is {note:02x?}"))?;
    let field = address + HEADER.len() as u64;
    Ok(field.wrapping_add_signed(i32::from_le_bytes(distance).into()))
}

fn signature(comment: &str, has_gold_note: bool) -> &'static str {
    match comment {
        _ if has_gold_note => "gold",
        _ if comment.contains("mold ") => "mold",
        _ if comment.contains("LLD ") => "LLD",
        _ => "bfd",
    }
}

/// Where records point, in the order of the table. A record is the distance from itself; 0 is none.
fn records(table: u64, data: &[u8]) -> Vec<u64> {
    let distances = data
        .chunks_exact(4)
        .map(|c| i32::from_le_bytes([c[0], c[1], c[2], c[3]]));
    let records = (table..)
        .step_by(4)
        .zip(distances)
        .filter(|(_, distance)| *distance != 0);
    records
        .map(|(at, distance)| at.wrapping_add_signed(distance.into()))
        .collect()
}

/// Addresses of the LOCK-prefixed instructions of a function.
fn locked(at: u64, body: &[u8]) -> Vec<u64> {
    let decoder = Decoder::with_ip(64, body, at, DecoderOptions::NONE);
    decoder
        .into_iter()
        .filter(Instruction::has_lock_prefix)
        .map(|i| i.ip())
        .collect()
}

/// Functions in which nothing but our atomics has LOCK. Those of `patch` use std's as well.
fn is_ours(name: &str) -> bool {
    name.starts_with("probe_") || name.contains("9cyclewise6atomic") || name.contains("9cyclewise4refs")
}

fn compare(records: &[u64], locked: &BTreeSet<u64>, ours: &BTreeMap<u64, &str>) -> Result<usize, String> {
    let distinct: BTreeSet<u64> = records.iter().copied().collect();
    if let Some(at) = distinct.iter().find(|at| !locked.contains(at)) {
        return Err(format!("the record of {at:#x} is of no locked instruction"));
    }
    if let Some((at, name)) = ours.iter().find(|(at, _)| !distinct.contains(at)) {
        return Err(format!("{name} has LOCK at {at:#x} and no record"));
    }
    if distinct.len() != records.len() {
        return Err(format!("{} records of {} sites", records.len(), distinct.len()));
    }
    let probed = ours.values().filter(|name| name.starts_with("probe_")).count();
    if probed < PROBED {
        return Err(format!("{probed} sites in probes instead of {PROBED}"));
    }
    Ok(records.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_a_distance_from_itself_and_0_is_none() {
        let data = [-0x10i32, 0, 0x20].map(i32::to_le_bytes).concat();
        assert_eq!(records(0x1000, &data), [0xff0, 0x1028]);
    }

    #[test]
    fn a_note_says_where_the_descriptor_is() {
        let name = [10_i32, 4, 1].map(i32::to_le_bytes).concat();
        let note = |distances: &[i32]| {
            let distances: Vec<_> = distances.iter().flat_map(|distance| distance.to_le_bytes()).collect();
            [&name, &b"cyclewise\0\0\0"[..], &distances].concat()
        };
        assert_eq!(descriptor(0x1000, &note(&[0x20])), Ok(0x1000 + 24 + 0x20));
        assert_eq!(descriptor(0x1000, &note(&[-0x20])), Ok(0x1000 + 24 - 0x20));
        assert!(descriptor(0x1000, &note(&[])).is_err());
        assert!(descriptor(0x1000, &note(&[1, 2])).is_err());
    }

    #[test]
    fn linkers_are_told_by_what_they_leave() {
        let rustc = "rustc version 1.95.0\0";
        assert_eq!(signature(&format!("{rustc}Linker: LLD 22.1.2\0"), false), "LLD");
        assert_eq!(signature(&format!("{rustc}mold 1.10.1\0"), false), "mold");
        assert_eq!((signature(rustc, true), signature(rustc, false)), ("gold", "bfd"));
    }

    #[test]
    fn a_lock_byte_inside_an_instruction_is_no_prefix() {
        // mov eax, 0xf0f0f0f0; lock inc qword [rdi]; ret
        let code = [0xb8, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0x48, 0xff, 0x07, 0xc3];
        assert_eq!(locked(0x100, &code), [0x105]);
    }

    #[test]
    fn a_lost_record_a_stray_one_and_a_double_one_are_found() {
        let locked: BTreeSet<u64> = (1..=6).collect();
        let ours: BTreeMap<u64, &str> = (1..=5).map(|at| (at, "probe_x")).collect();
        assert_eq!(compare(&[1, 2, 3, 4, 5], &locked, &ours), Ok(5));
        for wrong in [&[1, 2, 3, 4][..], &[1, 2, 3, 4, 5, 9], &[1, 2, 3, 4, 5, 5]] {
            assert!(compare(wrong, &locked, &ours).is_err(), "{wrong:?}");
        }
    }
}
