//! `/proc/self/maps`: which executable mapping an address is in.
//!
//! Read into a buffer on the stack and parsed byte by byte: it may run where allocating may not.
//!
//! # References
//! proc_pid_maps(5).

use super::file::File;
use crate::error::Refusal;
use core::ffi::CStr;
use core::ops::Range;

/// The contiguous mappings around `address` that are readable, executable, not writable and private: what is written to a shared
/// mapping (memfd, libhugetlbfs) is written to the text of other processes, whose threads are not ours to count.
///
/// # Errors
/// The kernel's, where there is no /proc; [`Refusal::NotText`] where there is no such mapping.
pub(crate) fn text_around(address: usize) -> Result<Range<usize>, Refusal> {
    around(address, 0)
}

/// As [`text_around`], of pages too that are writable because they are being changed.
///
/// # Errors
/// As there.
pub(crate) fn open_text_around(address: usize) -> Result<Range<usize>, Refusal> {
    around(address, W)
}

fn around(address: usize, ignored: u8) -> Result<Range<usize>, Refusal> {
    let mut search = Search::new(address, ignored);
    // The process's own is empty where its first thread has ended.
    let _ = search.read(c"/proc/self/maps")? || search.read(c"/proc/thread-self/maps")?;
    search.found().ok_or(Refusal::NotText { at: address })
}

/// The search, fed with the file's bytes.
struct Search {
    address: usize,
    /// Permissions that make no difference.
    ignored: u8,
    /// Contiguous text, so far.
    text: Range<usize>,
    /// Whether the rest of the file no longer matters.
    is_done: bool,
    line: MapsLine,
}

/// The line that is being read.
#[derive(Clone, Copy, Default)]
struct MapsLine {
    start: usize,
    end: usize,
    /// Which field it is in: 0 and 1 the addresses, 2 the permissions, 3 the rest.
    field: u8,
    /// Which permission comes next.
    column: u8,
    /// The permissions that count, as bits: r, w, x, s.
    bits: u8,
}

/// Of [`MapsLine::bits`].
const R: u8 = 1;
const W: u8 = 2;
const X: u8 = 4;

impl Search {
    fn new(address: usize, ignored: u8) -> Self {
        Self {
            address,
            ignored,
            text: 0..0,
            is_done: false,
            line: MapsLine::default(),
        }
    }

    /// Reads a file until the rest no longer matters; whether there was anything in it.
    fn read(&mut self, path: &CStr) -> Result<bool, Refusal> {
        let file = File::open_for(path, libc::O_RDONLY, "open /proc/self/maps")?;
        let mut buffer = [0; 1024];
        let mut is_empty = true;
        while !self.is_done {
            let n = file.read(&mut buffer).map_err(|errno| Refusal::System {
                call: "read /proc/self/maps",
                errno,
            })?;
            for &byte in buffer.iter().take(n) {
                self.byte(byte);
            }
            if n == 0 {
                break;
            }
            is_empty = false;
        }
        Ok(!is_empty)
    }

    fn byte(&mut self, byte: u8) {
        let line = &mut self.line;
        match (line.field, byte) {
            (_, b'\n') => self.end_of_line(),
            (0, b'-') | (1 | 2, b' ') => line.field += 1,
            (0, digit) => line.start = line.start << 4 | hex(digit),
            (1, digit) => line.end = line.end << 4 | hex(digit),
            (2, permission) => {
                if !matches!(permission, b'-' | b'p') {
                    line.bits |= 1 << line.column;
                }
                // The kernel writes four. What follows is no text of ours, and stays within the bits.
                line.column = (line.column + 1).min(7);
            }
            _ => {}
        }
    }

    fn end_of_line(&mut self) {
        let line = core::mem::take(&mut self.line);
        let is_text = line.bits & !self.ignored == R | X;
        if self.is_done {
            return;
        }
        if is_text && line.start == self.text.end {
            self.text.end = line.end;
        } else if self.text.contains(&self.address) || line.start > self.address {
            // Mappings ascend: the text that holds the address ends here, or there is none.
            self.is_done = true;
        } else {
            self.text = if is_text { line.start..line.end } else { 0..0 };
        }
    }

    fn found(&self) -> Option<Range<usize>> {
        self.text.contains(&self.address).then(|| self.text.clone())
    }
}

/// The value of a hexadecimal digit; the kernel writes lower case.
fn hex(digit: u8) -> usize {
    usize::from(match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::for_tests::mangle::{Owes, hold, tried};

    const MAPS: &str = "\
        1000-2000 r--p 00000000 00:00 0 /a-b c\n\
        2000-5000 r-xp 00001000 00:00 0 /a\n\
        5000-6000 r-xp 00001000 00:00 0 /a\n\
        6000-7000 rwxp 00001000 00:00 0 /a\n\
        7000-8000 --xp 00001000 00:00 0 /a\n\
        8000-9000 r-xs 00001000 00:00 0 /memfd:a (deleted)\n\
        9000-a000 r-xp 00001000 00:00 0 /a\n\
        7fffffff9000-7fffffffa000 r-xp 00001000 00:00 0 [vdso]\n";

    fn find(address: usize) -> Option<Range<usize>> {
        let mut search = Search::new(address, 0);
        MAPS.bytes().for_each(|b| search.byte(b));
        search.found()
    }

    #[test]
    fn neighbours_are_one_and_other_protections_are_none() {
        assert_eq!(find(0x1fff), None);
        assert_eq!(find(0x2000), Some(0x2000..0x6000));
        assert_eq!(find(0x5fff), Some(0x2000..0x6000));
        assert_eq!(find(0x6000), None);
        assert_eq!(find(0x7000), None);
        assert_eq!(find(0x8000), None, "shared");
        assert_eq!(find(0x9000), Some(0x9000..0xa000), "not joined with what is shared");
        assert_eq!(find(0x7fff_ffff_9fff), Some(0x7fff_ffff_9000..0x7fff_ffff_a000));
        assert_eq!(find(0x7fff_ffff_a000), None);
    }

    #[test]
    fn mangled_maps_give_text_with_the_address_or_none() {
        hold(&[MAPS.as_bytes()], Owes::default(), |bytes| {
            let found = [0, W].map(|ignored| {
                [0, 0x2000, 0x5fff, 0x9000, usize::MAX].map(|address| {
                    let mut search = Search::new(address, ignored);
                    bytes.iter().for_each(|&byte| search.byte(byte));
                    assert!(search.found().is_none_or(|text| text.contains(&address)));
                    search.found()
                })
            });
            Ok(found)
        });
    }

    #[test]
    fn twin_mangled_maps_have_more_permissions_than_four() {
        let fault = tried(&[MAPS.as_bytes()], Owes::default(), |bytes| {
            let lines = bytes.split(|&byte| byte == b'\n');
            let permissions = lines.filter_map(|line| line.split(|&byte| byte == b' ').nth(1));
            Ok(permissions.fold(0, |all, line| {
                (0..line.len()).fold(all, |all, column| all | [1, 2, 4, 8][column])
            }))
        });
        assert!(fault.unwrap_err().contains("panics"));
    }

    #[test]
    fn this_function_is_text_and_a_local_is_not() {
        let here = this_function_is_text_and_a_local_is_not as fn() as usize;
        assert!(text_around(here).unwrap().contains(&here));
        let local = 0;
        let at = (&raw const local).addr();
        assert_eq!(text_around(at), Err(Refusal::NotText { at }));
    }
}
