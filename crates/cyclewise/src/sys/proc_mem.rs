//! `/proc/self/mem`: writing to pages that are not writable.
//!
//! A descriptor belongs to the address space that it was opened in: a child of fork holds one of its parent's memory. Its
//! number may name another file once it was closed, as in a program that closes every descriptor. So before each use
//! [`ProcMem::is_own`] reads words through it that this thread has just stored. A new descriptor is checked too, since
//! `/proc` may not be the kernel's, and a filter may answer open(2).
//!
//! # References
//! Linux fs/proc/base.c (mem_rw), mm/memory.c (access_remote_vm); proc_pid_mem(5); `proc_mem.force_override=` in
//! admin-guide/kernel-parameters.
//!
//! # Safety
//! 1. The caller guarantees what is in the range it writes; the function is unsafe for that.
//! 2. The kernel reads or writes exactly the bytes of the slice or the structure it is given.
#![expect(unsafe_code, reason = "pread, pwrite, fcntl, fstat")]

use super::cancellation::held_off;
use super::file::File;
use super::{failed, thread};
use crate::error::Refusal;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The lowest number of a kept descriptor. A program that closes every descriptor and opens files gets the lowest numbers,
/// so this one is not soon another file's; and the table of descriptors, which fork copies, stays small.
const HIGH: libc::c_int = 250;

/// Which file a descriptor is of: device and inode.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity(pub(crate) u64, pub(crate) u64);

/// `/proc/self/mem`, open for reading and writing.
pub(crate) struct ProcMem(File);

impl ProcMem {
    /// Opens it; closed on exec and on drop.
    ///
    /// # Errors
    /// ENOENT without /proc, EACCES and EPERM by policy, EMFILE at the limit of open files; ENOSYS where it was opened and
    /// does not show this process's memory.
    pub(crate) fn open() -> Result<Self, Refusal> {
        File::open_for(c"/proc/self/mem", libc::O_RDWR, "open /proc/self/mem")
            .map(Self)?
            .checked()
    }

    fn checked(self) -> Result<Self, Refusal> {
        if self.is_own() {
            return Ok(self);
        }
        Err(Refusal::System {
            call: "open /proc/self/mem, which does not show this process's memory,",
            errno: libc::ENOSYS,
        })
    }

    /// Whether it shows the calling process's memory, now: it must show two words that no other memory has at this address.
    /// Each was stored just now, and the second is the first one's complement. Only a copy of this process could ask with the
    /// same words, at the same moment and in a thread of the same id.
    pub(crate) fn is_own(&self) -> bool {
        // Relaxed: pairs with nothing; only has to differ from the last time.
        static ASKED: AtomicU64 = AtomicU64::new(0);
        let asked = ASKED.fetch_add(1, Relaxed) << 32 | u64::from(thread::id().cast_unsigned());
        let word = AtomicU64::new(0);
        [asked, !asked].into_iter().all(|stored| {
            // Relaxed: read by the kernel, on this thread.
            word.store(stored, Relaxed);
            self.read(word.as_ptr().expose_provenance()) == Some(stored)
        })
    }

    fn read(&self, at: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        let number = self.0.number();
        // SAFETY: the kernel writes at most the buffer's length (Invariant 2).
        let n =
            held_off(|| unsafe { libc::pread64(number, bytes.as_mut_ptr().cast(), bytes.len(), at as libc::off64_t) });
        (n == bytes.len() as isize).then_some(u64::from_ne_bytes(bytes))
    }

    /// Writes `bytes` at `at`, regardless of protection.
    ///
    /// # Safety
    /// It shows this process's memory, and the range is text that the caller changes under its own rules. The kernel's
    /// copy is not one store: another thread may see some of the bytes before others.
    ///
    /// # Errors
    /// EIO, EPERM or EACCES where the kernel does not override protections (`proc_mem.force_override=`), or the write was short.
    pub(crate) unsafe fn write(&self, at: usize, bytes: &[u8]) -> Result<(), Refusal> {
        let number = self.0.number();
        // SAFETY: the caller guarantees the range (Invariant 1); the length is the slice's (Invariant 2).
        let n = held_off(|| unsafe { libc::pwrite64(number, bytes.as_ptr().cast(), bytes.len(), at as libc::off64_t) });
        match n {
            n if n == bytes.len() as isize => Ok(()),
            n if n < 0 => Err(failed("pwrite /proc/self/mem")),
            _ => Err(Refusal::System {
                call: "pwrite /proc/self/mem, short",
                errno: libc::EIO,
            }),
        }
    }

    /// The same file under a number that is not soon given to another, where there is one.
    pub(crate) fn moved_up(self) -> Self {
        // SAFETY: takes numbers.
        let high = held_off(|| unsafe { libc::fcntl(self.0.number(), libc::F_DUPFD_CLOEXEC, HIGH) });
        if high >= HIGH {
            return Self(File::of_number(high));
        }
        self
    }

    /// Which file it is; `None` where that cannot be known.
    pub(crate) fn identity(&self) -> Option<Identity> {
        // Zeroes: a filter may answer 0, and then the kernel has not written it.
        let mut status = MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: room for one structure (Invariant 2).
        let rc = held_off(|| unsafe { libc::fstat(self.0.number(), status.as_mut_ptr()) });
        // SAFETY: all zeroes is a valid structure, whether or not the kernel has filled it.
        let status = unsafe { status.assume_init() };
        (rc == 0 && status.st_ino != 0).then_some(Identity(status.st_dev, status.st_ino))
    }

    /// Keeps it open, under this number.
    pub(crate) fn into_number(self) -> i32 {
        ManuallyDrop::new(self).0.number()
    }

    /// Whatever is open under `number`, which may be anybody's: look at it before it is written or closed.
    pub(crate) fn of_number(number: i32) -> ManuallyDrop<Self> {
        ManuallyDrop::new(Self(File::of_number(number)))
    }
}
