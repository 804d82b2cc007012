//! Restartable sequences: what libc registered, and whether the kernel has the call.
//!
//! # Safety
//! glibc's `__rseq_size`, `__rseq_flags` and `__rseq_offset` are read through the dynamic linker, with the types that
//! <sys/rseq.h> gives them, and are constant once `main` runs. The system call is made only with flags that no kernel
//! knows, so it fails before it looks at its pointer.
//!
//! # References
//! glibc manual, "Restartable Sequences"; Linux kernel/rseq.c.
#![expect(unsafe_code, reason = "dlsym gives raw pointers, and rseq has no wrapper in libc")]

use super::dlsym;
use super::errno::Errno;
use std::ffi::CStr;

/// No kernel knows this flag. (1 << 1 became one with the slice extension, so keep away from the low end.)
const NO_SUCH_FLAG: libc::c_int = 1 << 30;

/// glibc's registration, from symbols that it has since 2.35.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Libc {
    /// `__rseq_size`: 0 means not registered.
    pub size: u32,
    /// `__rseq_offset`: from the thread pointer to the area.
    pub offset: isize,
    /// `__rseq_flags`.
    pub flags: u32,
}

impl Libc {
    /// The registration of this process; `None` where libc has no such symbols (musl, or glibc before 2.35).
    pub(crate) fn here() -> Option<Self> {
        let size = symbol::<u32>(c"__rseq_size")?;
        let offset = symbol::<isize>(c"__rseq_offset")?;
        let flags = symbol::<u32>(c"__rseq_flags")?;
        Some(Self {
            // SAFETY: the symbol is a `const unsigned int` (see Safety above).
            size: unsafe { size.read() },
            // SAFETY: the symbol is a `const ptrdiff_t`.
            offset: unsafe { offset.read() },
            // SAFETY: the symbol is a `const unsigned int`.
            flags: unsafe { flags.read() },
        })
    }
}

fn symbol<T>(name: &CStr) -> Option<*const T> {
    dlsym::default(name).map(|address| address.cast::<T>().as_ptr().cast_const())
}

/// Asks the kernel whether it has rseq(2), and changes nothing.
///
/// # Errors
/// EINVAL: the call exists and refused the unknown flag. ENOSYS: it does not, or is filtered.
pub(crate) fn refused_call() -> Errno {
    let nowhere = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: an unknown flag fails before the kernel looks at the pointer (see Safety above).
    let status = unsafe { libc::syscall(libc::SYS_rseq, nowhere, 0_u32, NO_SUCH_FLAG, 0_u32) };
    if status == 0 { Errno(0) } else { Errno::last() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_registers_nothing() {
        let before = Libc::here();
        let first = refused_call();
        assert!([libc::EINVAL, libc::ENOSYS, libc::EPERM].contains(&first.0), "{first}");
        assert_eq!(refused_call(), first);
        assert_eq!(Libc::here(), before);
    }

    #[test]
    fn an_absent_symbol_is_none() {
        assert_eq!(symbol::<u32>(c"__no_such_symbol_of_cyclewise"), None);
    }
}
