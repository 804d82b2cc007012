//! The text of this process: reading it, and writing it past the library.

use std::os::unix::fs::FileExt;

/// The bytes of a site.
pub fn bytes(at: usize) -> [u8; 5] {
    std::array::from_fn(|i| {
        // SAFETY: sites are readable text.
        unsafe { std::ptr::read_volatile((at + i) as *const u8) }
    })
}

/// Where the instruction begins whose last five bytes are the site: up to four CS prefixes earlier.
pub fn instruction_at(site: usize) -> usize {
    // Only a site at the start of a quadword has been moved there. The byte before the prefixes is no 0x2E: the tests'
    // code has none at the end of an instruction there.
    if !site.is_multiple_of(8) {
        return site;
    }
    let is_prefix = |at: &usize| bytes(*at)[0] == 0x2e;
    site - (1..=4).map(|i| site - i).take_while(is_prefix).count()
}

/// Overwrites text through `/proc/self/mem`, as a debugger does, whatever that does to who executes it.
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
