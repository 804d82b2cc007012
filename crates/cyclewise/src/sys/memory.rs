//! Writing to pages that are not writable: mprotect(2), and `/proc/self/mem`.
//!
//! `/proc/self/mem` is opened for every batch. A descriptor kept open would be cheaper by one open, but it belongs to
//! the address space it was opened in: a child of fork would write its parent's text through it, and a program that
//! closes every descriptor would leave a number that later names another file.
//!
//! # References
//! Linux fs/proc/base.c (mem_rw), mm/memory.c (access_remote_vm); proc_pid_mem(5); `proc_mem.force_override=` in
//! admin-guide/kernel-parameters.
//!
//! # Safety
//! 1. Whoever gets a range protected or written answers for what is in it; these functions are unsafe for that.
//! 2. The kernel reads exactly the bytes of the slice it is given.
#![expect(unsafe_code, reason = "mprotect, open, pwrite, close")]

use super::failed;
use crate::error::Refusal;

/// Bytes of a page. On x86-64 the smallest unit of protection; larger pages are split by the kernel.
pub(crate) const PAGE: usize = 4096;

/// Makes pages writable, or takes that back; readable and executable they stay.
///
/// # Safety
/// The range is whole pages of text that the caller changes under its own rules.
///
/// # Errors
/// EACCES under W^X policies (SELinux execmem, PR_SET_MDWE), EPERM from a seccomp filter, ENOMEM at the limit of
/// mappings. The pages are then as they were.
pub(crate) unsafe fn set_writable(start: usize, len: usize, writable: bool) -> Result<(), Refusal> {
    let write = if writable { libc::PROT_WRITE } else { 0 };
    let prot = libc::PROT_READ | libc::PROT_EXEC | write;
    // SAFETY: whole pages of text, says the caller, who answers for what is in them (Invariant 1).
    match unsafe { libc::mprotect(start as *mut libc::c_void, len, prot) } {
        0 => Ok(()),
        _ => Err(failed("mprotect")),
    }
}

/// `/proc/self/mem`, open for writing.
pub(crate) struct OwnMemory(libc::c_int);

impl OwnMemory {
    /// Opens it; closed on exec and on drop.
    ///
    /// # Errors
    /// ENOENT without /proc, EACCES and EPERM by policy, EMFILE at the limit of open files.
    pub(crate) fn open() -> Result<Self, Refusal> {
        // SAFETY: the path is a C string (Invariant 2).
        let fd = unsafe { libc::open(c"/proc/self/mem".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        if fd < 0 {
            return Err(failed("open /proc/self/mem"));
        }
        Ok(Self(fd))
    }

    /// Writes `bytes` at `at`, whatever the protection there.
    ///
    /// # Safety
    /// The range is text that the caller changes under its own rules. The kernel's copy is not one store: another
    /// thread may see some of the bytes before others.
    ///
    /// # Errors
    /// EIO, EPERM or EACCES where the kernel was told not to override protections, or the write came out short.
    pub(crate) unsafe fn write(&self, at: usize, bytes: &[u8]) -> Result<(), Refusal> {
        // SAFETY: the caller answers for the range; the kernel reads the slice and nothing else (Invariant 2).
        let n = unsafe { libc::pwrite64(self.0, bytes.as_ptr().cast(), bytes.len(), at as libc::off64_t) };
        match n {
            n if n == bytes.len() as isize => Ok(()),
            n if n < 0 => Err(failed("pwrite /proc/self/mem")),
            _ => Err(Refusal::System {
                call: "pwrite /proc/self/mem, short",
                errno: libc::EIO,
            }),
        }
    }
}

impl Drop for OwnMemory {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours and is not used again.
        unsafe { libc::close(self.0) };
    }
}
