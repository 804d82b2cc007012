//! The threads of this process, as the kernel lists them in `/proc/self/task`.
//!
//! # Safety
//! 1. getdents64 fills a buffer whose length is passed with it, with records that each say their own length.
#![expect(unsafe_code, reason = "getdents64, stat, clock_gettime")]

use super::descriptor::Descriptor;
use super::{failed, thread};
use crate::error::Refusal;
use core::mem::MaybeUninit;
use std::vec::Vec;

/// Offsets in `struct linux_dirent64`: the record's length, and its name (getdents64(2)).
const LENGTH_AT: usize = 16;
const NAME_AT: usize = 19;

/// The ids of all threads, ascending.
///
/// A thread that starts or ends meanwhile may be missing; [`count`] afterwards tells.
///
/// # Errors
/// Where `/proc` is not mounted, or a filter forbids reading it. [`Refusal::ForeignProc`] where the caller is not listed.
pub(crate) fn list() -> Result<Vec<i32>, Refusal> {
    let folder = Folder::open()?;
    let mut tasks = Vec::new();
    let mut buffer = [0_u8; 4096];
    loop {
        let filled = folder.read(&mut buffer)?;
        if filled == 0 {
            break;
        }
        let mut records = &buffer[..filled];
        while let Some(length) = records.get(LENGTH_AT..LENGTH_AT + 2) {
            let length = usize::from(u16::from_ne_bytes([length[0], length[1]]));
            let Some(record) = records.get(..length) else { break };
            if let Some(tid) = record.get(NAME_AT..).and_then(number) {
                tasks.push(tid);
            }
            records = &records[length.max(1)..];
        }
    }
    tasks.sort_unstable();
    // Numbers of another namespace are nobody's here, or somebody else's.
    if tasks.binary_search(&thread::id()).is_err() {
        return Err(Refusal::ForeignProc);
    }
    Ok(tasks)
}

/// How many threads there are: the links of the folder, of which two are its own (Linux `proc_task_getattr`).
///
/// # Errors
/// As [`list`].
pub(crate) fn count() -> Result<usize, Refusal> {
    // Zeroes: no filter answers for the kernel and leaves it unwritten.
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: a C string, and room for one `struct stat`.
    let rc = unsafe { libc::stat(c"/proc/self/task".as_ptr(), status.as_mut_ptr()) };
    if rc != 0 {
        return Err(failed("reading /proc/self/task"));
    }
    // SAFETY: all zeroes is a valid structure, whether or not the kernel has filled it.
    let status = unsafe { status.assume_init() };
    Ok((status.st_nlink as usize).saturating_sub(2))
}

/// When a thread was started: in ticks of the kernel's, of which there are 100 in a second, since the machine was. `None`
/// where it is gone or that cannot be read.
pub(crate) fn started(tid: i32) -> Option<u64> {
    start_in(&std::fs::read(std::format!("/proc/self/task/{tid}/stat")).ok()?)
}

/// Now, in the same ticks.
pub(crate) fn ticks() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for one structure. Where the clock is refused it stays 0, and every thread seems to be newer.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut now) };
    (now.tv_sec as u64) * TICKS + now.tv_nsec as u64 * TICKS / 1_000_000_000
}

/// USER_HZ, which is the same on every architecture with glibc (asm-generic/param.h).
const TICKS: u64 = 100;

/// Field 22 of proc_pid_stat(5). The name, which is field 2, ends with the last parenthesis.
fn start_in(stat: &[u8]) -> Option<u64> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let fields = stat.get(name_end + 2..)?;
    let start = fields.split(|&byte| byte == b' ').nth(22 - 3)?;
    core::str::from_utf8(start).ok()?.parse().ok()
}

/// The decimal number that `name` begins with, up to its NUL; none for `.` and `..`.
fn number(name: &[u8]) -> Option<i32> {
    let end = name.iter().position(|&b| b == 0)?;
    core::str::from_utf8(&name[..end]).ok()?.parse().ok()
}

/// `/proc/self/task`, open.
struct Folder(Descriptor);

impl Folder {
    fn open() -> Result<Self, Refusal> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        Descriptor::open_for(c"/proc/self/task", flags, "reading /proc/self/task").map(Self)
    }

    fn read(&self, buffer: &mut [u8]) -> Result<usize, Refusal> {
        let folder = self.0.number();
        // SAFETY: the kernel writes at most the buffer's length (Invariant 1).
        let filled = unsafe { libc::syscall(libc::SYS_getdents64, folder, buffer.as_mut_ptr(), buffer.len()) };
        usize::try_from(filled).map_err(|_| failed("reading /proc/self/task"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_is_listed_and_counted() {
        assert!(list().unwrap().contains(&thread::id()));
        assert!(count().unwrap() >= 1);
    }

    #[test]
    fn a_start_is_read_behind_any_name() {
        let stat = b"7 (a) b (c)) S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 9 9\n";
        assert_eq!(start_in(stat), Some(4711));
        assert_eq!(start_in(b"7 (a) S 1"), None);
        let (before, here) = (ticks(), started(thread::id()).unwrap());
        // The kernel rounds down what it counts in nanoseconds, and so is this.
        assert!(here <= before);
        let newer = std::thread::spawn(|| started(thread::id())).join().unwrap().unwrap();
        assert!(newer >= before && newer <= ticks());
        assert_eq!(started(i32::MAX), None);
    }

    #[test]
    fn names_that_are_not_numbers_are_left_out() {
        assert_eq!(number(b"42\0garbage"), Some(42));
        assert_eq!(number(b".\0"), None);
        assert_eq!(number(b"7"), None, "no NUL: not a record");
    }
}
