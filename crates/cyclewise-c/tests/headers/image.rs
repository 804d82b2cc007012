//! A linked file: its records, and the locked instructions that they have to point at.

use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind, Register};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The library's constructor and destructor in the headers, whose locked instructions are no sites.
const NO_SITES: &str = "cw_c_unit";

/// Checks that the file's table has a record for each locked instruction of its functions, and no other. Returns how many.
pub(crate) fn check(path: &Path) -> Result<usize, String> {
    match check_records(path)? {
        (records, missing) if missing.is_empty() => Ok(records),
        (_, missing) => Err(format!("locked instructions without a record: {missing:x?}")),
    }
}

/// Checks that each record is of a locked instruction. Returns how many there are, and the locked instructions without one: those
/// of a C library that is in the file.
pub(crate) fn check_records(path: &Path) -> Result<(usize, Vec<u64>), String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let file = object::File::parse(&*bytes).map_err(|e| e.to_string())?;
    let records = records(&file)?;
    let locked = locked(&file)?;
    for (at, times) in &records {
        let Some(instruction) = locked.get(at) else {
            return Err(format!("the record of {at:#x} is of no locked instruction"));
        };
        if *times != 1 {
            return Err(format!("{at:#x} has {times} records"));
        }
        // LOCK is the first byte, and no segment has a prefix of its own.
        if [Register::FS, Register::GS].contains(&instruction.memory_segment()) {
            return Err(format!("{at:#x} has a segment: {instruction}"));
        }
        if !(0..instruction.op_count()).any(|n| instruction.op_kind(n) == OpKind::Memory) {
            return Err(format!("{at:#x} changes no memory: {instruction}"));
        }
    }
    let missing = locked.keys().copied().filter(|at| !records.contains_key(at));
    Ok((records.len(), missing.collect()))
}

/// Targets of the records, and how often each occurs.
fn records(file: &object::File<'_>) -> Result<BTreeMap<u64, usize>, String> {
    let table = file.section_by_name("cyclewise_lock_v1").ok_or("no table")?;
    let mut records = BTreeMap::new();
    let data = table.data().map_err(|e| e.to_string())?;
    for (at, record) in (table.address()..).step_by(4).zip(data.chunks(4)) {
        let record: [u8; 4] = record.try_into().map_err(|_| "half a record")?;
        let distance = i32::from_le_bytes(record);
        if distance != 0 {
            *records.entry(at.wrapping_add_signed(distance.into())).or_insert(0) += 1;
        }
    }
    Ok(records)
}

/// Every locked instruction, by the address of its LOCK prefix, where that comes first. Found function by function.
fn locked(file: &object::File<'_>) -> Result<BTreeMap<u64, Instruction>, String> {
    let mut seen = BTreeSet::new();
    let mut locked = BTreeMap::new();
    let of_code = |s: &object::Symbol<'_, '_>| s.kind() == SymbolKind::Text && s.size() > 0;
    for symbol in file.symbols().filter(of_code) {
        let name = symbol.name().map_err(|e| e.to_string())?;
        if name.starts_with(NO_SITES) || !seen.insert(symbol.address()) {
            continue;
        }
        let Some(section) = symbol.section_index().and_then(|i| file.section_by_index(i).ok()) else {
            continue;
        };
        let body = section.data_range(symbol.address(), symbol.size()).ok().flatten();
        let body = body.ok_or_else(|| format!("{name} is not in its section"))?;
        let decoder = Decoder::with_ip(64, body, symbol.address(), DecoderOptions::NONE);
        for instruction in decoder.into_iter().filter(Instruction::has_lock_prefix) {
            let first = body[(instruction.ip() - symbol.address()) as usize];
            if first != 0xf0 {
                return Err(format!(
                    "LOCK is not the first byte of {instruction} at {:#x} in {name}",
                    instruction.ip()
                ));
            }
            locked.insert(instruction.ip(), instruction);
        }
    }
    Ok(locked)
}

/// The instructions of a function, as text.
pub(crate) fn listing(path: &Path, name: &str) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let symbol = file.symbols().find(|s| s.name() == Ok(name));
    let symbol = symbol.unwrap_or_else(|| panic!("no function {name}"));
    let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
    let body = section.data_range(symbol.address(), symbol.size()).unwrap().unwrap();
    Decoder::with_ip(64, body, symbol.address(), DecoderOptions::NONE)
        .into_iter()
        .map(|i| i.to_string())
        .collect()
}
