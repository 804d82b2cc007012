//! The copy of a program that has data in its text: it runs as the program does, and one by the sweep alone does not.

use super::image::{FoundSite, Image};
use super::proof::Proof;
use super::site::SiteKind;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program whose text has, after a function, a table of words that decode as LOCK INC and as LOCK XADD, and whose checksum it knows.
const PROGRAM: &str = r#"
#include <stdatomic.h>
#include <stdio.h>

__asm__(
    ".text\n"
    ".balign 16\n"
    ".globl table\n"
    ".hidden table\n"
    ".type table, @object\n"
    "table:\n"
    "    .byte 0xf0, 0x48, 0xff, 0x07\n"
    "    .byte 0xf0, 0x0f, 0xc1, 0x07\n"
    "    .byte 0x90, 0xf0, 0xff, 0x07\n"
    ".size table, 12\n"
    ".balign 16\n");
extern const unsigned char table[12];

static atomic_long counter;
static atomic_int other;

__attribute__((noinline)) long count(int n) {
    for (int i = 0; i < n; i++)
        atomic_fetch_add(&counter, 3);
    return atomic_exchange(&other, 5) + counter;
}

__attribute__((noinline)) void fence(void) {
    __asm__ volatile("lock orq $0, (%%rsp)" ::: "memory", "cc");
    __asm__ volatile(".byte 0x64, 0xf0, 0x0f, 0xb1, 0x01" : : "c"(0x28L), "a"(0) : "memory", "cc");
    __asm__ volatile(".byte 0xf2, 0xf0, 0xff, 0x01" : : "c"(&other) : "memory", "cc");
}

int main(void) {
    unsigned sum = 0;
    for (int i = 0; i < 12; i++)
        sum = sum * 31 + table[i];
    printf("%ld %u\n", count(100), sum);
    return sum != CHECKSUM;
}
"#;

/// The table's checksum, by the same arithmetic.
fn checksum() -> u32 {
    let table = [0xf0, 0x48, 0xff, 0x07, 0xf0, 0x0f, 0xc1, 0x07, 0x90, 0xf0, 0xff, 0x07];
    table
        .iter()
        .fold(0, |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(*byte))
}

fn compiled(folder: &Path, options: &[&str]) -> Option<PathBuf> {
    let (source, program) = (folder.join("table.c"), folder.join("table"));
    std::fs::write(&source, PROGRAM).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-g0", &format!("-DCHECKSUM={}u", checksum())]);
    let compiler = compiler.args(options).arg("-o").arg(&program).arg(&source).output();
    let Ok(output) = compiler else {
        println!("skipped: no cc here; install a C compiler");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn runs(program: &Path) -> (bool, String) {
    let output = loop {
        match Command::new(program).output() {
            // A process that another thread starts has the copy open for writing, until it executes its own program.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            output => break output.unwrap(),
        }
    };
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

fn kinds(image: &Image, proof: Proof) -> Vec<SiteKind> {
    let is_wanted = |found: &&FoundSite| found.proof == proof;
    let mut kinds: Vec<SiteKind> = image.sites.iter().filter(is_wanted).map(|f| f.site.kind).collect();
    kinds.sort();
    kinds
}

/// Fixed or not, with symbols or without: unwind tables are there in all.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn a_copy_counts_as_the_program_does_and_its_data_stay() {
    for options in [
        &["-pie", "-fPIE"][..],
        &["-no-pie", "-s"],
        &["-fno-asynchronous-unwind-tables"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = compiled(folder.path(), options) else {
            return;
        };
        let before = runs(&program);
        assert!(before.0, "{options:?}: {before:?}");
        let copy = folder.path().join("copy");
        let image = Image::read(&program).unwrap();
        assert_eq!(image.write(&program, &copy).unwrap(), 1, "{options:?}");
        assert_eq!(runs(&copy), before, "{options:?}");
        let proven = [
            SiteKind::Narrow,
            SiteKind::Fence,
            SiteKind::Segment,
            SiteKind::Elision,
            SiteKind::Exchange,
        ];
        assert_eq!(kinds(&image, Proof::Proven), proven, "{options:?}");
        assert_eq!(kinds(&image, Proof::NoRange), [SiteKind::Narrow; 3], "{options:?}");
        let (old, new) = (std::fs::read(&program).unwrap(), std::fs::read(&copy).unwrap());
        let changed: Vec<_> = old.iter().zip(&new).filter(|(old, new)| old != new).collect();
        assert_eq!((old.len(), changed), (new.len(), vec![(&0xf0, &0x3e)]), "{options:?}");
    }
}

/// The twin: as if what the sweep finds were all code. The program says so itself.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn a_copy_by_the_sweep_alone_has_other_data() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path(), &[]) else {
        return;
    };
    let copy = folder.path().join("copy");
    let mut image = Image::read(&program).unwrap();
    for found in &mut image.sites {
        found.proof = Proof::Proven;
    }
    assert_eq!(image.write(&program, &copy).unwrap(), 4);
    assert!(!runs(&copy).0, "{:?}", runs(&copy));
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn a_program_is_not_its_own_copy_and_an_object_is_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path(), &[]) else {
        return;
    };
    let image = Image::read(&program).unwrap();
    let link = folder.path().join("link");
    std::fs::hard_link(&program, &link).unwrap();
    assert!(image.write(&program, &link).unwrap_err().contains("is the file itself"));
    let nowhere = image.write(&program, &folder.path().join("no/copy")).unwrap_err();
    assert!(nowhere.starts_with("cannot write"), "{nowhere}");
    let object = compiled(folder.path(), &["-c"]).unwrap();
    assert!(Image::read(&object).err().unwrap().contains("not linked"));
}

/// Go writes neither unwind tables nor, here, symbols: its own table is all there is. By that as many sites are proven as with symbols.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn a_stripped_go_program_is_proven_by_its_own_table() {
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/truth/programs/channels.go");
    let proven = |name: &str, flags: &str| {
        let program = folder.path().join(name);
        let mut go = Command::new("go");
        go.envs([("GOTOOLCHAIN", "local"), ("GO111MODULE", "off"), ("CGO_ENABLED", "0")]);
        go.args(["build", "-ldflags", flags, "-o"]).arg(&program).arg(source);
        let Ok(output) = go.output() else {
            println!("skipped: no go here; install Go");
            return None;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let image = Image::read(&program).unwrap();
        let copy = folder.path().join(format!("{name}.copy"));
        let replaced = image.write(&program, &copy).unwrap();
        let output = Command::new("taskset")
            .args(["-c", "0"])
            .arg(&copy)
            .arg("1000")
            .output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(text.starts_with("1000 numbers, sum "), "{text}");
        Some((
            replaced,
            image.sites.iter().filter(|f| f.proof != Proof::Proven).count(),
        ))
    };
    let (Some(whole), Some(stripped)) = (proven("whole", ""), proven("stripped", "-s -w")) else {
        return;
    };
    assert_eq!((whole, whole.1), (stripped, 0));
    assert!(stripped.0 > 100, "{stripped:?}");
}
