//! Reads the text of this process, and writes it without the library.

use cyclewise::patch::{Prefix, sites};
use std::os::unix::fs::FileExt;

/// Whether every site has this prefix.
pub fn all(prefix: Prefix) -> bool {
    sites().all(|site| site.prefix() == prefix)
}

/// The bytes of a site.
pub fn bytes(at: usize) -> [u8; 5] {
    std::array::from_fn(|i| {
        // SAFETY: sites are readable text.
        unsafe { std::ptr::read_volatile((at + i) as *const u8) }
    })
}

/// Start of the instruction whose last five bytes are the site: up to four CS prefixes earlier.
pub fn instruction_at(site: usize) -> usize {
    // Only a site moved to the start of a quadword has such prefixes. The byte before them is never 0x2E: no instruction
    // of the tests' code ends in it there.
    if !site.is_multiple_of(8) {
        return site;
    }
    let is_prefix = |at: &usize| bytes(*at)[0] == 0x2e;
    site - (1..=4).map(|i| site - i).take_while(is_prefix).count()
}

/// Overwrites text through `/proc/self/mem`, as a debugger does, without synchronizing threads that execute it.
pub fn poke(at: usize, bytes: &[u8]) {
    let memory = std::fs::File::options().write(true).open("/proc/self/mem").unwrap();
    memory.write_all_at(bytes, at as u64).unwrap();
}

/// The permissions of the mapping that holds an address, such as `r-xp`.
pub fn permissions(at: usize) -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let holds = |line: &&str| {
        let (start, rest) = line.split_once('-').unwrap();
        let (end, _) = rest.split_once(' ').unwrap();
        let number = |s| usize::from_str_radix(s, 16).unwrap();
        (number(start)..number(end)).contains(&at)
    };
    let line = maps.lines().find(holds).unwrap();
    line.split(' ').nth(1).unwrap().to_owned()
}
