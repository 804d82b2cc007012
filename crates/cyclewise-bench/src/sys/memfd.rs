//! memfd_create(2): files in memory that have no path and vanish with their last descriptor.
//!
//! # Safety
//! 1. A number that a parent process named is borrowed only where a descriptor is open under it, and only to be duplicated.
#![expect(unsafe_code, reason = "inherited descriptors")]

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::path::PathBuf;

/// A file that is closed on exec.
///
/// # Errors
/// EMFILE; ENOSYS before Linux 3.17.
pub fn file(name: &CStr) -> io::Result<File> {
    create(name, MemfdFlags::empty())
}

/// A file that further programs inherit.
pub fn inherited(name: &CStr) -> io::Result<File> {
    Ok(memfd_create(name, MemfdFlags::empty())?.into())
}

/// The file in memory that this program inherited under this number, which it hands to no further program. `None`: there is none.
pub fn given(number: i32) -> Option<File> {
    if number < 0 || rustix::fs::fcntl_get_seals(borrowed(number)?).is_err() {
        return None;
    }
    let inherited = borrowed(number)?;
    fcntl_setfd(inherited, FdFlags::CLOEXEC).ok()?;
    Some(inherited.try_clone_to_owned().ok()?.into())
}

/// An open descriptor of this number; `None` if there is none.
fn borrowed(number: i32) -> Option<BorrowedFd<'static>> {
    // SAFETY: takes numbers; EBADF for one that is not open.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    // SAFETY: it is open, and was inherited: nothing in this program owns it, so nothing closes it.
    (flags >= 0).then(|| unsafe { BorrowedFd::borrow_raw(number) })
}

/// A text as a file that a program finds under this path after exec(2).
pub fn kept_over_exec(name: &CStr, text: &str) -> io::Result<PathBuf> {
    let mut file = File::from(memfd_create(name, MemfdFlags::empty())?);
    file.write_all(text.as_bytes())?;
    Ok(format!("/proc/self/fd/{}", file.into_raw_fd()).into())
}

fn create(name: &CStr, flags: MemfdFlags) -> io::Result<File> {
    Ok(memfd_create(name, flags | MemfdFlags::CLOEXEC)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_in_memory_is_taken_and_is_closed_in_further_programs() {
        use std::io::{Read as _, Seek as _};
        use std::os::fd::AsRawFd as _;
        let mut file = inherited(c"test").unwrap();
        file.write_all(b"handed").unwrap();
        let mut taken = given(file.as_raw_fd()).unwrap();
        let mut text = String::new();
        taken.rewind().unwrap();
        taken.read_to_string(&mut text).unwrap();
        assert_eq!(text, "handed");
        let flags = rustix::io::fcntl_getfd(&file).unwrap();
        assert!(flags.contains(FdFlags::CLOEXEC));
        // The twins: no number, no descriptor, no file in memory.
        let null = File::open("/dev/null").unwrap();
        for number in [-1, i32::MAX, null.as_raw_fd()] {
            assert!(given(number).is_none(), "{number}");
        }
        assert!(rustix::io::fcntl_getfd(&null).is_ok(), "it stays open");
    }

    #[test]
    fn an_unknown_flag_is_refused() {
        let error = create(c"test", MemfdFlags::from_bits_retain(1 << 20)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }
}
