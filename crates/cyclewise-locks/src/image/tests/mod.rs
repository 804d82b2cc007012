//! Made-up files: one with 4 GiB of code, ones that claim too much, broken ones.

mod made_up;

use super::{Image, Limits, pclntab};
use crate::counts::Arch;
use crate::mangle::{Owes, hold, one};
use made_up::*;
use proptest::prelude::*;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

fn open(path: &std::path::Path, bytes: u64) -> Result<Image, String> {
    let limits = Limits {
        debug_roots: Vec::new(),
        bytes,
        debug: true,
    };
    Image::open(path, Arch::X86_64, &limits)
}

/// Little enough that no large part of a file fits.
const SMALL: u64 = 1 << 20;

#[test]
fn four_gibibytes_of_code_are_not_read_whole() {
    let size = 4 << 30;
    let [table, names] = symbols(CODE + size - 16, 16);
    let bytes = elf(size, &[code(), table, names]);
    let (_folder, path) = write(&bytes);
    let file = File::options().write(true).open(&path).unwrap();
    // The tables stand in the hole that is the code, which changes nothing for who reads them by their headers.
    file.set_len(0x1000 + size).unwrap();
    file.write_all_at(&[0xf0, 0x48, 0xff, 0x07, 0xc3], 0x1000 + size - 16)
        .unwrap();
    let image = open(&path, SMALL).unwrap();
    let address = image.address(0x1000 + size - 16).unwrap();
    assert_eq!(address, CODE + size - 16);
    assert_eq!(image.bytes(address, 5).unwrap(), [0xf0, 0x48, 0xff, 0x07, 0xc3]);
    assert_eq!(
        image.bytes(address, 100).unwrap().len(),
        16,
        "up to the end of the file"
    );
    assert_eq!(image.function_name(address).as_deref(), Some("work"));
    assert_eq!(image.bytes(CODE + size, 1), None);
    let held: usize = image.pages.borrow().values().map(|p| p.len()).sum();
    assert!(held <= 1 << 15, "{held}");
}

#[test]
fn pages_that_are_held_are_bounded() {
    let size = 1 << 30;
    let (_folder, path) = write(&elf(size, &[code()]));
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(0x1000 + size)
        .unwrap();
    let image = open(&path, SMALL).unwrap();
    for n in 0..super::PAGES as u64 + 10 {
        assert!(image.bytes(CODE + n * super::PAGE, 1).is_some());
        assert!(image.pages.borrow().len() <= super::PAGES);
    }
}

#[test]
fn a_table_that_is_larger_than_the_limit_is_left_out() {
    let name = |limit| {
        let [mut table, names] = symbols(CODE, 16);
        table.bytes.resize(24 << 10, 0);
        let (_folder, path) = write(&elf(16, &[code(), table, names]));
        open(&path, limit).unwrap().function_name(CODE)
    };
    assert_eq!(name(SMALL).as_deref(), Some("work"));
    // The twin: the same file with less room has no names.
    assert_eq!(name(16 << 10), None);
}

#[test]
fn a_table_that_claims_to_be_larger_than_the_file_is_left_out() {
    let [mut table, names] = symbols(CODE, 16);
    table.claims = Some(u64::MAX / 2);
    let (_folder, path) = write(&elf(16, &[code(), table, names]));
    assert_eq!(open(&path, u64::MAX).unwrap().function_name(CODE), None);
}

#[test]
fn debug_information_that_is_too_large_or_broken_is_named() {
    let mut debug = Section::new(".debug_info", PROGBITS, vec![0xff; 100]);
    let missing = |debug: Section| {
        let (_folder, path) = write(&elf(16, &[code(), debug]));
        let image = open(&path, SMALL).unwrap();
        assert_eq!(image.frames(CODE), []);
        image.missing
    };
    let broken = missing(Section::new(".debug_info", PROGBITS, vec![0xff; 100]));
    assert!(broken[0].contains("bad DWARF"), "{broken:?}");
    debug.claims = Some(1 << 40);
    let large = missing(debug);
    assert!(large[0].contains(".debug_info is outside of the file"), "{large:?}");
    // A compression header (zlib) that promises an exbibyte.
    let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend_from_slice(&(1u64 << 60).to_le_bytes());
    bytes.extend_from_slice(&1u64.to_le_bytes());
    bytes.extend_from_slice(&[0x78, 0x9c, 0, 0]);
    let bomb = missing(Section {
        flags: 0x800,
        ..Section::new(".debug_info", PROGBITS, bytes)
    });
    assert!(bomb[0].contains("larger than the limit"), "{bomb:?}");
}

#[test]
fn what_is_no_program_of_this_architecture_says_so() {
    let reason = |bytes: &[u8]| {
        let (_folder, path) = write(bytes);
        open(&path, SMALL).err().unwrap()
    };
    let good = elf(16, &[code()]);
    assert_eq!(reason(b"#!/bin/sh\n"), "not an ELF file");
    assert_eq!(reason(b""), "not an ELF file");
    let changed = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    assert_eq!(reason(&changed(4, 1)), "a 32-bit file");
    assert_eq!(reason(&changed(18, 183)), "a file of another architecture");
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(open(folder.path(), SMALL).err().unwrap(), "not a regular file");
    assert!(
        open(&folder.path().join("none"), SMALL)
            .err()
            .unwrap()
            .contains("No such file")
    );
}

/// A table of Go with these functions, by offset and name.
fn go_table(functions: &[(u32, &str)], end: u32, text: u64) -> Vec<u8> {
    let mut names = Vec::new();
    let mut table = Vec::new();
    let mut data = Vec::new();
    let base = functions.len() * 8 + 4;
    for (entry, name) in functions {
        table.extend_from_slice(&entry.to_le_bytes());
        table.extend_from_slice(&((base + data.len()) as u32).to_le_bytes());
        data.extend_from_slice(&entry.to_le_bytes());
        data.extend_from_slice(&(names.len() as u32).to_le_bytes());
        names.extend_from_slice(name.as_bytes());
        names.push(0);
    }
    table.extend_from_slice(&end.to_le_bytes());
    table.extend_from_slice(&data);
    let mut all = 0xffff_fff1_u32.to_le_bytes().to_vec();
    all.extend_from_slice(&[0, 0, 1, 8]);
    let head = 8 + 8 * 8;
    let behind = head + names.len();
    let fields = [functions.len(), 0, text as usize, head, behind, 0, 0, behind];
    for field in fields {
        all.extend_from_slice(&(field as u64).to_le_bytes());
    }
    all.extend_from_slice(&names);
    all.extend_from_slice(&table);
    all
}

#[test]
fn functions_of_a_stripped_go_program_are_in_its_own_table() {
    let table = go_table(&[(0, "runtime.text"), (0x20, "main.(*T).work")], 0x80, CODE);
    let symbols = pclntab::read(&table, || None).unwrap();
    let name = |a| symbols.find(a).map(|f| f.name);
    assert_eq!(name(CODE + 0x1f).as_deref(), Some("runtime.text"));
    assert_eq!(name(CODE + 0x20).as_deref(), Some("main.(*T).work"));
    assert_eq!(name(CODE + 0x80), None);
}

#[test]
fn where_gos_code_starts_is_in_the_modules_data_if_not_in_the_table() {
    let table = go_table(&[(0, "runtime.text")], 0x80, 0);
    assert!(pclntab::read(&table, || None).is_none());
    let start = |table_name: &'static str, said: u64| {
        let mut module = vec![0; 22 * 8];
        module.extend_from_slice(&said.to_le_bytes());
        let table = Section::new(table_name, PROGBITS, table.clone());
        let bytes = elf(0x200, &[code(), table, Section::new(".go.module", PROGBITS, module)]);
        let (_folder, path) = write(&bytes);
        open(&path, SMALL).unwrap().function(CODE + 0x100).map(|f| f.start)
    };
    // Functions of C are before it.
    assert_eq!(start(".gopclntab", CODE + 0xc0), Some(CODE + 0xc0));
    assert_eq!(start(".data.rel.ro.gopclntab", CODE + 0xc0), Some(CODE + 0xc0));
    // Where that is no address in the code, it is taken to start with its section.
    assert_eq!(start(".gopclntab", 0), None);
    assert_eq!(start(".gopclntab", CODE + 0x1000), None);
}

proptest! {
    #[test]
    fn a_mangled_table_of_go_gives_less_and_no_panic(at in 0usize..140, value: u8, end in 0usize..140) {
        let mut table = go_table(&[(0, "a"), (0x20, "b")], 0x80, CODE);
        let at = at % table.len();
        table[at] = value;
        table.truncate(table.len().min(end.max(at + 1)));
        if let Some(symbols) = pclntab::read(&table, || None) {
            symbols.find(CODE);
        }
    }

    #[test]
    fn a_mangled_file_gives_less_and_no_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        length in any::<prop::sample::Index>(),
        cut: bool,
    ) {
        let [table, names] = symbols(CODE, 16);
        let mut bytes = elf(16, &[code(), table, names, Section::new(".gopclntab", PROGBITS, go_table(&[(0, "a")], 16, CODE))]);
        let interesting: Vec<usize> = (0..120).chain(0x1000..bytes.len()).collect();
        for (at, value) in changes {
            bytes[*at.get(&interesting)] = value;
        }
        if cut {
            bytes.truncate(length.index(bytes.len()));
        }
        let (_folder, path) = write(&bytes);
        if let Ok(image) = open(&path, SMALL) {
            for address in [0, CODE, CODE + 15, u64::MAX] {
                image.frames(address);
                image.bytes(address, 64);
                image.address(address);
            }
        }
    }
}

/// Opens a file, and asks for all that is asked of one.
fn asked(path: &std::path::Path) -> Result<(Vec<crate::profile::Frame>, Vec<String>), String> {
    let image = open(path, SMALL)?;
    let code = image.code();
    let places = code
        .iter()
        .flat_map(|(a, n)| (0..8).map(move |i| a.wrapping_add(n / 8 * i)));
    let mut frames = Vec::new();
    for address in places.take(64).chain([0, CODE, CODE + 15, u64::MAX]) {
        frames.extend(image.frames(address));
        image.bytes(address, 64);
        image.address(address);
        image.function(address);
    }
    Ok((frames, image.missing))
}

/// Programs with debug information, as a compiler makes them; none where there is no compiler.
fn compiled() -> Vec<Vec<u8>> {
    const SOURCE: &str = "static inline int f(int *p) { return __sync_fetch_and_add(p, 1); }\nint n;\nvoid _start(void) { f(&n); f(&n); for (;;) ; }\n";
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("p.c"), folder.path().join("p"));
    std::fs::write(&source, SOURCE).unwrap();
    let flags: [&[&str]; 3] = [&["-gdwarf-5"], &["-gdwarf-4", "-gz"], &["-gdwarf-5", "-gsplit-dwarf"]];
    let compile = |flags: &&[&str]| {
        let mut cc = std::process::Command::new("cc");
        cc.args(["-O1", "-nostdlib", "-static", "-o"])
            .arg(&program)
            .arg(&source)
            .args(*flags);
        cc.output()
            .is_ok_and(|out| out.status.success())
            .then(|| std::fs::read(&program).unwrap())
    };
    let all: Vec<_> = flags.iter().filter_map(compile).collect();
    if all.len() < flags.len() {
        println!("skipped: programs by cc, which is missing or refuses an option");
    }
    all
}

#[test]
fn mangled_files() {
    let [table, names] = symbols(CODE, 16);
    let go = Section::new(".gopclntab", PROGBITS, go_table(&[(0, "a")], 16, CODE));
    // The file is 4 kB of zeros up to its code, so that most of what is changed would mean nothing.
    let made_up = elf(
        16,
        &[code(), table, names, go, nested(3)[0].clone(), nested(3)[1].clone()],
    );
    let mut good = compiled();
    good.push(made_up);
    let good: Vec<&[u8]> = good.iter().map(Vec::as_slice).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mangled");
    let owes = Owes {
        // Each of three readers holds `SMALL`, and what is made of its tables.
        most_bytes: |file| (16 << 20) + 64 * file,
        ..Owes::default()
    };
    hold(&good, owes, move |bytes| {
        let _ = &folder;
        std::fs::write(&path, bytes).unwrap();
        asked(&path)
    });
}

/// Debug information of one function with so many inlined calls inside each other.
fn nested(depth: usize) -> [Section; 2] {
    let abbreviations = [
        &[1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0][..],
        &[2, 0x2e, 1, 0x11, 1, 0x12, 7, 0, 0],
        &[3, 0x1d, 1, 0, 0, 0],
    ];
    let place = [CODE.to_le_bytes(), 16u64.to_le_bytes()].concat();
    // Version 4, abbreviations at 0, addresses of 8 bytes.
    let mut unit = vec![4, 0, 0, 0, 0, 0, 8];
    for entry in [1, 2] {
        unit.push(entry);
        unit.extend_from_slice(&place);
    }
    unit.extend(std::iter::repeat_n(3, depth));
    unit.resize(unit.len() + depth + 2, 0);
    let info = [&(unit.len() as u32).to_le_bytes(), &unit[..]].concat();
    [
        Section::new(".debug_info", PROGBITS, info),
        Section::new(".debug_abbrev", PROGBITS, abbreviations.concat()),
    ]
}

#[test]
fn entries_that_nest_deeper_than_the_stack_are_left_out() {
    let missing = |depth| {
        let [info, abbreviations] = nested(depth);
        let (_folder, path) = write(&elf(16, &[code(), info, abbreviations]));
        let image = open(&path, SMALL).unwrap();
        image.frames(CODE);
        image.missing
    };
    assert_eq!(missing(100), Vec::<String>::new());
    let deep = missing(10_000);
    assert!(deep[0].contains("nest deeper"), "{deep:?}");
}

/// Opens a file and holds it to so many bytes, whatever it claims.
fn open_within(most: fn(usize) -> usize, sections: &[Section]) {
    let (_folder, path) = write(&elf(16, sections));
    let file = std::fs::read(&path).unwrap();
    let owes = Owes {
        most_bytes: most,
        ..Owes::default()
    };
    let read = one(&file, &owes, &|_| open(&path, 1 << 30).map(|image| image.frames(CODE)));
    assert!(matches!(read, Ok(Some(_))), "{:?}", read.err());
}

#[test]
fn a_name_that_all_functions_claim_is_held_once() {
    let long = |n| "_".repeat(n);
    let [mut table, mut names] = symbols(CODE, 16);
    table.bytes = table.bytes[24..].repeat(20_000);
    names.bytes = format!("\0{}\0", long(400_000)).into_bytes();
    open_within(|file| 16 * file, &[code(), table, names]);
    // Go's: the names of all functions are the first one's.
    let functions: Vec<_> = (0..20_000).map(|n| (n, "")).collect();
    let mut go = go_table(&functions, 20_000, CODE);
    let name = 8 + 8 * 8;
    go.splice(name..name + 20_000, long(400_000).into_bytes().into_iter().chain([0]));
    for (field, value) in [(4, name + 400_001), (7, name + 400_001)] {
        go[8 + 8 * field..][..8].copy_from_slice(&(value as u64).to_le_bytes());
    }
    let data = name + 400_001 + 20_000 * 8 + 4;
    for n in 0..20_000 {
        go[data + n * 8 + 4..][..4].fill(0);
    }
    open_within(|file| 16 * file, &[code(), Section::new(".gopclntab", PROGBITS, go)]);
}

#[test]
fn a_compressed_section_cannot_claim_more_than_its_bytes_come_to() {
    for kind in [1u32, 2] {
        let mut bytes = [kind.to_le_bytes(), [0; 4]].concat();
        bytes.extend_from_slice(&(512u64 << 20).to_le_bytes());
        bytes.extend_from_slice(&1u64.to_le_bytes());
        bytes.extend_from_slice(&[0x78, 0x9c, 0, 0]);
        let section = Section {
            flags: 0x800,
            ..Section::new(".debug_info", PROGBITS, bytes)
        };
        open_within(|_| 8 << 20, &[code(), section]);
    }
}

#[test]
fn functions_of_other_files_are_named_at_their_stubs_and_slots() {
    let slot = 0x50_0000_u64;
    let stub = |address: u64| {
        let mut code = vec![0xff, 0x25];
        code.extend_from_slice(&((slot - (address + 6)) as u32).to_le_bytes());
        code
    };
    let mut symbols = vec![0; 24];
    symbols.extend_from_slice(&1_u32.to_le_bytes());
    symbols.resize(48, 0);
    let relocation = [slot, 1 << 32 | 7, 0].map(u64::to_le_bytes).concat();
    // Behind 16 bytes that are the code, so that addresses in the stubs are where the segment has them.
    let fill = Section::new(".fill", PROGBITS, vec![0x90; 16]);
    let stubs = Section {
        address: CODE + 16,
        ..Section::new(".plt", PROGBITS, [stub(CODE + 16), vec![0x90; 10]].concat())
    };
    let symbols = Section {
        link: 5,
        entry: 24,
        ..Section::new(".dynsym", 11, symbols)
    };
    let names = Section::new(".dynstr", STRTAB, b"\0pthread_cond_wait\0".to_vec());
    let relocations = Section {
        link: 4,
        entry: 24,
        ..Section::new(".rela.plt", 4, relocation)
    };
    let (_folder, path) = write(&elf(0x200, &[code(), fill, stubs, symbols, names, relocations]));
    let image = open(&path, SMALL).unwrap();
    let name = |address| image.function_name(address);
    assert_eq!(name(CODE + 16).as_deref(), Some("pthread_cond_wait"));
    assert_eq!(name(slot).as_deref(), Some("pthread_cond_wait"), "where its address is");
    assert_eq!(name(CODE + 22), None, "no stub's beginning");
    assert_eq!((name(CODE), name(slot + 8)), (None, None));
}

#[test]
fn a_function_of_the_file_is_named_at_the_slot_that_it_is_called_by() {
    let slot = 0x60_0008_u64;
    // It has no size: it ends with the code.
    let [table, names] = symbols(CODE + 16, 0);
    let slots = Section {
        address: slot - 8,
        ..Section::new(".got", PROGBITS, vec![0; 16])
    };
    let relocation = [slot, 8, CODE + 16].map(u64::to_le_bytes).concat();
    let relocations = Section {
        entry: 24,
        ..Section::new(".rela.dyn", 4, relocation)
    };
    let (_folder, path) = write(&elf(0x200, &[code(), table, names, slots, relocations]));
    let image = open(&path, SMALL).unwrap();
    let name = |address| image.function_name(address);
    assert_eq!(name(CODE + 0x1ff).as_deref(), Some("work"));
    assert_eq!(name(slot).as_deref(), Some("work"));
    assert_eq!((name(slot - 8), name(CODE + 0x200)), (None, None), "what is no code");
}
