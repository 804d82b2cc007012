//! A copy of a program or library in which the LOCK prefixes that a counted run has executed are DS prefixes, which do nothing.
//!
//! This is for the truth that forecasts are compared with, and no way to run programs. A process that uses copies **is wrong on more than
//! one CPU**, or where it shares memory with a process elsewhere: run it by `taskset -c 0`. On one CPU an instruction is not divided by an
//! interrupt, so that LOCK adds nothing.
//!
//! What was executed is an instruction, so data in the text are not taken for one. XCHG locks without a prefix and stays, as do fences, and
//! instructions with a prefix whose meaning another segment's prefix could change.

use cyclewise_locks::counts::Arch;
use cyclewise_locks::image::{Image, Limits};
use cyclewise_locks::profile::{Form, Profile};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const LOCK: u8 = 0xf0;
const DS: u8 = 0x3e;

/// Of each file the addresses of instructions with LOCK that were executed, by a document of `cyclewise locks --json`.
///
/// # Errors
/// One line, where it is no such document.
pub(super) fn executed(document: &Path) -> Result<BTreeMap<PathBuf, Vec<u64>>, String> {
    let read = || -> Result<Profile, Box<dyn std::error::Error>> {
        let mut document: Value = serde_json::from_slice(&fs::read(document)?)?;
        Ok(serde_json::from_value(document["profile"].take())?)
    };
    let profile = read().map_err(|error| format!("{}: {error}", document.display()))?;
    let mut files: BTreeMap<PathBuf, Vec<u64>> = BTreeMap::new();
    for site in profile.sites.iter().filter(|site| site.form == Form::Lock) {
        files.entry(PathBuf::from(&site.module)).or_default().push(site.address);
    }
    Ok(files)
}

/// Writes DS over LOCK of the instructions at these addresses of `file`; returns how many there were.
///
/// # Errors
/// One line, where it is no program or library for x86-64, or cannot be written.
pub(super) fn elide(file: &Path, addresses: &[u64]) -> Result<usize, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let image =
        Image::open(file, Arch::X86_64, &Limits::default()).map_err(|why| format!("{}: {why}", file.display()))?;
    let mut bytes = fs::read(file).map_err(failed)?;
    let mut replaced = 0;
    for &address in addresses {
        let code = image.offset(address).and_then(|at| bytes.get_mut(at as usize..));
        if let Some(prefix) = code.and_then(|code| Some(&mut code[lock(code)?])) {
            *prefix = DS;
            replaced += 1;
        }
    }
    let mode = fs::metadata(file).map_err(failed)?.permissions().mode();
    fs::set_permissions(file, fs::Permissions::from_mode(mode | 0o200)).map_err(failed)?;
    fs::write(file, bytes).map_err(failed)?;
    Ok(replaced)
}

/// Where LOCK is among the prefixes of an instruction: once, and with no other than that for operands of 16 bits.
fn lock(code: &[u8]) -> Option<usize> {
    let is_prefix = |byte: &u8| matches!(*byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | LOCK | 0xf2 | 0xf3);
    let end = code.iter().position(|byte| !is_prefix(byte))?;
    let mut others = code[..end].iter().filter(|byte| **byte != 0x66);
    let is_alone = others.next() == Some(&LOCK) && others.next().is_none();
    code.iter().position(|byte| *byte == LOCK).filter(|_| is_alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_is_found_where_it_is_the_only_prefix_that_matters() {
        for (code, at) in [
            // lock inc qword [rdi]; lock xadd [rdi], ax: LOCK is not always the first prefix.
            (&[0xf0, 0x48, 0xff, 0x07][..], Some(0)),
            (&[0x66, 0xf0, 0x0f, 0xc1, 0x07], Some(1)),
            // lock cmpxchg fs:[rdi], eax; xacquire lock inc dword [rdi]
            (&[0x64, 0xf0, 0x0f, 0xb1, 0x07], None),
            (&[0xf2, 0xf0, 0xff, 0x07], None),
            // inc qword [rdi], with an immediate that looks like LOCK.
            (&[0x48, 0x83, 0x07, 0xf0], None),
            (&[], None),
        ] {
            assert_eq!(lock(code), at, "{code:02x?}");
        }
    }

    #[test]
    fn only_what_was_executed_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let before = fs::read(&copy).unwrap();
        let image = Image::open(&copy, Arch::X86_64, &Limits::default()).unwrap();
        // As if this were executed: the first two places with LOCK, and one without.
        let (start, size) = image.code()[0];
        let code = image.bytes(start, size as usize).unwrap();
        let is_lock = |at: &usize| lock(&code[*at..]) == Some(0);
        let found: Vec<usize> = (0..code.len()).filter(is_lock).take(2).collect();
        let without = (0..code.len()).find(|at| lock(&code[*at..]).is_none()).unwrap();
        let executed: Vec<u64> = found.iter().chain([&without]).map(|at| start + *at as u64).collect();
        assert_eq!(elide(&copy, &executed), Ok(found.len()));
        let after = fs::read(&copy).unwrap();
        let changed: Vec<_> = before.iter().zip(&after).filter(|(old, new)| old != new).collect();
        assert_eq!((before.len(), changed), (after.len(), vec![(&LOCK, &DS); found.len()]));
        fs::write(&copy, "#!/bin/sh\n").unwrap();
        assert!(elide(&copy, &[]).unwrap_err().contains("copy"));
    }
}
