//! `/proc/self/task`: the threads of this process.
//!
//! # Safety
//! 1. The kernel writes at most the length of a buffer, and one `struct stat`.
#![expect(unsafe_code, reason = "getdents64, stat")]

use super::cancellation::held_off;
use super::file::File;
use super::{failed, proc_stat, thread};
use crate::error::Refusal;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

/// Offsets in `struct linux_dirent64`: the record's length, and its name (getdents64(2)).
const LENGTH_AT: usize = 16;
const NAME_AT: usize = 19;

/// The ids of all threads, ascending.
///
/// A thread that starts or ends meanwhile may be missing, and so may threads that run: the kernel goes from each thread to
/// the next, and stops at one that has just left. Compare the length with [`count`] afterwards. The caller is never missing.
///
/// # Errors
/// Where `/proc` is not mounted, or a filter forbids reading it. [`Refusal::NoMemory`]. [`Refusal::ForeignProc`] where the caller is not listed.
pub(crate) fn list() -> Result<Vec<i32>, Refusal> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY;
    let folder = File::open_for(c"/proc/self/task", flags, "open /proc/self/task")?;
    let mut tids = Vec::new();
    let mut buffer = [0_u8; 4096];
    loop {
        let filled = read(&folder, &mut buffer)?;
        if filled == 0 {
            break;
        }
        let mut records = &buffer[..filled];
        while let Some(length) = records.get(LENGTH_AT..LENGTH_AT + 2) {
            let length = usize::from(u16::from_ne_bytes([length[0], length[1]]));
            let Some(record) = records.get(..length) else { break };
            if let Some(tid) = record.get(NAME_AT..).and_then(number) {
                tids.try_reserve(2).map_err(|_| Refusal::NoMemory)?; // One is for the caller.
                tids.push(tid);
            }
            records = &records[length.max(1)..];
        }
    }
    with_caller(tids, thread::id(), || proc_stat::threads().is_some())
}

/// The list, sorted, each id once, with the caller's id `own`. A list without it has ended before it, or is of another pid namespace,
/// whose ids name no thread here, or another one: there the caller has no line under its id.
pub(super) fn with_caller(mut tids: Vec<i32>, own: i32, has_line: impl FnOnce() -> bool) -> Result<Vec<i32>, Refusal> {
    tids.sort_unstable();
    // An id whose thread has left while the list was read may be another's, listed again.
    tids.dedup();
    if let Err(at) = tids.binary_search(&own) {
        if !has_line() {
            return Err(Refusal::ForeignProc);
        }
        tids.insert(at, own);
    }
    Ok(tids)
}

fn read(folder: &File, buffer: &mut [u8]) -> Result<usize, Refusal> {
    let number = folder.number();
    // SAFETY: the kernel writes at most the buffer's length (Invariant 1).
    let filled = unsafe { libc::syscall(libc::SYS_getdents64, number, buffer.as_mut_ptr(), buffer.len()) };
    usize::try_from(filled).map_err(|_| failed("getdents64 /proc/self/task"))
}

/// How many threads there are: the folder's links, less its own two (Linux `proc_task_getattr`).
///
/// Ending threads are counted until the kernel takes them from the list. It takes a thread from this count first, so for a
/// moment this may be one less than there are in the list; [`proc_stat::threads`] never is.
/// A thread that can run is always counted.
///
/// A process made by bare clone(2) that shares this one's memory and is no thread of it is not counted; nothing that runs
/// Rust makes one.
///
/// # Errors
/// Where `/proc` is not mounted, or a filter forbids looking at it.
pub(crate) fn count() -> Result<u32, Refusal> {
    // Zeroes: a filter may answer 0, and then the kernel has not written it.
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: a C string, and room for one `struct stat` (Invariant 1).
    let rc = held_off(|| unsafe { libc::stat(c"/proc/self/task".as_ptr(), status.as_mut_ptr()) });
    if rc != 0 {
        return Err(failed("stat /proc/self/task"));
    }
    // SAFETY: all zeroes is a valid structure, whether or not the kernel has filled it.
    let status = unsafe { status.assume_init() };
    Ok((status.st_nlink as u32).saturating_sub(2))
}

/// Whether the calling thread is the only one of its process, which stays true until it creates another. False where that
/// cannot be known.
pub(crate) fn is_alone() -> bool {
    count() == Ok(1)
}

/// The time since the machine started in the kernel's ticks, 100 in a second. Where the clock is refused it is 0, and every
/// thread seems to be newer.
pub(crate) fn ticks() -> u64 {
    const TICK_NS: u64 = 10_000_000; // USER_HZ is 100 on every architecture with glibc (asm-generic/param.h).
    super::clock_gettime::boottime_ns() / TICK_NS
}

/// The decimal number that is `name` up to its NUL; `None` for `.` and `..`.
pub(super) fn number(name: &[u8]) -> Option<i32> {
    let end = name.iter().position(|&b| b == 0)?;
    core::str::from_utf8(&name[..end]).ok()?.parse().ok()
}
