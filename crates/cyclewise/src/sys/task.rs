//! The calling thread, how many there are, and being told of a fork.
//!
//! # Safety
//! 1. The kernel writes at most the length of the buffer it is given.
//! 2. Handlers given to `pthread_atfork` are functions, which live as long as the link unit they are in; C's library
//!    forgets them when that is unloaded.
#![expect(
    unsafe_code,
    reason = "gettid, getpid, tgkill, pthread_self, nanosleep, getdents64, pthread_atfork"
)]

/// The kernel's number of the calling thread, never 0. Not by `gettid`, which glibc has since 2.30.
pub(crate) fn current_tid() -> i32 {
    // SAFETY: takes nothing and returns a number.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// Whether `tid` is no thread of this process: ended, or left behind in the process this one was forked from.
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64"))]
pub(crate) fn is_gone(tid: i32) -> bool {
    // SAFETY: takes nothing and returns a number.
    let process = unsafe { libc::getpid() };
    // SAFETY: takes numbers; signal 0 only asks.
    let asked = unsafe { libc::syscall(libc::SYS_tgkill, process, tid, 0) };
    // Any other answer, such as a filter's EPERM, says nothing.
    asked != 0 && super::errno::last() == libc::ESRCH
}

/// What the C library calls the calling thread, shortened: no two threads that run have the same, and in a child of fork
/// the thread that forked has what it had.
///
/// The bits that are left out are zero, as thread blocks are aligned, or the same, as stacks are within 64 GiB.
pub(crate) fn token() -> u32 {
    // SAFETY: takes nothing and returns a number, or an address that is not looked behind.
    let thread = unsafe { libc::pthread_self() };
    (thread as usize >> 4) as u32
}

/// Whether the calling thread is its process's first, which in a child of fork is the one that forked.
pub(crate) fn is_first() -> bool {
    // SAFETY: takes nothing and returns a number.
    let process = unsafe { libc::getpid() };
    current_tid() == process
}

/// Sleeps for about as long as a change of the text takes. Leaves errno as it was.
pub(crate) fn nap() {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 50_000,
    };
    // SAFETY: reads the time, and writes what is left nowhere.
    let sleep = || unsafe { libc::nanosleep(&raw const time, core::ptr::null_mut()) };
    super::errno::kept(sleep);
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use linux::{count, in_child, is_alone};

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod linux {
    use crate::error::Refusal;
    use crate::sys::descriptor::Descriptor;
    use crate::sys::failed;

    unsafe extern "C" {
        // In glibc's static part, so that the handlers belong to this link unit.
        fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> libc::c_int;
    }

    /// Has `function` called in each child of fork.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn in_child(function: extern "C" fn()) -> Result<(), Refusal> {
        // SAFETY: Invariant 2.
        match unsafe { pthread_atfork(None, None, Some(function)) } {
            0 => Ok(()),
            errno => Err(Refusal::System {
                call: "pthread_atfork",
                errno,
            }),
        }
    }

    /// Whether the calling thread is the only one of its process. False where that cannot be told: what it permits is
    /// safe for one thread only.
    ///
    /// It stays true until the caller makes a thread. A process made by raw clone that shares this one's memory and is
    /// no thread of it is not counted; nothing that runs Rust makes one.
    pub(crate) fn is_alone() -> bool {
        count() == Ok(1)
    }

    /// How many threads `/proc/self/task` lists.
    ///
    /// # Errors
    /// Where `/proc` is not mounted, or a filter forbids reading it.
    pub(crate) fn count() -> Result<u32, Refusal> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        let folder = Descriptor::open_for(c"/proc/self/task", flags, "open /proc/self/task")?;
        let mut buffer = Records([0; 1024]);
        let mut total = 0;
        loop {
            // SAFETY: the buffer is aligned as its records are, and as long as is said (Invariant 1).
            let n = unsafe { libc::syscall(libc::SYS_getdents64, folder.number(), &raw mut buffer.0, buffer.0.len()) };
            match usize::try_from(n) {
                Ok(0) => break Ok(total),
                Ok(n) => total += count_names(buffer.0.get(..n).unwrap_or(&[])),
                Err(_) => break Err(failed("getdents64 /proc/self/task")),
            }
        }
    }

    /// Room for directory entries.
    #[repr(align(8))]
    struct Records([u8; 1024]);

    /// Records whose name is a number.
    fn count_names(mut records: &[u8]) -> u32 {
        const LENGTH: usize = 16; // struct linux_dirent64: d_ino 8, d_off 8, d_reclen 2, d_type 1, d_name
        const NAME: usize = 19;
        let mut count = 0;
        while let (Some(name), Some([low, high])) = (records.get(NAME), records.get(LENGTH..LENGTH + 2)) {
            count += u32::from(name.is_ascii_digit());
            let length = usize::from(u16::from_ne_bytes([*low, *high]));
            // A length of 0 is no directory's, and would never end.
            records = records.get(length.max(NAME)..).unwrap_or(&[]);
        }
        count
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_test_runner_and_its_test_are_two() {
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(count().unwrap() >= 2 && !is_alone()));
            });
        }

        #[test]
        fn records_are_counted_by_name() {
            let mut records = [0; 72];
            for (at, name) in [(0, b'.'), (24, b'7'), (48, b'8')] {
                records[at + 16] = 24;
                records[at + 19] = name;
            }
            assert_eq!(count_names(&records[..48]), 1);
            assert_eq!(count_names(&records), 2);
            assert_eq!(count_names(&[]), 0);
        }
    }
}
