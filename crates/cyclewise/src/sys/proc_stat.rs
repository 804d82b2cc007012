//! `/proc/self/task/TID/stat`: what the kernel says about one thread of this process.
//!
//! A line is made in one go when it is read, under the lock that guards the list of threads
//! (`do_task_stat`, which takes `siglock` for its count).
//!
//! # References
//! proc_pid_stat(5); Linux fs/proc/array.c (`do_task_stat`), include/linux/sched.h (`PF_EXITING`), kernel/exit.c
//! (`do_exit`, `__exit_signal`).

use super::file::File;
use super::thread;
use alloc::format;
use core::ffi::CStr;

/// Set at the beginning of a thread's end, and never cleared (Linux include/linux/sched.h, the same since 2.6).
const PF_EXITING: u64 = 0x4;

/// Fields of the line, numbered as in proc_pid_stat(5).
const FLAGS: usize = 9;
const THREADS: usize = 20;
const START: usize = 22;

/// More than the fields up to [`START`] take: a name of 64 bytes, and 21 numbers of at most 20 digits.
const ROOM: usize = 1024;

/// What a thread can still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It may run code of this program. So does a thread whose line cannot be read or understood.
    Runs,
    /// It is in the kernel's `do_exit`, which does not return: it is listed, and never runs code of this program again.
    Exiting,
    /// No thread of this process has the id.
    Gone,
}

/// Whether the thread `tid` can run code of this program.
pub(crate) fn life(tid: i32) -> Life {
    match Line::read(tid) {
        Ok(line) => line.life(),
        Err(libc::ENOENT | libc::ESRCH) => Life::Gone,
        Err(_) => Life::Runs,
    }
}

/// How many threads the kernel lists, ending ones included. `None` where that cannot be read.
///
/// The kernel reads this count under the lock under which it takes a thread from the list and from the count. The links of
/// the folder `task` are read without, and may be one less than there are threads in the list.
pub(crate) fn threads() -> Option<u32> {
    Line::read(thread::id()).ok()?.field(THREADS)?.try_into().ok()
}

/// When a thread started, in the ticks of [`proc_task::ticks`](super::proc_task::ticks). `None` where it has ended or that
/// cannot be read.
pub(crate) fn started(tid: i32) -> Option<u64> {
    Line::read(tid).ok()?.field(START)
}

/// The line of one thread.
struct Line {
    tid: i32,
    bytes: [u8; ROOM],
    length: usize,
}

impl Line {
    /// # Errors
    /// The kernel's errno.
    fn read(tid: i32) -> Result<Self, i32> {
        let path = format!("/proc/self/task/{tid}/stat\0");
        let path = CStr::from_bytes_with_nul(path.as_bytes()).map_err(|_| libc::EINVAL)?;
        let mut line = Self {
            tid,
            bytes: [0; ROOM],
            length: 0,
        };
        line.length = File::open(path, libc::O_RDONLY)?.read(&mut line.bytes)?;
        Ok(line)
    }

    #[cfg(test)]
    fn of(tid: i32, text: &[u8]) -> Self {
        let mut line = Self {
            tid,
            bytes: [0; ROOM],
            length: text.len(),
        };
        line.bytes[..text.len()].copy_from_slice(text);
        line
    }

    fn life(&self) -> Life {
        match self.field(FLAGS) {
            Some(flags) if flags & PF_EXITING != 0 => Life::Exiting,
            _ => Life::Runs,
        }
    }

    /// A field behind the name, as a number. The name may be anything, with blanks, parentheses and line feeds, and it
    /// ends with the last parenthesis. `None` where the line is not this thread's, or ends within the field: a filter can
    /// answer open(2) with the number of another file.
    fn field(&self, number: usize) -> Option<u64> {
        let line = self.bytes.get(..self.length)?;
        let name = line.strip_prefix(format!("{} (", self.tid).as_bytes())?;
        let end = name.iter().rposition(|&byte| byte == b')')?;
        // The first behind the name is field 3. A field that is followed by nothing may have been cut.
        let mut fields = name.get(end + 1..)?.strip_prefix(b" ")?.split(|&byte| byte == b' ');
        let field = fields.nth(number - 3)?;
        fields.next()?;
        core::str::from_utf8(field).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::proc_task;

    #[test]
    fn fields_are_read_behind_any_name() {
        for name in ["a", "", "(a) b (c)", ") X 4 4 4 4 4 4", "))))", "\n1 (x) S", "\u{fffd}"] {
            let line = |flags: &str| format!("7 ({name}) S 1 1 1 0 -1 {flags} 1 0 0 0 0 0 0 0 20 0 3 0 4711 9 9\n");
            let read = |flags| Line::of(7, line(flags).as_bytes());
            assert_eq!(read("4194304").field(START), Some(4711), "{name}");
            assert_eq!(read("4194304").field(THREADS), Some(3), "{name}");
            assert_eq!(read("4194304").life(), Life::Runs, "{name}");
            assert_eq!(read("4194316").life(), Life::Exiting, "{name}");
            // What cannot be understood runs.
            for flags in ["", "x", "-4", "0x4", "99999999999999999999999"] {
                assert_eq!(read(flags).life(), Life::Runs, "{name} {flags}");
            }
        }
    }

    #[test]
    fn a_line_that_is_cut_or_anothers_says_nothing() {
        let whole = b"7 (a) Z 1 1 1 0 -1 4 1 0 0 0 0 0 0 0 20 0 1 0 4711 9\n";
        let flags_end = b"7 (a) Z 1 1 1 0 -1 4 ".len();
        for length in 0..whole.len() {
            let expected = if length < flags_end { Life::Runs } else { Life::Exiting };
            assert_eq!(Line::of(7, &whole[..length]).life(), expected, "{length}");
        }
        assert_eq!(Line::of(8, whole).life(), Life::Runs);
        assert_eq!(Line::of(7, b"17 (a) Z 1 1 1 0 -1 4 1 ").life(), Life::Runs);
    }

    #[test]
    fn a_thread_that_runs_is_told_from_none() {
        let own = thread::id();
        assert_eq!(life(own), Life::Runs);
        assert_eq!(life(i32::MAX), Life::Gone);
        assert!(threads().unwrap() >= 1);
        let other = std::thread::spawn(|| (life(thread::id()), threads().unwrap()));
        let (life, threads) = other.join().unwrap();
        assert!(life == Life::Runs && threads >= 2);
    }

    #[test]
    fn a_start_is_between_two_looks_at_the_clock() {
        let (before, own) = (proc_task::ticks(), started(thread::id()).unwrap());
        // The kernel rounds its nanoseconds down, and so does `ticks`.
        assert!(own <= before);
        let newer = std::thread::spawn(|| started(thread::id())).join().unwrap().unwrap();
        assert!(newer >= before && newer <= proc_task::ticks());
        assert_eq!(started(i32::MAX), None);
    }
}
