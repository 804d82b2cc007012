//! Counts of a program for AArch64, which is written here word by word, so that no compiler for it is needed.

use crate::common::write_executable;
use cyclewise_locks::counts::{Arch, Counts};
use cyclewise_locks::emulator::{self, Emulator, Settings};
use cyclewise_locks::record;
use std::path::{Path, PathBuf};
use std::process::Command;

const LOOPS: u32 = 500;
/// Where the program is loaded.
const BASE: u64 = 0x40_0000;

/// The program: an instruction, and how often it is a site for each loop.
fn program() -> Vec<(u32, Option<u64>)> {
    let plain = |word| (word, None);
    let site = |word| (word, Some(u64::from(LOOPS)));
    vec![
        plain(0xd280_0013 | LOOPS << 5), // mov x19, #LOOPS
        plain(0x1000_0002 | 65 << 5),    // adr x2, pc + 260: the words, 16 bytes aligned
        plain(0xd280_0020),              // mov x0, #1
        // loop:
        site(0xf8e0_0041),  // ldaddal x0, x1, [x2]
        site(0xb820_005f),  // stadd w0, [x2]
        site(0xb820_1041),  // ldclr w0, w1, [x2]
        site(0xb820_2041),  // ldeor w0, w1, [x2]
        site(0xb820_3041),  // ldset w0, w1, [x2]
        site(0xf8a0_8041),  // swpa x0, x1, [x2]
        site(0xc8e0_fc41),  // casal x0, x1, [x2]
        site(0x3820_4041),  // ldsmaxb w0, w1, [x2]
        plain(0xc85f_7c41), // ldxr x1, [x2]
        site(0xc803_7c41),  // stxr w3, x1, [x2]: succeeds
        site(0xc803_7c41),  // stxr w3, x1, [x2]: fails, and was executed
        plain(0xc87f_9845), // ldaxp x5, x6, [x2]
        site(0xc823_9845),  // stlxp w3, x5, x6, [x2]
        site(0x4824_7c46),  // casp x4, x5, x6, x7, [x2]
        site(0xd503_3bbf),  // dmb ish
        plain(0xd503_3b9f), // dsb ish
        plain(0xf100_0673), // subs x19, x19, #1
        plain(0x54ff_fde1), // b.ne loop
        plain(0xd280_0000), // mov x0, #0
        plain(0xd280_0bc8), // mov x8, #94
        plain(0xd400_0001), // svc #0
    ]
}

/// A static program of one segment, with room for words behind the code.
fn elf(code: &[u32]) -> Vec<u8> {
    const HEADERS: u64 = 64 + 56;
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend(2_u16.to_le_bytes()); // executable
    file.extend(183_u16.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    file.extend((BASE + HEADERS).to_le_bytes()); // entry
    file.extend(64_u64.to_le_bytes()); // program headers
    file.extend(0_u64.to_le_bytes());
    file.extend(0_u32.to_le_bytes());
    for half in [64_u16, 56, 1, 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    file.extend(1_u32.to_le_bytes()); // to be loaded
    file.extend(7_u32.to_le_bytes()); // readable, writable, executable
    for long in [0, BASE, BASE, 0x1000, 0x1000, 0x1000_u64] {
        file.extend(long.to_le_bytes());
    }
    file.extend(code.iter().flat_map(|word| word.to_le_bytes()));
    file.resize(0x1000, 0);
    file
}

/// The program's file.
fn write_program(folder: &Path) -> PathBuf {
    let path = folder.join("program");
    let code: Vec<u32> = program().iter().map(|(word, _)| *word).collect();
    write_executable(&path, elf(&code));
    path
}

fn found() -> Option<Emulator> {
    emulator::find(Arch::Aarch64)
        .inspect_err(|error| println!("skipped: {error}"))
        .ok()
}

fn counted() -> Option<Counts> {
    let emulator = found()?;
    let folder = tempfile::tempdir().unwrap();
    let path = write_program(folder.path());
    let (output, counts) = crate::common::count_with(&emulator, &Settings::default(), &path, &[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(counts.missing, Vec::<String>::new());
    Some(counts)
}

#[test]
fn every_form() {
    let Some(counts) = counted() else { return };
    let process = &counts.processes[0];
    let counted: Vec<(u64, u64)> = process.sites.iter().map(|s| (s.address, s.total())).collect();
    let addresses = (BASE + 120..).step_by(4);
    let expected: Vec<(u64, u64)> = addresses
        .zip(program())
        .filter_map(|(address, (_, executed))| Some((address, executed?)))
        .collect();
    assert_eq!(counted, expected);
    let instructions = process.threads[0].instructions;
    // Three before the loop, three behind it, and eighteen in it.
    assert_eq!(instructions, 3 + 3 + 18 * u64::from(LOOPS));
}

#[test]
fn the_command_counts_it_and_does_not_time_it() {
    if found().is_none() || cfg!(target_arch = "aarch64") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = write_program(folder.path());
    let output = Command::new(env!("CARGO_BIN_EXE_cyclewise-locks"))
        .args(["--json", "-", "--"])
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !said.contains("again without counting"),
        "{said}"
    );
    let document = record::from_str("stdout", std::str::from_utf8(&output.stdout).unwrap()).unwrap();
    let forms = document.profile.executed;
    assert_eq!(
        (document.profile.arch, forms.lse, forms.exclusive),
        (Arch::Aarch64, 9 * u64::from(LOOPS), 3 * u64::from(LOOPS))
    );
    let of_another = document
        .notes
        .iter()
        .filter(|note| note.contains("another architecture"))
        .count();
    assert_eq!(of_another, 2, "no time and no costs: {:?}", document.notes);
}

#[test]
fn words_and_distances() {
    let Some(counts) = counted() else { return };
    let process = &counts.processes[0];
    let loops = u64::from(LOOPS);
    let total = |f: fn(&cyclewise_locks::counts::Site) -> u64| process.sites.iter().map(f).sum::<u64>();
    // Twelve forms that lock, of which one store-exclusive accesses nothing; and a fence, which has no word.
    assert_eq!(total(|s| s.words.private), 11 * loops);
    assert_eq!(total(|s| s.words.unknown), 2 * loops);
    let near = process.sites.iter().map(|s| s.distances[0]).sum::<u64>();
    assert_eq!(near, 12 * loops - 1, "all but the first are near the one before");
}
