//! The calling thread, how many there are, and being told of a fork.
//!
//! # Safety
//! 1. The kernel writes at most the length of the buffer it is given.
//! 2. Handlers given to `pthread_atfork` are functions, which live as long as the link unit they are in; C's library
//!    forgets them when that is unloaded.
#![expect(unsafe_code, reason = "gettid, sched_yield, getdents64, pthread_atfork")]

/// The kernel's number of the calling thread, never 0.
pub(crate) fn current_tid() -> i32 {
    // SAFETY: takes nothing and returns a number.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// Lets another thread run.
pub(crate) fn yield_now() {
    // SAFETY: takes nothing and returns a number.
    unsafe { libc::sched_yield() };
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
pub(crate) use linux::{at_fork, is_alone};

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod linux {
    use crate::error::{Call, Refusal};

    unsafe extern "C" {
        // In glibc's static part, so that the handlers belong to this link unit.
        fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> libc::c_int;
    }

    /// Has `prepare` called before each fork, and `parent` and `child` after it.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn at_fork(
        prepare: extern "C" fn(),
        parent: extern "C" fn(),
        child: extern "C" fn(),
    ) -> Result<(), Refusal> {
        // SAFETY: Invariant 2.
        match unsafe { pthread_atfork(Some(prepare), Some(parent), Some(child)) } {
            0 => Ok(()),
            errno => Err(Refusal::denied(Call::AtFork, errno)),
        }
    }

    /// Whether the calling thread is the only one of its process, as `/proc/self/task` lists them. False where that
    /// cannot be read: what it permits is safe for one thread only.
    ///
    /// It stays true until the caller makes a thread. A process made by raw clone that shares this one's memory and is
    /// no thread of it is not counted; nothing that runs Rust makes one.
    pub(crate) fn is_alone() -> bool {
        count_up_to_two() == Some(1)
    }

    /// Threads listed, at most 2 of them; none where the list cannot be read.
    fn count_up_to_two() -> Option<usize> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: the path is a C string.
        let fd = unsafe { libc::open(c"/proc/self/task".as_ptr(), flags) };
        if fd < 0 {
            return None;
        }
        // Room for ".", ".." and a handful of tasks: two are enough to know.
        let mut buffer = [0_u64; 32];
        let len = size_of_val(&buffer);
        // SAFETY: the buffer is aligned as its records are, and `len` long (Invariant 1).
        let n = unsafe { libc::syscall(libc::SYS_getdents64, fd, buffer.as_mut_ptr(), len) };
        // SAFETY: the descriptor is ours and is not used again.
        unsafe { libc::close(fd) };
        let n = usize::try_from(n).ok()?;
        let mut bytes = [0; 256];
        for (to, from) in bytes.chunks_exact_mut(8).zip(buffer) {
            to.copy_from_slice(&from.to_ne_bytes());
        }
        count_names(bytes.get(..n)?)
    }

    /// Records whose name is a number.
    fn count_names(mut records: &[u8]) -> Option<usize> {
        const RECORD_LENGTH: usize = 16; // struct linux_dirent64: d_ino 8, d_off 8, d_reclen 2, d_type 1, d_name
        const NAME: usize = 19;
        let mut count = 0;
        while let Some(&first) = records.get(NAME) {
            count += usize::from(first.is_ascii_digit());
            let length = [*records.get(RECORD_LENGTH)?, *records.get(RECORD_LENGTH + 1)?];
            let length = usize::from(u16::from_ne_bytes(length));
            // A length of 0 is no directory's, and would never end.
            records = records.get(length.max(NAME)..)?;
        }
        Some(count)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_test_runner_and_its_test_are_two() {
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(!is_alone()));
            });
        }

        #[test]
        fn records_are_counted_by_name() {
            let mut records = [0; 72];
            for (at, name) in [(0, b'.'), (24, b'7'), (48, b'8')] {
                records[at + 16] = 24;
                records[at + 19] = name;
            }
            assert_eq!(count_names(&records[..48]), Some(1));
            assert_eq!(count_names(&records), Some(2));
            assert_eq!(count_names(&[]), Some(0));
        }
    }
}
