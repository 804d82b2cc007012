//! `/proc/self/task/TID/stat`: what the kernel says about one thread of this process.
//!
//! A line is made in one go when it is read, under the lock that guards the list of threads
//! (`do_task_stat`, which takes `siglock` for its count).
//!
//! # Threads that the kernel made
//! io_uring, vhost and KVM have threads in the process that uses them (`iou-wrk`, `iou-sqp`, `vhost`, `kvm-nx-lpage-re`). They are
//! listed, and never run code of the process:
//! - `copy_thread` lets one begin at a function of the kernel, with a stack pointer and an instruction pointer of 0 for user
//!   mode. That function ends in `do_exit`, and none calls `kernel_execve`, the only way from there to user mode. Handlers do not
//!   run either: all signals but SIGKILL and SIGSTOP are blocked, and `get_signal` returns to that function.
//! - The flags are set in `copy_process` for what `create_io_thread` and `vhost_task_create` ask for, and for nothing else; clone(2)
//!   has no argument for them. A flag is copied to what the thread clones, which are more of its kind, as clone(2) is not called from
//!   the kernel.
//!
//! The bits had other meanings, which user threads have: 0x10 was `PF_VCPU` before 5.12, a thread in its guest; 0x4000 was
//! `PF_USED_ASYNC` before 5.17, a thread that has loaded a module, then nobody's, and is `PF_USER_WORKER` since 6.4, which threads of
//! io_uring have too. So the version decides which bit counts, and the blocked signals have to agree. Distributions that have taken such
//! threads into older versions are on the safe side: their threads run.
//!
//! # References
//! proc_pid_stat(5); Linux fs/proc/array.c (`do_task_stat`), fs/proc/base.c (`proc_single_show`), include/linux/sched.h (`PF_EXITING`,
//! `PF_IO_WORKER`, `PF_USER_WORKER`), kernel/exit.c (`do_exit`, `__exit_signal`), kernel/fork.c (`copy_process`,
//! `create_io_thread`), kernel/vhost_task.c, io_uring/io-wq.c, io_uring/sqpoll.c, arch/x86/kernel/process.c (`copy_thread`).

use super::file::File;
use super::{thread, uname};
use alloc::format;
use core::ffi::CStr;

/// Set at the beginning of a thread's end, and never cleared (Linux include/linux/sched.h, the same since 2.6).
const PF_EXITING: u64 = 0x4;

/// A thread of io_uring, or, since [`BOTH_SINCE`], any that the kernel made.
const PF_IO_WORKER: u64 = 0x10;
const PF_USER_WORKER: u64 = 0x4000;
const IO_SINCE: (u32, u32) = (5, 12);
const BOTH_SINCE: (u32, u32) = (6, 4);

/// The signals that such a thread blocks, as the line has them: the first 31 but SIGKILL and SIGSTOP.
const BLOCKED_BY_WORKERS: u64 = 0x7fff_ffff & !(1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1));

/// Fields of the line, numbered as in proc_pid_stat(5).
const FLAGS: usize = 9;
const THREADS: usize = 20;
const START: usize = 22;
const BLOCKED: usize = 32;

/// More than the fields up to [`BLOCKED`] take: a name of 64 bytes, and 31 numbers of at most 20 digits.
const ROOM: usize = 1024;

/// What a thread can still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It may run code of this program. So does a thread whose line cannot be read or understood.
    Runs,
    /// It is in the kernel's `do_exit`, which does not return: it is listed, and never runs code of this program again.
    Exiting,
    /// The kernel made it for itself, and it never runs code of this program.
    Kernels,
    /// No thread of this process has the id.
    Gone,
}

/// A thread, whichever gets its id later: an open file of /proc names the thread and not the number.
pub(crate) struct Thread {
    tid: i32,
    line: Result<File, i32>,
}

impl Thread {
    /// The thread that has the id now.
    pub(crate) fn open(tid: i32) -> Self {
        Self {
            tid,
            line: StatLine::open(tid),
        }
    }

    /// Whether it can run code of this program.
    pub(crate) fn life(&self) -> Life {
        match self
            .line
            .as_ref()
            .map_err(|&errno| errno)
            .and_then(|file| StatLine::read(self.tid, file))
        {
            Ok(line) => line.life(uname::release),
            Err(libc::ENOENT | libc::ESRCH) => Life::Gone,
            Err(_) => Life::Runs,
        }
    }
}

/// Whether the thread that has the id was made by the kernel for itself. False where that cannot be known.
pub(crate) fn is_kernels(tid: i32) -> bool {
    Thread::open(tid).life() == Life::Kernels
}

/// Whether the flags and the blocked signals are those of a thread that the kernel made.
fn are_kernels(flags: u64, blocked: Option<u64>, release: Option<(u32, u32)>) -> bool {
    let made = match release {
        Some(release) if release >= BOTH_SINCE => flags & PF_USER_WORKER,
        Some(release) if release >= IO_SINCE => flags & PF_IO_WORKER,
        _ => 0,
    };
    made != 0 && blocked == Some(BLOCKED_BY_WORKERS)
}

/// How many threads the kernel lists, ending ones included. `None` where that cannot be read.
///
/// The kernel reads this count under the lock under which it takes a thread from the list and from the count. The links of
/// the folder `task` are read without, and may be one less than there are threads in the list.
pub(crate) fn threads() -> Option<u32> {
    StatLine::now(thread::id()).ok()?.field(THREADS)?.try_into().ok()
}

/// When a thread started, in the ticks of [`proc_task::ticks`](super::proc_task::ticks). `None` where it has ended or that
/// cannot be read.
pub(crate) fn started(tid: i32) -> Option<u64> {
    StatLine::now(tid).ok()?.field(START)
}

struct StatLine {
    tid: i32,
    bytes: [u8; ROOM],
    length: usize,
}

impl StatLine {
    /// # Errors
    /// The kernel's errno.
    fn open(tid: i32) -> Result<File, i32> {
        let path = format!("/proc/self/task/{tid}/stat\0");
        let path = CStr::from_bytes_with_nul(path.as_bytes()).map_err(|_| libc::EINVAL)?;
        File::open(path, libc::O_RDONLY)
    }

    /// # Errors
    /// The kernel's errno.
    fn read(tid: i32, file: &File) -> Result<Self, i32> {
        let mut line = Self {
            tid,
            bytes: [0; ROOM],
            length: 0,
        };
        line.length = file.read(&mut line.bytes)?;
        Ok(line)
    }

    /// # Errors
    /// The kernel's errno.
    fn now(tid: i32) -> Result<Self, i32> {
        Self::read(tid, &Self::open(tid)?)
    }

    /// `release`: the kernel's version.
    fn life(&self, release: impl FnOnce() -> Option<(u32, u32)>) -> Life {
        match self.field(FLAGS) {
            Some(flags)
                if flags & (PF_IO_WORKER | PF_USER_WORKER) != 0
                    && are_kernels(flags, self.field(BLOCKED), release()) =>
            {
                Life::Kernels
            }
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
    use crate::sys::for_tests::mangle::{Owes, hold, tried};
    use crate::sys::proc_task;

    impl StatLine {
        fn made_up(tid: i32, text: &[u8]) -> Self {
            let mut line = Self {
                tid,
                bytes: [0; ROOM],
                length: text.len(),
            };
            line.bytes[..text.len()].copy_from_slice(text);
            line
        }
    }

    fn now() -> Option<(u32, u32)> {
        Some((6, 18))
    }

    /// Lines of threads that the kernel made, and what the same bits meant before.
    #[test]
    fn a_flag_counts_in_the_versions_in_which_it_says_so() {
        const ALL: u64 = 2_147_221_247;
        assert_eq!(BLOCKED_BY_WORKERS, ALL);
        let life = |flags: u64, blocked: u64, release| {
            let line = format!(
                "7 (iou-wrk-5) S 1 1 1 0 -1 {flags} 1 0 0 0 0 0 0 0 20 0 2 0 154291 1 1 1 1 1 1 0 0 0 {blocked} 0 0\n"
            );
            assert_eq!(StatLine::made_up(7, line.as_bytes()).field(START + 7), Some(0));
            StatLine::made_up(7, line.as_bytes()).life(|| release)
        };
        // As 6.18 has them: io_uring's, and those of vhost and KVM.
        for flags in [4_210_768, 4_210_752] {
            assert_eq!(life(flags, ALL, Some((6, 4))), Life::Kernels);
            assert_eq!(life(flags | PF_EXITING, ALL, Some((6, 18))), Life::Kernels);
            // A user thread may block less, and no thread can block more.
            for blocked in [0, ALL & !1, ALL | 0x100] {
                assert_eq!(life(flags, blocked, Some((6, 18))), Life::Runs);
            }
            // A version that nobody knows, or that is made up.
            for release in [None, Some((2, 6)), Some((0, 0))] {
                assert_eq!(life(flags, ALL, release), Life::Runs);
            }
        }
        let (io, user) = (0x40_0000 | PF_IO_WORKER, 0x40_0000 | PF_USER_WORKER);
        assert_eq!(life(io, ALL, Some((5, 12))), Life::Kernels);
        // PF_VCPU, PF_USED_ASYNC, and a bit of nobody's.
        assert_eq!(life(io, ALL, Some((5, 11))), Life::Runs);
        assert_eq!(
            [(5, 16), (5, 17), (6, 3)].map(|v| life(user, ALL, Some(v))),
            [Life::Runs; 3]
        );
        // What 6.4 and later never have alone.
        assert_eq!(life(io, ALL, Some((6, 4))), Life::Runs);
    }

    const STAT: &[u8] =
        b"7 (a) b) S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 3 0 4711 9 9 1 1 1 1 1 0 0 0 2147221247 0 0\n";

    #[test]
    fn mangled_lines_of_threads() {
        hold(
            &[STAT, b"7 (iou-wrk-5) S 1 1 1 0 -1 4210768 1 0\n"],
            Owes::default(),
            |bytes| {
                let line = StatLine::made_up(7, &bytes[..bytes.len().min(ROOM)]);
                let (fields, life) = ([FLAGS, THREADS, START, BLOCKED].map(|n| line.field(n)), line.life(now));
                assert!(life == Life::Runs || fields[0].is_some_and(|flags| flags & !0x40_0000 != 0));
                Ok((fields, life))
            },
        );
    }

    #[test]
    fn twin_mangled_lines_of_threads_lack_fields() {
        let fault = tried(&[STAT], Owes::default(), |bytes| {
            let fields: std::vec::Vec<_> = bytes.split(|&byte| byte == b' ').collect();
            Ok(fields[START].len())
        });
        assert!(fault.unwrap_err().contains("panics"));
    }

    #[test]
    fn fields_are_read_behind_any_name() {
        for name in ["a", "", "(a) b (c)", ") X 4 4 4 4 4 4", "))))", "\n1 (x) S", "\u{fffd}"] {
            let line = |flags: &str| format!("7 ({name}) S 1 1 1 0 -1 {flags} 1 0 0 0 0 0 0 0 20 0 3 0 4711 9 9\n");
            let read = |flags| StatLine::made_up(7, line(flags).as_bytes());
            assert_eq!(read("4194304").field(START), Some(4711), "{name}");
            assert_eq!(read("4194304").field(THREADS), Some(3), "{name}");
            assert_eq!(read("4194304").life(now), Life::Runs, "{name}");
            assert_eq!(read("4194316").life(now), Life::Exiting, "{name}");
            // What cannot be understood runs.
            for flags in ["", "x", "-4", "0x4", "99999999999999999999999"] {
                assert_eq!(read(flags).life(now), Life::Runs, "{name} {flags}");
            }
        }
    }

    #[test]
    fn a_line_that_is_cut_or_anothers_says_nothing() {
        let whole = b"7 (a) Z 1 1 1 0 -1 4 1 0 0 0 0 0 0 0 20 0 1 0 4711 9\n";
        let flags_end = b"7 (a) Z 1 1 1 0 -1 4 ".len();
        for length in 0..whole.len() {
            let expected = if length < flags_end { Life::Runs } else { Life::Exiting };
            assert_eq!(StatLine::made_up(7, &whole[..length]).life(now), expected, "{length}");
        }
        assert_eq!(StatLine::made_up(8, whole).life(now), Life::Runs);
        assert_eq!(StatLine::made_up(7, b"17 (a) Z 1 1 1 0 -1 4 1 ").life(now), Life::Runs);
    }

    #[test]
    fn a_thread_that_runs_is_told_from_none() {
        let own = thread::id();
        let life = |tid| Thread::open(tid).life();
        assert_eq!(life(own), Life::Runs);
        assert_eq!(life(i32::MAX), Life::Gone);
        assert!(threads().unwrap() >= 1);
        let other = std::thread::spawn(move || (life(thread::id()), threads().unwrap()));
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
